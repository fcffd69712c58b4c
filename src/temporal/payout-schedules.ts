/**
 * The schedules of Temporal that start the runs of merchants' schedules. Each is made from its row, and
 * made again when it is missing. A run ends when its batch is reserved, so runs that wait for each other are
 * started one after the other; the activity decides about those that are late.
 */
import {
  type Client,
  type ScheduleOptions,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import {
  type PayoutSchedule,
  type PayoutScheduleRun,
  runWorkflowId,
} from '../domain/payout-schedule';
import { wallClockMs } from '../lib/wall-clock';
import { createStarter } from './client';
import { ACCOUNT_ID, MODE } from './search-attributes';

const DEADLINE_MS = 5_000;

export type PayoutScheduleTimers = ReturnType<typeof createPayoutScheduleTimers>;

export function createPayoutScheduleTimers(client: Client) {
  const starter = createStarter(client, WORKFLOWS.payoutScheduleRun);
  return {
    /**
     * Makes Temporal do what the row says. @throws without an answer
     * @returns the next time, and whether no run is under way
     */
    follow: (schedule: PayoutSchedule) =>
      client.withDeadline(wallClockMs() + DEADLINE_MS, () => follow(client, schedule)),
    /** The next time of a schedule, as Temporal has it. @throws without an answer */
    next: (scheduleId: string) =>
      client.withDeadline(wallClockMs() + DEADLINE_MS, async () => {
        const { info } = await client.schedule.getHandle(scheduleId).describe();
        return info.nextActionTimes[0] ?? null;
      }),
    /** Starts the workflow of a run unless it runs. */
    ensureRunning: ({ scheduleId, scheduledFor }: PayoutScheduleRun) =>
      starter.ensureRunning({
        workflowId: runWorkflowId(scheduleId, scheduledFor),
        taskQueue: TASK_QUEUES.batches,
        args: [{ scheduleId }],
      }),
  };
}

async function follow(client: Client, schedule: PayoutSchedule) {
  const handle = client.schedule.getHandle(schedule.id);
  if (schedule.status === 'ended') {
    await handle.delete().catch((error: unknown) => {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    });
    return { nextRunAt: null, isIdle: true };
  }
  const options = optionsOf(schedule);
  try {
    await client.schedule.create({ scheduleId: schedule.id, ...options });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle.update(() => ({ ...options, state: options.state }));
  }
  const { info } = await handle.describe();
  const [next] = info.nextActionTimes;
  return {
    nextRunAt: schedule.status === 'active' ? (next ?? null) : null,
    isIdle: info.runningActions.length === 0 && next === undefined,
  };
}

/** Longer than a run may be late: the activity tells the merchant of those that are too late. */
const CATCHUP_WINDOW = '7 days';

function optionsOf(schedule: PayoutSchedule) {
  const { id, status, startAt, endAt, mode, accountId } = schedule;
  return {
    spec: {
      ...timesOf(schedule),
      startAt,
      ...(endAt === null ? {} : { endAt }),
    },
    policies: {
      overlap: ScheduleOverlapPolicy.BUFFER_ALL,
      catchupWindow: CATCHUP_WINDOW,
      // A run that fails is a row, and the next one has its own time.
      pauseOnFailure: false,
    },
    action: {
      type: 'startWorkflow',
      workflowType: WORKFLOWS.payoutScheduleRun,
      workflowId: id,
      taskQueue: TASK_QUEUES.batches,
      args: [{ scheduleId: id }],
      staticSummary: `Run of the schedule ${id}, ${mode} mode`,
      typedSearchAttributes: [
        { key: MODE, value: mode },
        { key: ACCOUNT_ID, value: accountId },
      ],
    },
    state: { paused: status === 'paused' },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>;
}

function timesOf({ cron, timeZone, intervalSeconds, startAt }: PayoutSchedule) {
  if (cron !== null) return { cronExpressions: [cron], timezone: timeZone ?? 'UTC' };
  const everyMs = (intervalSeconds ?? 0) * 1_000;
  // Temporal counts intervals from 1970, and a schedule from its start.
  return { intervals: [{ every: everyMs, offset: startAt.getTime() % everyMs }] };
}
