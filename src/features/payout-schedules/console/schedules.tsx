/** The schedules of payouts of one account, for operators to read: rows, next run, state and last result. */
import { errorEntry } from '../../../domain/errors';
import { MODES } from '../../../domain/mode';
import type { PayoutSchedule, PayoutScheduleRun } from '../../../domain/payout-schedule';
import type { ConsoleServices } from '../../../shell/console/services';
import { Card, Empty, Money, PageHead, Status, Table, Time } from '../../../kit/pages/components';
import { chosen, ListPager, PER_PAGE, positionOf } from '../../../kit/pages/lists';
import { countText, RunTotals, timesText } from '../pages/schedule-times';
import { page } from '../../../kit/pages/site';
import { get, type OperatorRoute, PREFIX } from '../../../kit/pages/operator-page';

const ROWS_SHOWN = 100;

export function schedulePages({ schedules }: ConsoleServices): OperatorRoute[] {
  return [
    get('/accounts/:id/schedules', 'read', async ({ query, id }) => {
      const mode = chosen(query, 'mode', MODES) ?? 'live';
      const position = { limit: PER_PAGE, after: positionOf(query) };
      const { items, next } = await schedules({ accountId: id, mode }, position);
      const path = `${PREFIX}/accounts/${id}/schedules`;
      const other = mode === 'live' ? 'test' : 'live';
      const body = (
        <>
          <PageHead
            back={{ href: `${PREFIX}/accounts/${id}`, label: 'Account' }}
            title={`Schedules in ${mode} mode`}
            lead="The merchant creates and changes them. The command admin schedules pauses and resumes one."
          >
            <a class="btn" data-variant="outline" href={`${path}?mode=${other}`}>
              Show {other} mode
            </a>
          </PageHead>
          <Card flush>
            <ScheduleTable rows={items} />
          </Card>
          <ListPager path={path} query={query} next={next} />
        </>
      );
      return page(`Schedules in ${mode} mode`, body, { nav: 'accounts' });
    }),
  ];
}

function ScheduleTable({ rows }: { rows: readonly PayoutSchedule[] }) {
  return (
    <Table
      caption="Schedules"
      rows={rows}
      empty={<Empty icon="calendar-clock" title="No schedules" />}
      columns={[
        {
          label: 'Schedule',
          cell: ({ id, reference, payouts }) => (
            <>
              {reference}
              <div>
                <code class="break">{id}</code>
              </div>
              <details>
                <summary>{countText(payouts.length)} at each time</summary>
                <Payouts payouts={payouts} />
              </details>
            </>
          ),
        },
        {
          label: 'Status',
          cell: ({ status, awaitsSecondPerson }) => (
            <Status value={awaitsSecondPerson ? 'waiting' : status} />
          ),
        },
        {
          label: 'Each run',
          right: true,
          cell: RunTotals,
        },
        { label: 'Times', wide: true, cell: timesText },
        {
          label: 'Next run',
          cell: ({ nextRunAt }) => (nextRunAt === null ? 'None' : <Time at={nextRunAt} seconds />),
        },
        {
          label: 'Last run',
          wide: true,
          cell: ({ lastRun }) => (lastRun === null ? 'None' : <LastRun run={lastRun} />),
        },
      ]}
    />
  );
}

function Payouts({ payouts }: Pick<PayoutSchedule, 'payouts'>) {
  return (
    <ul>
      {payouts.slice(0, ROWS_SHOWN).map((row) => (
        <li class="break">
          {row.reference}: <Money amount={row.amount} currency={row.currency} /> to{' '}
          {row.recipient ?? row.destination?.value}
        </li>
      ))}
      {payouts.length > ROWS_SHOWN ? <li>{payouts.length - ROWS_SHOWN} more</li> : null}
    </ul>
  );
}

function LastRun({ run: { status, scheduledFor, batchId, failure } }: { run: PayoutScheduleRun }) {
  return (
    <>
      <Status value={status} /> <Time at={scheduledFor} seconds />
      <div class="break">
        {status === 'created' ? <a href={`${PREFIX}/batches/${batchId}`}>{batchId}</a> : null}
        {failure === null ? null : (failure.message ?? errorEntry(failure.code).message)}
      </div>
    </>
  );
}
