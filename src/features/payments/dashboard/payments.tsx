/** Payments: the list with its filters, and one payment. */
import { ZERO } from '../../../domain/money';
import { DECIDABLE, isOpenPayment, type Payment } from '../../../domain/payment';
import { leftToRefund, type Refund } from '../../../domain/refund';
import type {
  Creator,
  DashboardServices,
  HistoryEvent,
  PaymentDetail,
} from '../../../shell/dashboard/services';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  Secret,
  Table,
  Time,
  words,
  metadataRows,
} from '../../../kit/pages/components';
import { depositAddress, Transaction } from '../../../kit/pages/explorer';
import { Follows, FollowSwitch, LiveStatus } from '../../../kit/pages/follow';
import { Confirm } from '../../../kit/pages/forms';
import { Icon } from '../../../kit/pages/icon';
import { page, redirect } from '../../../kit/pages/site';
import {
  creatorRow,
  creatorText,
  LedgerLines,
  PaymentAmounts,
  Timeline,
} from '../../../kit/pages/history';
import {
  controlsOf,
  CreateLink,
  filtersOf,
  ListPage,
  PER_PAGE,
  positionOf,
  ToExport,
} from '../../../kit/pages/lists';
import { PAYMENT_FILTERS } from '../payments-contract';
import { mayMake, personOf } from '../../../kit/pages/creation';
import { ObjectTable, type ObjectRowsProps } from '../../../kit/pages/object-table';
import type { MerchantRoute, MerchantVisit } from '../../../kit/pages/merchant-page';
import { Movement, transfersOf } from '../pages/transfers';
import { RefundTable } from './refunds';

export function paymentPages(services: DashboardServices): MerchantRoute[] {
  const { payments, payment, refundsOf, money } = services;
  return [
    {
      method: 'get',
      path: '/payments',
      needs: 'read',
      run: async (visit) => {
        const { query, base } = visit;
        const filters = filtersOf(PAYMENT_FILTERS, query);
        const list = { limit: PER_PAGE, after: positionOf(query), filters };
        const { items, next } = await payments(visit, list);
        const path = `${base}/payments`;
        return page(
          'Payments',
          <ListPage
            title="Payments"
            lead="Money that you receive from customers."
            path={path}
            query={query}
            next={next}
            {...controlsOf(PAYMENT_FILTERS)}
            none={<NoPayments />}
            table={(empty) => <PaymentTable rows={items} path={path} empty={empty} />}
          >
            <ToExport base={visit.base} kind="payments" query={query} />
            {visit.may('link') ? (
              <CreateLink path={`${base}/payment-links`} label="New payment link" />
            ) : null}
          </ListPage>,
          { nav: 'payments' },
        );
      },
    },
    {
      method: 'get',
      path: '/payments/:id',
      needs: 'read',
      run: async (visit) => {
        const id = visit.params['id'] ?? '';
        const found = await payment(visit, id);
        const refunds = await refundsOf(visit, id);
        const body = <Detail {...found} refunds={refunds} visit={visit} />;
        return page(`Payment ${found.object.reference}`, body, { nav: 'payments' });
      },
    },
    {
      method: 'post',
      path: '/payments/:id/cancel',
      needs: 'link',
      cost: 'provider',
      run: async (visit) => {
        const id = visit.params['id'] ?? '';
        await money.cancelPayment(personOf(visit), id);
        return redirect(`${visit.base}/payments/${id}`);
      },
    },
  ];
}

export function PaymentTable(props: ObjectRowsProps<Payment>) {
  return (
    <ObjectTable
      {...props}
      caption="Payments"
      statusOf={({ status }) => status}
      marksOf={({ exceptions }) => exceptions}
      referenceOf={({ reference }) => reference}
      columns={[
        {
          label: 'Received',
          right: true,
          wide: true,
          cell: ({ receivedAmount, currency }) =>
            receivedAmount === ZERO ? '' : <Money amount={receivedAmount} currency={currency} />,
        },
        {
          label: 'Network',
          wide: true,
          cell: ({ network, provider }) =>
            network === null ? (
              words(provider)
            ) : (
              <>
                {words(network)}
                <small>{words(provider)}</small>
              </>
            ),
        },
      ]}
    />
  );
}

function NoPayments() {
  return (
    <Empty icon="arrow-down-left" title="No payments yet">
      <p>
        Create a payment link here, or with your API key. Its checkout_url is the page that your
        customer pays on.
      </p>
      <pre>{`curl "$API/payments" -H "Authorization: Bearer sk_test_…" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: order-1" \\
  -d '{"amount": "25", "currency": "USDT", "reference": "order-1"}'`}</pre>
    </Empty>
  );
}

interface DetailProps extends PaymentDetail {
  refunds: readonly Refund[];
  visit: MerchantVisit;
}

function Detail({ object: payment, credits, refunds, visit, ...history }: DetailProps) {
  const { events, transactions, creator } = history;
  const { base } = visit;
  const { currency } = payment;
  const isOpen = isOpenPayment(payment.status);
  return (
    <>
      <PageHead
        back={{ href: `${base}/payments`, label: 'Payments' }}
        here={payment.reference}
        title={
          <>
            <Money amount={payment.amount} currency={currency} />{' '}
            <LiveStatus value={payment.status} isOpen={isOpen} />
          </>
        }
        lead={
          <>
            {payment.reference} · <Time at={payment.createdAt} />
          </>
        }
      >
        {isOpen ? <FollowSwitch /> : null}
        <Follows id="actions" isOpen={isOpen}>
          <Actions payment={payment} refunds={refunds} visit={visit} />
        </Follows>
      </PageHead>
      <Follows id="link" isOpen={isOpen}>
        {isOpen ? <Link payment={payment} /> : null}
      </Follows>
      <Follows id="story" isOpen={isOpen}>
        <div class="split">
          <div>
            <Timeline
              events={events}
              deliveryPage={(id) => `${base}/webhooks/deliveries/${id}`}
              explain={(event) => reasonOf(payment, creator, event)}
            />
            <Transfers payment={payment} credits={credits} />
            {refunds.length === 0 ? null : (
              <Card title="Refunds" flush>
                <RefundTable rows={refunds} path={`${base}/refunds`} empty={null} isShort />
              </Card>
            )}
            <LedgerLines transactions={transactions} />
          </div>
          <div>
            <PaymentAmounts payment={payment} />
            <Details payment={payment} creator={creator} base={base} />
          </div>
        </div>
      </Follows>
    </>
  );
}

function Actions({
  payment,
  refunds,
  visit,
}: Pick<DetailProps, 'refunds' | 'visit'> & { payment: Payment }) {
  const path = `${visit.base}/payments/${payment.id}`;
  if (leftToRefund(payment, refunds) !== ZERO && mayMake(visit)) {
    return (
      <a class="btn" data-variant="outline" href={`${path}/refund`}>
        <Icon name="undo-2" /> Refund
      </a>
    );
  }
  if (!DECIDABLE.cancel.includes(payment.status) || !visit.may('link')) return null;
  return (
    <Confirm
      action={`${path}/cancel`}
      label="Cancel payment"
      icon="x"
      effect="The checkout page is closed, and the customer can no longer pay. Money that arrives later is still credited."
      confirm="Cancel this payment"
    />
  );
}

function Link({ payment }: { payment: Payment }) {
  return (
    <Alert tone="note" title="Checkout page">
      <Secret value={payment.checkoutUrl} label="Copy link" />
    </Alert>
  );
}

function Transfers({ payment, credits }: { payment: Payment; credits: PaymentDetail['credits'] }) {
  const rows = transfersOf(payment, credits);
  if (rows.length === 0) return null;
  return (
    <Card title="Transfers" flush>
      <Table
        caption="Transfers"
        rows={rows}
        empty={null}
        columns={[
          {
            label: 'State',
            cell: Movement,
          },
          {
            label: 'Transaction',
            cell: ({ txHash, id }) =>
              txHash === null ? (
                <code class="break">{id}</code>
              ) : (
                <Transaction object={payment} hash={txHash} />
              ),
          },
          {
            label: 'Amount',
            right: true,
            cell: ({ amount }) => <Money amount={amount} currency={payment.currency} />,
          },
        ]}
      />
    </Card>
  );
}

interface DetailsProps {
  payment: Payment;
  creator: Creator;
  base: string;
}

function Details({ payment, creator, base }: DetailsProps) {
  const { exceptions, completedAt } = payment;
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['Payment', <Id value={payment.id} />],
          ['Reference', <Id value={payment.reference} />],
          ['Provider', words(payment.provider)],
          ['Network', payment.network === null ? null : words(payment.network)],
          ['Deposit address', depositAddress(payment)],
          ['Checkout page', <a href={payment.checkoutUrl}>{payment.checkoutUrl}</a>],
          ['Customer', payment.customerEmail],
          ['Description', payment.description],
          ['Failure', payment.failureReason],
          ['Exceptions', exceptions.length === 0 ? null : exceptions.map(words).join(', ')],
          creatorRow(creator, base, 'Created by'),
          ['Created', <Time at={payment.createdAt} seconds />],
          ['Expires', <Time at={payment.expiresAt} seconds />],
          ['Completed', completedAt === null ? null : <Time at={completedAt} seconds />],
          ...metadataRows(payment.metadata),
        ]}
      />
    </Card>
  );
}

function reasonOf(
  payment: Payment,
  creator: Creator,
  { type, actor }: HistoryEvent,
): string | null {
  if (type === 'payment.failed') return payment.failureReason;
  if (actor !== null) return 'Decided by an operator';
  if (type === 'payment.created') return `Created ${creatorText(creator)}`;
  return null;
}
