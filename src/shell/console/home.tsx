/** The start page of an operator: what needs a decision or a look, by cause. */
import type { ComponentChildren } from 'preact';
import type { Mode } from '../../domain/mode';
import {
  COUNT_MAX,
  type ConsoleServices,
  type OpenCases,
  type WaitCause,
  type Waiting,
  type WaitingObjects,
} from './services';
import { BACKLOG_MAX, type ProviderCalls, SHOWN_MINUTES } from './operations-services';
import { healthOf } from '../../domain/provider-health';
import { listThresholds } from '../../features/accounts/four-eyes-thresholds';
import { listShownPauses } from '../../features/accounts/payout-pauses';
import { Card, Empty, Money, PageHead, words } from '../../kit/pages/components';
import { Follows, FollowSwitch } from '../../kit/pages/follow';
import { page } from '../../kit/pages/site';
import { get, type OperatorRoute, PREFIX } from '../../kit/pages/operator-page';
import { sinceText } from '../../kit/pages/since';
import { Proposals } from '../../features/accounts/console/proposals';

export function homePages(services: ConsoleServices): OperatorRoute[] {
  const { db, attention, openCases, operations, proposals } = services;
  return [
    get('/home', 'read', async (visit) => {
      const [calls, found, waiting, cases, paused, backlogs, ...changes] = await Promise.all([
        operations.providerCalls(),
        attention(),
        services.waiting(),
        openCases(),
        listShownPauses(db),
        operations.backlogs(),
        proposals.list(null),
        proposals.hasSecondAdmin(),
        listThresholds(db),
      ]);
      const [proposed, hasSecondAdmin, thresholds] = changes;
      const blocked = backlogs.filter(({ waiting }) => waiting === BACKLOG_MAX);
      const proposedThresholds = thresholds.filter(({ proposal }) => proposal !== null).length;
      const causes = [
        ...waiting.map(waitingCause),
        ...calls.filter((row) => healthOf(row) === 'failing').map(providerCause),
        ...checkCauses(found, paused.length, blocked.length),
        ...cases.map(caseCause),
        ...(proposedThresholds === 0 ? [] : [thresholdCause(proposedThresholds)]),
      ];
      const body = (
        <>
          <Home causes={causes} />
          <Proposals
            proposed={proposed}
            hasSecondAdmin={hasSecondAdmin}
            mayChange={visit.may('administer')}
            me={visit.session.email}
            showAccount
          />
        </>
      );
      return page('Home', body, { nav: 'home' });
    }),
  ];
}

interface Cause {
  /** Null if it is not counted. */
  count: number | null;
  text: string;
  path: string;
  detail?: ComponentChildren;
}

/** The words for one and for several waiting objects of a kind, and the page that shows them. */
const WAITING: Record<
  WaitCause,
  readonly [one: string, many: string, path: (mode: Mode) => string]
> = {
  under_review: [
    'payout waits for review',
    'payouts wait for review',
    (mode) => `/queue?mode=${mode}`,
  ],
  overdue: [
    'payout waits although its time has passed',
    'payouts wait although their time has passed',
    (mode) => `/payouts?mode=${mode}&wait=overdue`,
  ],
  stuck: [
    'payout is stuck in processing',
    'payouts are stuck in processing',
    (mode) => `/payouts?mode=${mode}&wait=stuck`,
  ],
  in_doubt: [
    'payout is not confirmed by its provider',
    'payouts are not confirmed by their provider',
    (mode) => `/in-doubt?mode=${mode}`,
  ],
  paused: [
    'approved payout is held by a pause',
    'approved payouts are held by a pause',
    (mode) => `/payouts?mode=${mode}&status=approved`,
  ],
  screening: [
    'payout is held by screening',
    'payouts are held by screening',
    (mode) => `/payouts?mode=${mode}&status=approved`,
  ],
  batch_under_review: [
    'batch waits for review',
    'batches wait for review',
    (mode) => `/batches?mode=${mode}`,
  ],
  payment_on_hold: [
    'payment is on hold',
    'payments are on hold',
    (mode) => `/payments?mode=${mode}&status=on_hold`,
  ],
};

function waitingCause({ cause, mode, ...waiting }: WaitingObjects): Cause {
  const [one, many, path] = WAITING[cause];
  const { count } = waiting;
  return {
    count,
    text: `${mode} ${plural(count, one, many)}`,
    path: path(mode),
    detail: <AtStake {...waiting} />,
  };
}

function providerCause({ provider, mode, calls, failed }: ProviderCalls): Cause {
  return {
    count: null,
    text: `${failed} of ${calls} ${mode} requests to ${words(provider)} failed`,
    path: '/operations',
    detail: `in the last ${SHOWN_MINUTES} minutes`,
  };
}

function caseCause({ kind, ...waiting }: OpenCases): Cause {
  const { count } = waiting;
  return {
    count,
    text: `${plural(count, 'open case', 'open cases')}: ${words(kind).toLowerCase()}`,
    path: `/cases?kind=${kind}`,
    detail: <AtStake {...waiting} />,
  };
}

/** The money and the longest wait. */
function AtStake({ count, since, sums }: Waiting) {
  return (
    <>
      {sums.map(({ currency, amount }) => (
        <>
          <Money amount={amount} currency={currency} />,{' '}
        </>
      ))}
      {count === 1 ? '' : 'the longest '}for {sinceText(since)}
    </>
  );
}

type Attention = Awaited<ReturnType<ConsoleServices['attention']>>;

function checkCauses(found: Attention, paused: number, blocked: number): Cause[] {
  const checks = [
    {
      count: found.isProofLate ? null : 0,
      text: 'The ledger was not proven in time',
      path: '/operations',
    },
    {
      count: found.statementsLate,
      text: plural(
        found.statementsLate,
        'provider statement was not read for two hours',
        'provider statements were not read for two hours',
      ),
      path: '/operations',
    },
    {
      count: paused,
      text: plural(paused, 'pause holds payouts', 'pauses hold payouts'),
      path: '/pauses',
    },
    {
      count: blocked,
      text: plural(
        blocked,
        `webhook endpoint has ${BACKLOG_MAX} or more waiting deliveries`,
        `webhook endpoints have ${BACKLOG_MAX} or more waiting deliveries`,
      ),
      path: '/operations',
    },
  ];
  return checks.filter(({ count }) => count !== 0);
}

function thresholdCause(count: number): Cause {
  const text = plural(
    count,
    'proposed amount for two approvals waits for an admin',
    'proposed amounts for two approvals wait for an admin',
  );
  return { count, text, path: '/four-eyes' };
}

function plural(count: number, one: string, many: string): string {
  return count === 1 ? one : many;
}

function Home({ causes }: { causes: readonly Cause[] }) {
  return (
    <>
      <PageHead title="Home">
        <FollowSwitch />
      </PageHead>
      <Follows id="attention" isOpen>
        <Card title="Needs an operator">
          {causes.length === 0 ? (
            <Empty icon="inbox" title="Nothing needs an operator">
              <p>Payouts to review, cases, pauses and failing checks appear here.</p>
            </Empty>
          ) : (
            <ul class="attention">
              {causes.map(({ count, text, path, detail }) => (
                <li>
                  <span>
                    {count === null ? null : (
                      <b>{count === COUNT_MAX ? `${count} or more` : count}</b>
                    )}{' '}
                    {text}
                    {detail === undefined ? null : <small>{detail}</small>}
                  </span>
                  <a class="link" href={PREFIX + path}>
                    Show
                  </a>
                </li>
              ))}
            </ul>
          )}
        </Card>
      </Follows>
    </>
  );
}
