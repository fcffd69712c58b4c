/** Payouts: the list with its filters, and one payout. */
import type { ComponentChildren } from 'preact';
import { PAYOUT_STATUSES, type Payout } from '../../domain/payout';
import type { DashboardServices, HistoryEvent, WithHistory } from '../../services/dashboard';
import {
  Alert,
  Card,
  Empty,
  Facts,
  Id,
  Money,
  PageHead,
  Status,
  Table,
  Time,
  words,
} from '../../web/components';
import { page } from '../../web/site';
import { LedgerLines, Timeline } from '../../web/history';
import { chosen, ListPage, objectFilters, PER_PAGE, positionOf } from '../../web/lists';
import type { MerchantRoute } from '../merchant-page';
import { metadataRows } from '../payments/payments';

export function payoutPages({ payouts, payout }: DashboardServices): MerchantRoute[] {
  return [
    {
      method: 'get',
      path: '/payouts',
      needs: 'read',
      run: async (visit) => {
        const { query, base } = visit;
        const status = chosen(query, 'status', PAYOUT_STATUSES);
        const filters = {
          ...objectFilters(query),
          ...(status === undefined ? {} : { status: [status] }),
        };
        const list = { limit: PER_PAGE, after: positionOf(query), filters };
        const { items, next } = await payouts(visit, list);
        const path = `${base}/payouts`;
        return page(
          'Payouts',
          <ListPage
            title="Payouts"
            lead="Money that you send to wallets and exchange accounts."
            path={path}
            query={query}
            next={next}
            statuses={PAYOUT_STATUSES}
            none={<NoPayouts />}
            table={(empty) => <PayoutTable rows={items} path={path} empty={empty} />}
          />,
          { nav: 'payouts' },
        );
      },
    },
    {
      method: 'get',
      path: '/payouts/:id',
      needs: 'read',
      run: async (visit) => {
        const found = await payout(visit, visit.params['id'] ?? '');
        const body = <Detail {...found} base={visit.base} />;
        return page(`Payout ${found.object.reference}`, body, { nav: 'payouts' });
      },
    },
  ];
}

interface PayoutTableProps {
  rows: readonly Payout[];
  path: string;
  empty: ComponentChildren;
}

export function PayoutTable({ rows, path, empty }: PayoutTableProps) {
  return (
    <Table
      caption="Payouts"
      rows={rows}
      empty={empty}
      columns={[
        {
          label: 'Amount',
          right: true,
          cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
        },
        { label: 'Status', cell: ({ status }) => <Status value={status} /> },
        {
          label: 'Reference',
          cell: ({ id, reference }) => <a href={`${path}/${id}`}>{reference}</a>,
        },
        {
          label: 'Destination',
          wide: true,
          cell: ({ network, destinationType, destinationValue }) => (
            <>
              <code>{ends(destinationValue)}</code>
              <small>{words(network ?? destinationType)}</small>
            </>
          ),
        },
        { label: 'Created', wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}

/** In lists only; the page of the payout shows all of it. */
function ends(value: string): string {
  return value.length <= 20 ? value : `${value.slice(0, 8)}…${value.slice(-8)}`;
}

function NoPayouts() {
  return (
    <Empty icon="arrow-up-right" title="No payouts yet">
      <p>Request one with your API key. The amount and the fees are reserved at once.</p>
      <pre>{`curl "$API/payouts" -H "Authorization: Bearer sk_test_…" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: invoice-1" \\
  -d '{"amount": "10", "currency": "USDT", "network": "tron", "reference": "invoice-1",
       "destination": {"type": "crypto_address", "value": "T…"}}'`}</pre>
    </Empty>
  );
}

type DetailProps = WithHistory<Payout> & { base: string };

function Detail({ object: payout, events, transactions, base }: DetailProps) {
  const { currency } = payout;
  const money = (amount: string) => <Money amount={amount} currency={currency} exact />;
  return (
    <>
      <PageHead
        back={{ href: `${base}/payouts`, label: 'Payouts' }}
        title={
          <>
            <Money amount={payout.amount} currency={currency} /> <Status value={payout.status} />
          </>
        }
        lead={
          <>
            {payout.reference} · <Time at={payout.createdAt} />
          </>
        }
      />
      <Situation payout={payout} />
      <div class="split">
        <div>
          <Timeline
            events={events}
            deliveryPage={(id) => `${base}/webhooks/deliveries/${id}`}
            explain={(event) => reasonOf(payout, event)}
          />
          <LedgerLines transactions={transactions} />
        </div>
        <div>
          <Card title="Amounts">
            <Facts
              rows={[
                ['Amount', money(payout.amount)],
                ['Service fee', money(payout.serviceFee)],
                ['Network fee', money(payout.networkFee)],
                ['Total debit', money(payout.totalDebit)],
              ]}
            />
          </Card>
          <Details payout={payout} base={base} />
        </div>
      </div>
    </>
  );
}

function Details({ payout, base }: { payout: Payout; base: string }) {
  const { apiKeyId } = payout;
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['Payout', <Id value={payout.id} />],
          ['Reference', <Id value={payout.reference} />],
          ['Destination', <Id value={payout.destinationValue} />],
          ['Memo', payout.destinationMemo],
          ['Network', payout.network],
          ['Provider', words(payout.provider)],
          ['Transaction', payout.txHash === null ? null : <Id value={payout.txHash} />],
          ['Description', payout.description],
          ['API key', <a href={`${base}/keys/${apiKeyId}`}>{apiKeyId}</a>],
          ['Created', <Time at={payout.createdAt} seconds />],
          ['Updated', <Time at={payout.updatedAt} seconds />],
          ...metadataRows(payout.metadata),
        ]}
      />
    </Card>
  );
}

/** What the merchant should know about it now. */
function Situation({ payout }: { payout: Payout }) {
  if (payout.status === 'under_review') {
    return (
      <Alert tone="wait" title="Waiting for an operator">
        <p>{payout.reviewReasons.map(words).join(' · ')}</p>
      </Alert>
    );
  }
  if (payout.inDoubtSince !== null) {
    return (
      <Alert tone="wait" title="The provider has not confirmed the payout yet">
        <p>The gateway asks until it knows. Do not send it again: the funds stay reserved.</p>
      </Alert>
    );
  }
  const reason = payout.rejectionReason ?? payout.failureReason;
  if (reason === null) return null;
  return (
    <Alert tone="bad" title={`${words(payout.status)}. The funds were returned.`}>
      <p>{reason}</p>
    </Alert>
  );
}

function reasonOf(payout: Payout, { type, actor }: HistoryEvent): string | null {
  switch (type) {
    case 'payout.requested':
      return `Requested with ${payout.apiKeyId}`;
    case 'payout.rejected':
      return payout.rejectionReason;
    case 'payout.failed':
      return payout.failureReason;
    case 'payout.approved':
      return actor === null ? 'Approved automatically' : 'Approved by an operator';
    case 'payout.processing':
      return `Submitted to ${words(payout.provider)}`;
    default:
      return null;
  }
}
