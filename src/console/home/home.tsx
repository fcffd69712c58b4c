/** The start page of an operator: what needs a decision or a look, by cause. */
import type { ComponentChildren } from 'preact';
import { COUNT_MAX, type ConsoleServices, type WaitingPayouts } from '../../services/console';
import { BACKLOG_MAX } from '../../services/console-operations';
import { listThresholds } from '../../services/four-eyes';
import { listShownPauses } from '../../services/payout-pauses';
import { Card, Empty, Money, PageHead, words } from '../../web/components';
import { page } from '../../web/site';
import { type OperatorRoute, PREFIX } from '../operator-page';
import { sinceText } from '../payouts/parts';
import { Proposals } from '../proposals/proposals';

export function homePages(services: ConsoleServices): OperatorRoute[] {
  const { db, attention, waitingPayouts, operations, proposals } = services;
  return [
    {
      method: 'get',
      path: '/home',
      needs: 'read',
      run: async (visit) => {
        const [found, stopped, paused, backlogs, ...changes] = await Promise.all([
          attention(),
          waitingPayouts(),
          listShownPauses(db),
          operations.backlogs(),
          proposals.list(null),
          proposals.hasSecondAdmin(),
          listThresholds(db),
        ]);
        const [proposed, hasSecondAdmin, thresholds] = changes;
        const blocked = backlogs.filter(({ waiting }) => waiting === BACKLOG_MAX);
        const waiting = thresholds.filter(({ proposal }) => proposal !== null).length;
        const causes = [
          ...stopped.map(waitingCause),
          ...causesOf(found, paused.length, blocked.length, waiting),
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
      },
    },
  ];
}

interface Cause {
  /** Null: it is not counted. */
  count: number | null;
  text: string;
  path: string;
  detail?: ComponentChildren;
}

/** In doubt, or stuck: with the money and the longest wait. */
function waitingCause({ mode, wait, count, since, sums }: WaitingPayouts): Cause {
  const inDoubt = wait === 'in_doubt';
  return {
    count,
    text: inDoubt
      ? plural(
          count,
          `${mode} payout is not confirmed by its provider`,
          `${mode} payouts are not confirmed by their provider`,
        )
      : plural(
          count,
          `${mode} payout is stuck in processing`,
          `${mode} payouts are stuck in processing`,
        ),
    path: inDoubt ? `/in-doubt?mode=${mode}` : `/payouts?mode=${mode}&wait=${wait}`,
    detail: (
      <>
        {sums.map(({ currency, amount }) => (
          <>
            <Money amount={amount} currency={currency} />,{' '}
          </>
        ))}
        {count === 1 ? '' : 'the longest '}for {sinceText(new Date(since))}
      </>
    ),
  };
}

type Attention = Awaited<ReturnType<ConsoleServices['attention']>>;

function causesOf(found: Attention, paused: number, blocked: number, thresholds: number): Cause[] {
  const payouts = found.payouts.map(({ mode, underReview }) => ({
    count: underReview,
    text: plural(underReview, `${mode} payout waits for review`, `${mode} payouts wait for review`),
    path: `/queue?mode=${mode}`,
  }));
  const cases = found.cases.map(({ kind, count }) => ({
    count,
    text: `${plural(count, 'open case', 'open cases')}: ${words(kind).toLowerCase()}`,
    path: `/cases?kind=${kind}`,
  }));
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
  return [...payouts, ...checks, ...cases, thresholdCause(thresholds)].filter(
    ({ count }) => count !== 0,
  );
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
      <PageHead title="Home" />
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
    </>
  );
}
