/**
 * A schedule of payouts: the same rows at each of its times. Each run is a batch. The row has the time of the
 * next run, at which a worker opens it (decisions/payouts#payout-schedules).
 */
import { parseCron, timesOfCron, timesOfCronInAnHour } from './cron';
import type { Refusal } from './errors';
import type { Mode, Owner } from './mode';
import type { Amount } from './money';
import type { PayoutOrder } from './payout';
import type { PayoutBatchRequest } from './payout-batch';

/** The statuses of a schedule. */
export const PAYOUT_SCHEDULE_STATUSES = ['active', 'paused', 'ended'] as const;
export type PayoutScheduleStatus = (typeof PAYOUT_SCHEDULE_STATUSES)[number];

/** What a merchant or an operator does with a schedule. */
export type PayoutScheduleTrigger = 'pause' | 'resume' | 'end';

/** The table of transitions: from each status, the status after each trigger. */
export const PAYOUT_SCHEDULE_TRANSITIONS = {
  active: { pause: 'paused', end: 'ended' },
  paused: { resume: 'active', end: 'ended' },
  ended: {},
} as const satisfies Record<
  PayoutScheduleStatus,
  Partial<Record<PayoutScheduleTrigger, PayoutScheduleStatus>>
>;

/** The statuses in which `trigger` is allowed. */
export function scheduleStatusesBefore(trigger: PayoutScheduleTrigger): PayoutScheduleStatus[] {
  return PAYOUT_SCHEDULE_STATUSES.filter(
    (status) => trigger in PAYOUT_SCHEDULE_TRANSITIONS[status],
  );
}

/** The status that `trigger` leads to. */
export const STATUS_AFTER = {
  pause: 'paused',
  resume: 'active',
  end: 'ended',
} as const satisfies Record<PayoutScheduleTrigger, PayoutScheduleStatus>;

/** The most rows of a schedule. */
export const SCHEDULE_ROWS_MAX = 500;
/** The reference of a run ends with its time: `-20261125T143000Z`. */
export const SCHEDULE_REFERENCE_LENGTH_MAX = 47;
/** The shortest interval; that of test mode is short, so that a test does not wait. */
export const INTERVAL_SECONDS_MIN: Record<Mode, number> = { test: 5, live: 60 };
/** How many of the next times a dry run and the pages show. */
export const CHECKED_TIMES = 5;
/** The longest interval, in seconds. */
export const INTERVAL_SECONDS_MAX = 366 * 24 * 3_600;
/** A run that starts later than this fails, so that a long outage is not followed by a flood of payouts. */
export const RUN_LATE_MS_MAX = 24 * 3_600_000;

/** The most active schedules of an account in a mode, which leaves room for those of others. */
export const ACTIVE_SCHEDULES_MAX: Record<Mode, number> = { test: 20, live: 200 };
/** The most rows that an account's active schedules pay in a minute. */
export const SCHEDULED_ROWS_A_MINUTE_MAX: Record<Mode, number> = { test: 1_000, live: 10_000 };
/** The most runs of an account that are under way at once. */
export const PENDING_RUNS_MAX: Record<Mode, number> = { test: 2, live: 8 };

/** The sum of a schedule's rows in one currency. */
export interface ScheduleTotals {
  currency: string;
  rows: number;
  amount: Amount;
}

/** A schedule request after validation. */
export interface PayoutScheduleRequest {
  reference: string;
  description: string | null;
  /** Either a cron expression with its time zone, or an interval. */
  cron: string | null;
  timeZone: string | null;
  intervalSeconds: number | null;
  /** Null means now. */
  startAt: string | null;
  endAt: string | null;
  payouts: PayoutOrder[];
}

/** A schedule as stored. */
export interface PayoutSchedule extends Omit<PayoutScheduleRequest, 'startAt' | 'endAt'>, Owner {
  id: string;
  status: PayoutScheduleStatus;
  /** In whole seconds, as in the references of its runs. */
  startAt: Date;
  endAt: Date | null;
  totals: ScheduleTotals[];
  /** The key or the person that made it, with whose permission it acts. */
  apiKeyId: string;
  /** The person whose line the requester has (decisions/controls#second-person). */
  maker?: string | null;
  /** Whether its runs pay nothing until another person approves the schedule. */
  awaitsSecondPerson: boolean;
  nextRunAt: Date | null;
  lastRun: PayoutScheduleRun | null;
  /** Number of changes and runs, starting at 1. */
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
  endedAt: Date | null;
}

/** The statuses of a run: it is pending until it has a batch or a failure. */
export const PAYOUT_SCHEDULE_RUN_STATUSES = ['pending', 'created', 'failed'] as const;
export type PayoutScheduleRunStatus = (typeof PAYOUT_SCHEDULE_RUN_STATUSES)[number];

/** A run as stored. */
export interface PayoutScheduleRun {
  id: string;
  scheduleId: string;
  scheduledFor: Date;
  status: PayoutScheduleRunStatus;
  /** The id of its batch, which exists if the run is created. */
  batchId: string;
  /** The refusal, if the run created no batch. */
  failure: Refusal | null;
  createdAt: Date;
  endedAt: Date | null;
}

/** The fields that say when a schedule runs. */
export type ScheduleTimes = Pick<
  PayoutSchedule,
  'cron' | 'timeZone' | 'intervalSeconds' | 'startAt' | 'endAt'
>;

/** The next times after a moment, at most `count` of them. */
export function nextTimes(schedule: ScheduleTimes, after: Date, wished: number): Date[] {
  const { startAt, endAt } = schedule;
  const times: Date[] = [];
  // The start itself is the first time.
  const from = new Date(Math.max(after.getTime(), startAt.getTime() - 1));
  for (const time of timesAfter(schedule, from)) {
    if (times.length === wished || (endAt !== null && time > endAt)) break;
    times.push(time);
  }
  return times;
}

/** The next time after a moment; null if the schedule has none. */
export function firstRun(schedule: ScheduleTimes, after: Date): Date | null {
  return nextTimes(schedule, after, 1)[0] ?? null;
}

function* timesAfter(
  { cron, timeZone, intervalSeconds, startAt }: ScheduleTimes,
  after: Date,
): Generator<Date> {
  if (intervalSeconds === null) {
    const parsed = parseCron(cron ?? '');
    if (parsed !== null) yield* timesOfCron(parsed, timeZone ?? 'UTC', after);
    return;
  }
  const everyMs = intervalSeconds * 1_000;
  const passed = Math.floor((after.getTime() - startAt.getTime()) / everyMs);
  for (let time = startAt.getTime() + (passed + 1) * everyMs; ; time += everyMs) {
    yield new Date(time);
  }
}

/** The most runs in 24 hours. */
export function runsADay({
  cron,
  intervalSeconds,
}: Pick<PayoutSchedule, 'cron' | 'intervalSeconds'>): number {
  if (intervalSeconds !== null) return Math.ceil(86_400 / intervalSeconds);
  const [minutes, hours] = parseCron(cron ?? '') ?? [];
  return Math.max(1, (minutes?.size ?? 60) * (hours?.size ?? 24));
}

/** The most rows that a schedule pays in a minute, on average over an hour in which it runs. */
export function rowsAMinute(
  { cron, intervalSeconds }: Pick<PayoutSchedule, 'cron' | 'intervalSeconds'>,
  rowCount: number,
): number {
  if (intervalSeconds !== null) return (rowCount * 60) / intervalSeconds;
  const parsed = parseCron(cron ?? '');
  return parsed === null ? 0 : (rowCount * timesOfCronInAnHour(parsed)) / 60;
}

/** The batch request of one run. The references end with the time, so that each is used once. */
export function runRequest(
  { reference, description, payouts }: PayoutSchedule,
  scheduledFor: Date,
): PayoutBatchRequest {
  const suffix = `-${secondOf(scheduledFor).replaceAll(/[-:]/g, '')}`;
  return {
    reference: reference + suffix,
    description,
    payouts: payouts.map((payout) => ({ ...payout, reference: payout.reference + suffix })),
  };
}

/** The time as the ids of runs' workflows have it: `2026-11-25T14:30:00Z`. */
export function secondOf(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The id of the workflow of one run: `ps_…-2026-11-25T14:30:00Z`. */
export function runWorkflowId(scheduleId: string, scheduledFor: Date): string {
  return `${scheduleId}-${secondOf(scheduledFor)}`;
}
