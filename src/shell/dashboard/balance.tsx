/** What a balance is made of: its latest transactions, and what reserves and what is pending. */
import type { MerchantTransaction } from '../../domain/ledger';
import { OPEN_PAYOUT_STATUSES, type Payout } from '../../domain/payout';
import type { DashboardServices } from './services';
import { Card, Empty, Money, PageHead, Status, Table, Time } from '../../kit/pages/components';
import { PageRefusal } from '../../kit/pages/problems';
import { page } from '../../kit/pages/site';
import { get, type MerchantRoute } from '../../kit/pages/merchant-page';
import { NO_TRANSACTIONS, TransactionTable } from '../../features/books/dashboard/transactions';

type Balance = Awaited<ReturnType<DashboardServices['balances']>>[number];

const SHOWN = 25;

export function balancePages(services: DashboardServices): MerchantRoute[] {
  const { balances, pendingPayments, payouts, transactions } = services;
  return [
    get('/balances/:id', 'read', async (visit) => {
      const { id: currency = '' } = visit.params;
      const balance = (await balances(visit)).find((one) => one.currency === currency);
      if (balance === undefined) throw new PageRefusal('page_not_found');
      const first = { limit: SHOWN, after: null };
      const [moved, reserving, pending] = await Promise.all([
        transactions(visit, { ...first, filters: { currency } }),
        payouts(visit, { ...first, filters: { currency, status: [...OPEN_PAYOUT_STATUSES] } }),
        pendingPayments(visit, currency, SHOWN),
      ]);
      const body = (
        <BalancePage
          balance={balance}
          base={visit.base}
          transactions={moved.items}
          payouts={reserving.items}
          payments={pending}
        />
      );
      return page(`${currency} balance`, body, { nav: 'home' });
    }),
  ];
}

interface BalancePageProps {
  balance: Balance;
  base: string;
  transactions: readonly MerchantTransaction[];
  payouts: readonly Payout[];
  payments: Awaited<ReturnType<DashboardServices['pendingPayments']>>;
}

function BalancePage({ balance, base, transactions, payouts, payments }: BalancePageProps) {
  const { currency, available, reserved, pending } = balance;
  const title = (name: string, amount: string) => (
    <>
      {name} <Money amount={amount} currency={currency} />
    </>
  );
  return (
    <>
      <PageHead back={{ href: base, label: 'Home' }} title={`${currency} balance`} />
      <Card
        id="reserved"
        title={title('Reserved', reserved)}
        lead={`Payouts that are not finished hold their amount and fees. The newest ${SHOWN} are shown.`}
        flush
      >
        <Table
          caption="Payouts that reserve"
          rows={payouts}
          empty={<Empty icon="lock" title="Nothing is reserved" />}
          columns={[
            {
              label: 'Payout',
              cell: ({ id, reference }) => (
                <a class="break" href={`${base}/payouts/${id}`}>
                  {reference}
                </a>
              ),
            },
            { label: 'Status', cell: ({ status }) => <Status value={status} /> },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              label: 'Reserved',
              right: true,
              cell: ({ totalDebit }) => <Money amount={totalDebit} currency={currency} />,
            },
          ]}
        />
      </Card>
      <Card
        id="pending"
        title={title('Pending', pending)}
        lead={`Payments that were seen and are not credited yet, and late funds. The newest ${SHOWN} are shown.`}
        flush
      >
        <Table
          caption="Pending payments"
          rows={payments}
          empty={<Empty icon="clock" title="Nothing is pending" />}
          columns={[
            {
              label: 'Payment',
              cell: ({ id, reference }) => (
                <a class="break" href={`${base}/payments/${id}`}>
                  {reference}
                </a>
              ),
            },
            { label: 'Status', cell: ({ status }) => <Status value={status} /> },
            { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              label: 'Pending',
              right: true,
              cell: (payment) => <Money amount={payment.pending} currency={currency} />,
            },
          ]}
        />
      </Card>
      <Card
        id="available"
        title={title('Available', available)}
        lead="The latest changes."
        action={
          <a class="link" href={`${base}/transactions?currency=${currency}`}>
            All transactions
          </a>
        }
        flush
      >
        <TransactionTable rows={transactions} base={base} empty={NO_TRANSACTIONS} />
      </Card>
    </>
  );
}
