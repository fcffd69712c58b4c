/** The start page of a merchant: what needs attention, by cause, and the balances. */
import type { Owner } from '../../domain/mode';
import { type Attention, ATTENTION_MAX, type DashboardServices } from './services';
import type { Volume } from '../../features/books/dashboard-books';
import { countOwnRecentAttempts, listOwnWarnings } from '../../features/webhooks/webhook-endpoints';
import { Alert, Card, Empty, Money, PageHead } from '../../kit/pages/components';
import { page } from '../../kit/pages/site';
import { Bars } from '../../kit/pages/chart';
import { add, greaterOf, shareOf, ZERO } from '../../domain/money';
import { get, type MerchantRoute } from '../../kit/pages/merchant-page';
import { DeliveryWarnings } from '../../features/webhooks/dashboard/warnings';
import { FailingEndpoints } from '../../features/webhooks/dashboard/health';
import { balancePages } from './balance';
import { FirstSteps, firstStepPages, readFirstSteps } from './first-steps';

const VOLUME_DAYS = 30;

export function homePages(services: DashboardServices): MerchantRoute[] {
  const { db, balances, attention, books } = services;
  const read = (owner: Owner) =>
    Promise.all([
      balances(owner),
      attention(owner),
      books.volumes(owner, VOLUME_DAYS),
      listOwnWarnings(db, owner),
      countOwnRecentAttempts(db, owner),
      services.waitingForPerson(owner, ATTENTION_MAX),
    ]);
  return [
    ...balancePages(services),
    ...firstStepPages,
    get('', 'read', async (visit) => {
      const [[held, causes, volumes, warnings, recent, waiting], steps] = await Promise.all([
        read(visit),
        readFirstSteps(services, visit),
      ]);
      return page(
        'Home',
        <>
          <PageHead title="Home" />
          {steps === null ? null : <FirstSteps steps={steps} base={visit.base} />}
          {causes.payoutsPaused ? (
            <Alert tone="wait" title="Payouts are paused">
              <p>New payouts are refused, and approved ones wait. Ask the operator why.</p>
            </Alert>
          ) : null}
          <DeliveryWarnings warnings={warnings} base={visit.base} />
          <FailingEndpoints recent={recent} base={visit.base} />
          <NeedsAttention causes={causes} waiting={waiting.length} base={visit.base} />
          <Balances balances={held} volumes={volumes} base={visit.base} />
        </>,
        { nav: 'home' },
      );
    }),
  ];
}

type Cause = [count: number, one: string, many: string, path: string];

interface NeedsAttentionProps {
  causes: Attention;
  /** The number of objects that wait for a second person. */
  waiting: number;
  base: string;
}

function NeedsAttention({ causes, waiting, base }: NeedsAttentionProps) {
  const all: Cause[] = [
    [
      waiting,
      'item waits for two-person approval',
      'items wait for two-person approval',
      '/approvals',
    ],
    [
      causes.payoutsUnderReview,
      'payout waits for an operator',
      'payouts wait for an operator',
      '/payouts?status=under_review',
    ],
    [
      causes.batchesUnderReview,
      'batch waits for an operator',
      'batches wait for an operator',
      '/batches?status=under_review',
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
      causes.refundsAwaitingAddress,
      'refund waits for the customer’s address',
      'refunds wait for the customer’s address',
      '/refunds?status=pending',
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

interface BalancesProps {
  balances: Balance[];
  volumes: Volume[];
  base: string;
}

function Balances({ balances, volumes, base }: BalancesProps) {
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
              <a href={`${base}/balances/${currency}`}>
                <Money amount={available} currency={currency} />
              </a>
            </p>
          </div>
          <dl class="facts">
            <div>
              <dt>Reserved for payouts</dt>
              <dd>
                <a href={`${base}/balances/${currency}#reserved`}>
                  <Money amount={reserved} currency={currency} />
                </a>
              </dd>
            </div>
            <div>
              <dt>Pending payments</dt>
              <dd>
                <a href={`${base}/balances/${currency}#pending`}>
                  <Money amount={pending} currency={currency} />
                </a>
              </dd>
            </div>
          </dl>
          <VolumeChart volume={volumes.find((one) => one.currency === currency)} />
        </section>
      ))}
    </div>
  );
}

/** Received and sent by day. */
function VolumeChart({ volume }: { volume: Volume | undefined }) {
  if (volume === undefined) return null;
  const { currency, days, uncounted } = volume;
  const total = (part: 'received' | 'sent') => add(ZERO, ...days.map((day) => day[part]));
  const [received, sent] = [total('received'), total('sent')];
  const highest = days.reduce((most, day) => greaterOf(most, add(day.received, day.sent)), ZERO);
  return (
    <figure>
      {highest === ZERO ? null : (
        <Bars
          label={`By day in the last ${VOLUME_DAYS} days: ${received} ${currency} received, ${sent} ${currency} sent`}
          axes={{
            highest: (
              <span>
                <Money amount={highest} currency={currency} /> on the highest day
              </span>
            ),
            first: days[0]?.day ?? '',
            last: days.at(-1)?.day ?? '',
          }}
          bars={days.map((day) => ({
            title: `${day.day}: ${day.received} received, ${day.sent} sent`,
            parts: [
              { tone: 'good', share: shareOf(day.received, highest) },
              { tone: 'busy', share: shareOf(day.sent, highest) },
            ],
          }))}
        />
      )}
      <figcaption class="muted">
        Last {VOLUME_DAYS} days: <Money amount={received} currency={currency} /> received,{' '}
        <Money amount={sent} currency={currency} /> sent
        {uncounted === 0 ? null : (
          <>. The newest {uncounted.toLocaleString('en')} transactions are not counted yet.</>
        )}
      </figcaption>
    </figure>
  );
}
