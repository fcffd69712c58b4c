/**
 * Schedules of payouts. A request changes the row, and then tells Temporal; restart-missing tells it what
 * could not be told. A run is made by the worker (activities/payout-schedule).
 */
import { lockClaim, storeResponse } from '../db/repositories/idempotency';
import {
  changePayoutSchedule,
  findPayoutSchedule,
  findScheduleByReference,
  insertPayoutSchedule,
  listPayoutSchedules,
  listScheduleRuns,
  noteFollowed,
} from '../db/repositories/payout-schedules';
import type { Db, Tx } from '../db/transaction';
import { type RowFault, rowsRefused } from '../domain/batch-terms';
import { ApiError, validationFailed } from '../domain/errors';
import { add } from '../domain/money';
import type { PayoutOrder } from '../domain/payout';
import {
  CHECKED_TIMES,
  INTERVAL_SECONDS_MIN,
  nextTimes,
  type PayoutSchedule,
  type PayoutScheduleRequest,
  type PayoutScheduleRun,
  type PayoutScheduleTrigger,
  SCHEDULE_REFERENCE_LENGTH_MAX,
  type ScheduleTotals,
  STATUS_AFTER,
} from '../domain/payout-schedule';
import { duplicateReference } from '../domain/terms';
import { newId } from '../lib/new-id';
import { wallClockMs } from '../lib/wall-clock';
import { presentCreated } from '../presenters/envelope';
import { presentPayoutSchedule } from '../presenters/payout-schedule';
import type { PayoutScheduleTimers } from '../temporal/payout-schedules';
import { type ClaimDeps, readAnswer, runClaimed } from './idempotency';
import { type BatchCheck, checkRows, type CheckingDeps } from './payout-batches';
import type { Caller, ListPosition, Page, StoredResponse } from './services';

/** What a change of a row needs, so that Temporal follows it. */
export interface FollowingDeps {
  db: Db;
  payoutScheduleTimers: Pick<PayoutScheduleTimers, 'follow'>;
}

export interface PayoutSchedulesDeps extends ClaimDeps, CheckingDeps, FollowingDeps {}

/** The request as it was sent: a row is a request, or the fault of a row. */
export type ScheduleInput = Omit<PayoutScheduleRequest, 'payouts'> & {
  rows: readonly (PayoutOrder | RowFault)[];
};

interface ListRequest {
  limit: number;
  after: ListPosition | null;
}

/** What a run would cost now, and when the runs come. */
export interface ScheduleCheck extends BatchCheck {
  nextTimes: Date[];
}

export type PayoutSchedules = ReturnType<typeof createPayoutSchedules>;

export function createPayoutSchedules(deps: PayoutSchedulesDeps) {
  const { db } = deps;
  return {
    /** Stores nothing. @throws ApiError validation_failed, duplicate_reference */
    check: (caller: Caller, input: ScheduleInput): Promise<ScheduleCheck> =>
      check(deps, caller, input),

    /** @throws ApiError rows_refused, duplicate_reference, idempotency's */
    create: (
      caller: Caller,
      input: ScheduleInput & { idempotencyKey: string },
    ): Promise<StoredResponse> => create(deps, caller, input),

    list: (caller: Caller, query: ListRequest): Promise<Page<PayoutSchedule>> =>
      listPayoutSchedules(db, { ...caller, ...query }),

    /** @throws ApiError not_found */
    get: (caller: Caller, id: string): Promise<PayoutSchedule> => getOwn(db, caller, id),

    /** Newest first. @throws ApiError not_found */
    listRuns: async (
      caller: Caller,
      id: string,
      query: ListRequest,
    ): Promise<Page<PayoutScheduleRun>> => {
      await getOwn(db, caller, id);
      return listScheduleRuns(db, id, query);
    },

    /** A repeated change does nothing more. @throws ApiError not_found, invalid_state */
    change: async (
      caller: Caller,
      id: string,
      trigger: PayoutScheduleTrigger,
    ): Promise<PayoutSchedule> => {
      await getOwn(db, caller, id);
      const isChanged = await changePayoutSchedule(db, id, trigger);
      const schedule = await getOwn(db, caller, id);
      if (!isChanged && schedule.status !== STATUS_AFTER[trigger]) throw ended(schedule);
      await tellTemporal(deps, schedule);
      return getOwn(db, caller, id);
    },
  };
}

async function create(
  deps: PayoutSchedulesDeps,
  caller: Caller,
  { idempotencyKey, rows, ...head }: ScheduleInput & { idempotencyKey: string },
): Promise<StoredResponse> {
  const id = newId('payoutSchedule');
  const payouts = rows.filter((row): row is PayoutOrder => !('refusal' in row));
  const request: PayoutScheduleRequest = { ...head, payouts };
  return runClaimed<PayoutScheduleRequest, object>(deps, {
    caller,
    objectId: id,
    endpoint: '/payout_schedules',
    idempotencyKey,
    request,
    prepare: async () => {
      const { faults } = await check(deps, caller, { ...head, rows });
      if (faults.length > 0) throw new ApiError(rowsRefused(faults));
      return {};
    },
    create: async () => {
      const stored = await deps.db.transaction((tx) => store(tx, caller, id, request));
      if (stored !== null) await tellTemporal(deps, stored);
      return readAnswer(deps.db, id);
    },
  });
}

async function check(
  deps: PayoutSchedulesDeps,
  caller: Caller,
  { rows, ...head }: ScheduleInput,
): Promise<ScheduleCheck> {
  const times = checkTimes(caller, head);
  const existingId = await findScheduleByReference(deps.db, { ...caller, ...head });
  if (existingId !== null) throw referenceIsUsed(existingId);
  const checked = await checkRows(deps, caller, rows.map(rowOfRun));
  const faults = checked.faults.map((fault) => {
    return { ...fault, reference: rows[fault.row - 1]?.reference ?? null };
  });
  return { ...checked, faults, nextTimes: times };
}

/** The row with the reference that it has in a run, which no payout has yet. */
function rowOfRun(row: PayoutOrder | RowFault, index: number): PayoutOrder | RowFault {
  if ('refusal' in row) return row;
  const { reference } = row;
  if (reference.length <= SCHEDULE_REFERENCE_LENGTH_MAX) {
    return { ...row, reference: `${reference}-${newId('request')}` };
  }
  const message = `Shorten reference to at most ${SCHEDULE_REFERENCE_LENGTH_MAX} characters: each run appends its time.`;
  const { refusal } = validationFailed([{ field: 'reference', rule: 'too_long', message }]);
  return { row: index + 1, reference, refusal };
}

/** @returns null when the claim has ended, and the same request may have created another one */
async function store(
  tx: Tx,
  { accountId, mode, apiKeyId }: Caller,
  id: string,
  request: PayoutScheduleRequest,
): Promise<PayoutSchedule | null> {
  if ((await lockClaim(tx, id)) === null) return null;
  const stored = await insertPayoutSchedule(tx, {
    ...request,
    id,
    accountId,
    mode,
    apiKeyId,
    startAt: request.startAt === null ? null : new Date(request.startAt),
    endAt: request.endAt === null ? null : new Date(request.endAt),
    totals: totalsOf(request.payouts),
  });
  if (stored === null) {
    const existingId = await findScheduleByReference(tx, { accountId, mode, ...request });
    throw referenceIsUsed(existingId ?? '');
  }
  await storeResponse(tx, id, presentCreated(presentPayoutSchedule(stored)));
  return stored;
}

/** @returns the next times. @throws ApiError validation_failed */
function checkTimes({ mode }: Caller, head: Omit<PayoutScheduleRequest, 'payouts'>): Date[] {
  const refuse = (field: string, message: string) =>
    validationFailed([{ field, rule: 'out_of_range', message }]);
  const least = INTERVAL_SECONDS_MIN[mode];
  if (head.intervalSeconds !== null && head.intervalSeconds < least) {
    const message = `Send interval_seconds as at least ${least} in ${mode} mode.`;
    throw refuse('interval_seconds', message);
  }
  const now = new Date(wallClockMs());
  const startAt = head.startAt === null ? now : new Date(head.startAt);
  const endAt = head.endAt === null ? null : new Date(head.endAt);
  const times = nextTimes({ ...head, startAt, endAt }, now, CHECKED_TIMES);
  if (times.length > 0) return times;
  throw endAt === null
    ? refuse('cron', 'Send cron with a time that comes: this expression has none in eight years.')
    : refuse('end_at', 'Send end_at after the first time of the schedule, which is still to come.');
}

function totalsOf(payouts: readonly PayoutOrder[]): ScheduleTotals[] {
  const totals = new Map<string, ScheduleTotals>();
  for (const { currency, amount } of payouts) {
    const sum = totals.get(currency);
    totals.set(currency, {
      currency,
      rows: (sum?.rows ?? 0) + 1,
      amount: sum === undefined ? add(amount) : add(sum.amount, amount),
    });
  }
  return [...totals.values()];
}

/** Without an answer, restart-missing tells it. */
export async function tellTemporal(
  { db, payoutScheduleTimers }: FollowingDeps,
  schedule: PayoutSchedule,
): Promise<void> {
  try {
    const { nextRunAt } = await payoutScheduleTimers.follow(schedule);
    await noteFollowed(db, schedule, nextRunAt);
  } catch {
    // The row is the truth.
  }
}

/** A schedule of another account or mode gets the same error as one that does not exist. */
async function getOwn(db: Db, { accountId, mode }: Caller, id: string): Promise<PayoutSchedule> {
  const schedule = await findPayoutSchedule(db, id);
  if (schedule?.accountId === accountId && schedule.mode === mode) return schedule;
  throw new ApiError({ code: 'not_found', details: { resource: 'payout_schedule' } });
}

function referenceIsUsed(existingId: string): ApiError {
  return new ApiError(duplicateReference('payout_schedule', existingId));
}

function ended({ status }: PayoutSchedule): ApiError {
  const message = 'This schedule has ended. Make a new one.';
  return new ApiError({ code: 'invalid_state', details: { status }, message });
}
