/** The start page of a merchant: what needs attention, by cause, and the balances. */
import {
  type Attention,
  ATTENTION_MAX,
  type DashboardServices,
  type Owner,
} from '../../services/dashboard';
import { Alert, Card, Empty, Money, PageHead } from '../../web/components';
import { page } from '../../web/site';
import type { MerchantRoute } from '../merchant-page';

export function homePages({ balances, attention }: DashboardServices): MerchantRoute[] {
  const read = (owner: Owner) => Promise.all([balances(owner), attention(owner)]);
  return [
    {
      method: 'get',
      path: '',
      needs: 'read',
      run: async (visit) => {
        const [held, causes] = await read(visit);
        return page(
          'Home',
          <>
            <PageHead title="Home" />
            {causes.payoutsPaused ? (
              <Alert tone="wait" title="Payouts are paused">
                <p>New payouts are refused, and approved ones wait. Ask the operator why.</p>
              </Alert>
            ) : null}
            <NeedsAttention causes={causes} base={visit.base} />
            <Balances balances={held} base={visit.base} />
          </>,
          { nav: 'home' },
        );
      },
    },
  ];
}

type Cause = [count: number, one: string, many: string, path: string];

function NeedsAttention({ causes, base }: { causes: Attention; base: string }) {
  const all: Cause[] = [
    [
      causes.payoutsUnderReview,
      'payout waits for an operator',
      'payouts wait for an operator',
      '/payouts?status=under_review',
    ],
    [
      causes.payoutsInDoubt,
      'payout is not confirmed by the provider',
      'payouts are not confirmed by the provider',
      '/payouts?status=approved',
    ],
    [
      causes.paymentsOnHold,
      'payment is on hold',
      'payments are on hold',
      '/payments?status=on_hold',
    ],
    [
      causes.paymentsUnderpaid,
      'payment is underpaid',
      'payments are underpaid',
      '/payments?status=underpaid',
    ],
    [
      causes.deliveriesFailed,
      'webhook delivery failed in the last 24 hours',
      'webhook deliveries failed in the last 24 hours',
      '/webhooks',
    ],
    [
      causes.endpointsDisabled,
      'webhook endpoint is disabled',
      'webhook endpoints are disabled',
      '/webhooks',
    ],
  ];
  const shown = all.filter(([count]) => count > 0);
  return (
    <Card title="Needs attention">
      {shown.length === 0 ? (
        <p class="muted">Nothing needs your attention.</p>
      ) : (
        <ul class="attention">
          {shown.map(([count, one, many, path]) => (
            <li>
              <span>
                <b>{count === ATTENTION_MAX ? `${count} or more` : count}</b>{' '}
                {count === 1 ? one : many}
              </span>
              <a class="link" href={base + path}>
                Show
              </a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

type Balance = Awaited<ReturnType<DashboardServices['balances']>>[number];

function Balances({ balances, base }: { balances: Balance[]; base: string }) {
  if (balances.length === 0) {
    return (
      <Card>
        <Empty icon="wallet" title="No balance yet">
          <p>A balance appears with the first payment that a customer pays.</p>
        </Empty>
      </Card>
    );
  }
  return (
    <div class="grid">
      {balances.map(({ currency, available, reserved, pending }) => (
        <section class="box">
          <h2>{currency}</h2>
          <div>
            <p class="muted">Available</p>
            <p class="figure">
              <a href={`${base}/transactions?currency=${currency}`}>
                <Money amount={available} currency={currency} />
              </a>
            </p>
          </div>
          <dl class="facts">
            <div>
              <dt>Reserved for payouts</dt>
              <dd>
                <Money amount={reserved} currency={currency} />
              </dd>
            </div>
            <div>
              <dt>Pending payments</dt>
              <dd>
                <Money amount={pending} currency={currency} />
              </dd>
            </div>
          </dl>
        </section>
      ))}
    </div>
  );
}
