/** Schedules of payouts: the list, and one schedule with its rows and runs. */
import type { ComponentChildren } from 'preact';
import { errorEntry } from '../../../domain/errors';
import type { PayoutOrder } from '../../../domain/payout';
import {
  CHECKED_TIMES,
  nextTimes,
  type PayoutSchedule,
  type PayoutScheduleRun,
  type PayoutScheduleTrigger,
  scheduleStatusesBefore,
} from '../../../domain/payout-schedule';
import { wallClockMs } from '../../../platform/lib/wall-clock';
import type { DashboardServices, PersonDecision } from '../../../shell/dashboard/services';
import { waitingSchedule } from '../../approvals/second-person';
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
} from '../../../kit/pages/components';
import { Action, Confirm } from '../../../kit/pages/forms';
import { creatorRow } from '../../../kit/pages/history';
import { Icon } from '../../../kit/pages/icon';
import { ListPager, PER_PAGE, positionOf } from '../../../kit/pages/lists';
import { page, redirect } from '../../../kit/pages/site';
import { MAKE, mayMake, personOf } from '../../../kit/pages/creation';
import {
  get,
  type MerchantRoute,
  type MerchantVisit,
  post,
} from '../../../kit/pages/merchant-page';
import { decisionRows, secondPersonOf } from '../../approvals/dashboard/waiting';
import { newSchedulePages } from './new-schedule';
import { countText, LocalTime, NextRuns, RunTotals, timesText } from '../pages/schedule-times';

const NAV = { nav: 'schedules' };

export function schedulePages(services: DashboardServices): MerchantRoute[] {
  const { money, schedules, bookkeeping } = services;
  const pathOf = ({ base, id }: MerchantVisit) => `${base}/schedules/${id}`;
  const change = (trigger: PayoutScheduleTrigger): MerchantRoute =>
    post(
      `/schedules/:id/${trigger}`,
      {
        ...MAKE,
        // Resuming makes money move again.
        ...(trigger === 'resume' ? { liveRecent: pathOf } : {}),
      },
      async (visit) => {
        const caller = money.callerOf(personOf(visit));
        await money.payoutSchedules.change(caller, visit.id, trigger);
        return redirect(pathOf(visit));
      },
    );
  return [
    ...newSchedulePages(services),
    get('/schedules', 'read', async (visit) => {
      const { query, base } = visit;
      const { timeZone: zone } = await bookkeeping(visit);
      const list = { limit: PER_PAGE, after: positionOf(query) };
      const { items, next } = await schedules.list(visit, list);
      const path = `${base}/schedules`;
      const body = (
        <>
          <PageHead
            title="Schedules"
            lead="Payouts that repeat. Each run is a batch, and pays all of its rows or none."
          >
            {mayMake(visit) ? (
              <a class="btn" href={`${path}/new`}>
                <Icon name="plus" /> Create a schedule
              </a>
            ) : null}
          </PageHead>
          <ScheduleTable rows={items} path={path} zone={zone} />
          <ListPager path={path} query={query} next={next} />
        </>
      );
      return page('Schedules', body, NAV);
    }),
    get('/schedules/:id', 'read', async (visit) => {
      const { query, base } = visit;
      const found = await schedules.find(visit, visit.id);
      const { schedule } = found;
      const { timeZone: zone } = await bookkeeping(visit);
      const list = { limit: PER_PAGE, after: positionOf(query) };
      const runs = await schedules.runs(visit, schedule.id, list);
      const path = pathOf(visit);
      const body = (
        <>
          <Head schedule={schedule} base={base} path={path} mayChange={mayMake(visit)} />
          {await secondPersonOf(services, visit, waitingSchedule(schedule))}
          <LastFailure schedule={schedule} />
          <Details
            {...found}
            decisions={await services.decisions(visit, schedule.id)}
            base={base}
            zone={zone}
          />
          <Runs rows={runs.items} base={base} zone={zone} />
          <ListPager path={path} query={query} next={runs.next} />
          <Rows {...found} base={base} />
        </>
      );
      return page(`Schedule ${schedule.reference}`, body, NAV);
    }),
    change('pause'),
    change('resume'),
    change('end'),
  ];
}

interface ScheduleTableProps {
  rows: readonly PayoutSchedule[];
  path: string;
  zone: string;
}

function ScheduleTable({ rows, path, zone }: ScheduleTableProps) {
  return (
    <Card flush>
      <Table
        caption="Schedules"
        rows={rows}
        empty={
          <Empty icon="calendar-clock" title="No schedules yet">
            <p>Create one to pay the same recipients again and again, or use the API.</p>
          </Empty>
        }
        columns={[
          {
            label: 'Reference',
            cell: ({ id, reference }) => <a href={`${path}/${id}`}>{reference}</a>,
          },
          { label: 'Status', cell: (schedule) => <State schedule={schedule} /> },
          {
            label: 'Each run',
            right: true,
            cell: RunTotals,
          },
          { label: 'Times', wide: true, cell: timesText },
          {
            label: 'Next run',
            wide: true,
            cell: ({ nextRunAt }) =>
              nextRunAt === null ? 'None' : <LocalTime at={nextRunAt} zone={zone} />,
          },
          {
            label: 'Last run',
            wide: true,
            cell: ({ lastRun }) => (lastRun === null ? 'None' : <Status value={lastRun.status} />),
          },
        ]}
      />
    </Card>
  );
}

function State({ schedule: { status, awaitsSecondPerson } }: { schedule: PayoutSchedule }) {
  return <Status value={awaitsSecondPerson ? 'waiting' : status} />;
}

interface HeadProps {
  schedule: PayoutSchedule;
  base: string;
  path: string;
  mayChange: boolean;
}

function Head({ schedule, base, path, mayChange }: HeadProps) {
  const { status, reference, description } = schedule;
  const may = (trigger: PayoutScheduleTrigger) =>
    mayChange && scheduleStatusesBefore(trigger).includes(status);
  return (
    <PageHead
      back={{ href: `${base}/schedules`, label: 'Schedules' }}
      here={reference}
      title={
        <>
          {reference} <Status value={status} />
        </>
      }
      lead={description ?? undefined}
    >
      {may('pause') ? <Action action={`${path}/pause`} label="Pause" icon="pause" /> : null}
      {may('resume') ? <Action action={`${path}/resume`} label="Resume" icon="play" /> : null}
      {may('end') ? (
        <Confirm
          action={`${path}/end`}
          label="End"
          icon="ban"
          effect="It creates no more runs and cannot be resumed. Batches that were already created continue."
          confirm="End this schedule now"
        />
      ) : null}
    </PageHead>
  );
}

function LastFailure({ schedule: { lastRun, status } }: { schedule: PayoutSchedule }) {
  if (lastRun === null || lastRun.failure === null || status === 'ended') return null;
  return (
    <Alert tone="bad" title="The last run paid nothing.">
      <p>
        <FailureText run={lastRun} />
      </p>
    </Alert>
  );
}

type Found = Awaited<ReturnType<DashboardServices['schedules']['find']>>;

interface DetailsProps extends Found {
  decisions: readonly PersonDecision[];
  base: string;
  zone: string;
}

function Details({ schedule, creator, decisions, base, zone }: DetailsProps) {
  const { id, status, startAt, endAt, totals, createdAt, endedAt } = schedule;
  const upcoming =
    status === 'active' ? nextTimes(schedule, new Date(wallClockMs()), CHECKED_TIMES) : [];
  return (
    <div class="grid">
      <Card title="Details">
        <Facts
          rows={[
            ...totals.map(
              ({ currency, amount, rows }) =>
                [
                  `Each run, ${countText(rows)}`,
                  <Money amount={amount} currency={currency} />,
                ] as const,
            ),
            ['Times', timesText(schedule)],
            ['Not before', <LocalTime at={startAt} zone={zone} />],
            ['Not after', endAt === null ? 'No end' : <LocalTime at={endAt} zone={zone} />],
            ['ID', <Id value={id} />],
            creatorRow(creator, base),
            ...decisionRows(decisions),
            ['Created', <Time at={createdAt} seconds />],
            ['Ended', endedAt === null ? null : <Time at={endedAt} seconds />],
          ]}
        />
      </Card>
      <Card title="Next runs" lead={`Time zone of your account: ${zone}`}>
        {upcoming.length === 0 ? (
          <p class="muted">{status === 'paused' ? 'None while it is paused.' : 'None.'}</p>
        ) : (
          <NextRuns times={upcoming} zone={zone} />
        )}
      </Card>
    </div>
  );
}

interface RunsProps {
  rows: readonly PayoutScheduleRun[];
  base: string;
  zone: string;
}

function Runs({ rows, base, zone }: RunsProps) {
  return (
    <Card title="Runs" flush>
      <Table
        caption="Runs"
        rows={rows}
        empty={
          <Empty icon="calendar-clock" title="No runs yet">
            <p>Each run is listed here, with its batch or the reason why it paid nothing.</p>
          </Empty>
        }
        columns={[
          {
            label: 'Time',
            cell: ({ scheduledFor }) => <LocalTime at={scheduledFor} zone={zone} />,
          },
          {
            label: 'Result',
            cell: (run) => (
              <>
                <Status value={run.status} /> <Result run={run} base={base} />
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Result({ run, base }: { run: PayoutScheduleRun; base: string }): ComponentChildren {
  if (run.status === 'failed') return <FailureText run={run} />;
  if (run.status === 'pending') return 'The rows are being checked.';
  return (
    <a class="break" href={`${base}/batches/${run.batchId}`}>
      {run.batchId}
    </a>
  );
}

/** Rows that were refused; the batch's form shows as many. */
const REFUSED_SHOWN = 5;

function FailureText({ run: { failure } }: { run: PayoutScheduleRun }) {
  if (failure === null) return null;
  const { code, message = errorEntry(code).message } = failure;
  if (failure.code === 'insufficient_balance') {
    const { currency, required, available } = failure.details;
    return (
      <>
        The run needed {required} {currency}, and {available} {currency} was available.
      </>
    );
  }
  if (failure.code !== 'rows_refused') return <>{message}</>;
  const { rows, refused } = failure.details;
  const shown = rows.slice(0, REFUSED_SHOWN);
  return (
    <>
      {shown.map(({ row, reference, message: why }) => (
        <div>
          Row {row} ({reference}): {why}
        </div>
      ))}
      {refused > shown.length ? <div>{refused - shown.length} more rows were refused.</div> : null}
    </>
  );
}

function Rows({ schedule, recipients, base }: Found & { base: string }) {
  return (
    <Card title="Payouts of each run" flush>
      <Table
        caption="Payouts of each run"
        rows={schedule.payouts}
        empty={null}
        columns={[
          { label: 'Reference', cell: ({ reference }) => reference },
          {
            label: 'Amount',
            right: true,
            cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
          },
          {
            label: 'To',
            cell: (row) => <Destination row={row} recipients={recipients} base={base} />,
          },
          { label: 'Network', wide: true, cell: ({ network }) => words(network ?? 'none') },
        ]}
      />
    </Card>
  );
}

interface DestinationProps {
  row: PayoutOrder;
  recipients: Found['recipients'];
  base: string;
}

function Destination({ row: { recipient: id, destination }, recipients, base }: DestinationProps) {
  const recipient = id === undefined ? undefined : recipients.get(id);
  const value = destination?.value ?? recipient?.destinationValue;
  const memo = destination?.memo ?? recipient?.destinationMemo ?? null;
  return (
    <>
      {id === undefined ? null : <a href={`${base}/recipients/${id}`}>{recipient?.name ?? id}</a>}{' '}
      <code class="break">{value}</code>
      {memo === null ? null : <span class="muted"> Memo {memo}</span>}
    </>
  );
}
