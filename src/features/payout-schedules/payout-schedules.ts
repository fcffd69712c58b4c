/**
 * Schedules of payouts. A request changes the row, whose `next_run_at` a worker looks at. A run is made by the
 * worker (activities/payout-schedule).
 */
import { lockClaim, storeResponse } from '../../db/idempotency';
import {
  changePayoutSchedule,
  findPayoutSchedule,
  findScheduleByReference,
  insertPayoutSchedule,
  findScheduledReferences,
  listPayoutSchedules,
  lockActiveSchedules,
} from '../../db/payout-schedules/payout-schedules';
import { listScheduleRuns } from '../../db/payout-schedules/payout-schedule-runs';
import { scheduleNeedsPerson } from '../../db/approvals/second-person';
import { databaseTime } from '../../db/database-time';
import type { Reader, Tx } from '../../db/transaction';
import { type RowFault, rowsRefused } from '../../domain/batch-terms';
import { ApiError, validationFailed } from '../../domain/errors';
import { add } from '../../domain/money';
import type { PayoutOrder } from '../../domain/payout';
import {
  ACTIVE_SCHEDULES_MAX,
  CHECKED_TIMES,
  firstRun,
  INTERVAL_SECONDS_MIN,
  nextTimes,
  type PayoutSchedule,
  type PayoutScheduleRequest,
  type PayoutScheduleRun,
  type PayoutScheduleTrigger,
  rowsAMinute,
  runsADay,
  SCHEDULED_ROWS_A_MINUTE_MAX,
  SCHEDULE_REFERENCE_LENGTH_MAX,
  type ScheduleTotals,
  STATUS_AFTER,
} from '../../domain/payout-schedule';
import { duplicateReference } from '../../domain/terms';
import { newId } from '../../platform/lib/new-id';
import { wallClockMs } from '../../platform/lib/wall-clock';
import { presentCreated } from '../../kit/service/envelope';
import { presentPayoutSchedule } from './payout-schedules-contract';
import { type ClaimDeps, readAnswer, runClaimed } from '../../kit/service/idempotency';
import { type BatchCheck, checkRows, type CheckingDeps } from '../payout-batches/payout-batches';
import type { Caller, ListPosition, Page, StoredResponse } from '../../kit/service/services';

export interface PayoutSchedulesDeps extends ClaimDeps, CheckingDeps {}

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
      return db.transaction((tx) => change(tx, caller, id, trigger));
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
      await deps.db.transaction((tx) => store(tx, caller, id, request));
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
  const faulty = new Set(faults.map(({ row }) => row));
  const taken = await takenReferences(deps.db, caller, rows);
  const all = [...faults, ...taken.filter(({ row }) => !faulty.has(row))];
  all.sort((one, other) => one.row - other.row);
  const orders = rows.filter((row): row is PayoutOrder => !('refusal' in row));
  const needsSecondPerson = await scheduleNeedsPerson(
    deps.db,
    caller,
    totalsOf(orders),
    runsADay(head),
  );
  return { ...checked, needsSecondPerson, faults: all, nextTimes: times };
}

/** Two schedules with the same reference of a row could not both pay at the same time. */
async function takenReferences(
  db: Reader,
  caller: Caller,
  rows: readonly (PayoutOrder | RowFault)[],
): Promise<RowFault[]> {
  // A row that was refused may have a reference of any form, which PostgreSQL cannot take.
  const sent = rows.flatMap((row) => ('refusal' in row ? [] : [row.reference]));
  const taken = await findScheduledReferences(db, caller, sent);
  return rows.flatMap(({ reference }, index) => {
    const existing = taken.get(reference ?? '');
    if (existing === undefined) return [];
    const message = `The schedule ${existing} has a row with this reference. Use another one, or end that schedule first.`;
    const refusal = { ...duplicateReference('payout_schedule', existing), message };
    return [{ row: index + 1, reference, refusal }];
  });
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

/** Stores nothing when the claim has ended: the same request may have created another one. */
async function store(
  tx: Tx,
  caller: Caller,
  id: string,
  request: PayoutScheduleRequest,
): Promise<void> {
  const { accountId, mode, apiKeyId } = caller;
  if ((await lockClaim(tx, id)) === null) return;
  await requireRoom(tx, caller, { ...request, id, rowCount: request.payouts.length });
  // Another schedule may have taken a reference since the rows were checked.
  const taken = await takenReferences(tx, caller, request.payouts);
  if (taken.length > 0) throw new ApiError(rowsRefused(taken));
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
}

/**
 * The lock of `lockActiveSchedules` puts the schedules of an account in order, to the end of the transaction.
 * @throws ApiError too_many_objects
 */
async function requireRoom(
  tx: Tx,
  { accountId, mode }: Caller,
  wished: Pick<PayoutSchedule, 'id' | 'cron' | 'intervalSeconds'> & { rowCount: number },
): Promise<void> {
  const active = await lockActiveSchedules(tx, accountId, mode);
  const all = [...active.filter(({ id }) => id !== wished.id), wished];
  const most = ACTIVE_SCHEDULES_MAX[mode];
  if (all.length > most) {
    const details = { resource: 'payout_schedule', maximum: most };
    const message = `The account has ${most} active schedules in ${mode} mode, which is the maximum. Pause or end one first.`;
    throw new ApiError({ code: 'too_many_objects', details, message });
  }
  const maximum = SCHEDULED_ROWS_A_MINUTE_MAX[mode];
  const rows = all.reduce((sum, one) => sum + rowsAMinute(one, one.rowCount), 0);
  if (rows > maximum) {
    const details = { resource: 'payout_schedule_rows_a_minute', maximum };
    const message =
      `The active schedules of the account would pay ${Math.ceil(rows)} rows a minute in ${mode} mode. ` +
      `The maximum is ${maximum}. Use a longer interval or fewer rows, or pause or end a schedule first.`;
    throw new ApiError({ code: 'too_many_objects', details, message });
  }
}

async function change(
  tx: Tx,
  caller: Caller,
  id: string,
  trigger: PayoutScheduleTrigger,
): Promise<PayoutSchedule> {
  const before = await findPayoutSchedule(tx, id);
  if (before === null) throw notFound();
  const isResumed = trigger === 'resume' && before.status === 'paused';
  if (isResumed) await requireRoom(tx, caller, { ...before, rowCount: before.payouts.length });
  const nextRunAt = isResumed ? firstRun(before, await databaseTime(tx)) : null;
  const isChanged = await changePayoutSchedule(tx, id, trigger, nextRunAt);
  const schedule = await getOwn(tx, caller, id);
  if (!isChanged && schedule.status !== STATUS_AFTER[trigger]) throw ended(schedule);
  return schedule;
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

/** A schedule of another account or mode gets the same error as one that does not exist. */
async function getOwn(
  db: Reader,
  { accountId, mode }: Caller,
  id: string,
): Promise<PayoutSchedule> {
  const schedule = await findPayoutSchedule(db, id);
  if (schedule?.accountId === accountId && schedule.mode === mode) return schedule;
  throw notFound();
}

function notFound(): ApiError {
  return new ApiError({ code: 'not_found', details: { resource: 'payout_schedule' } });
}

function referenceIsUsed(existingId: string): ApiError {
  return new ApiError(duplicateReference('payout_schedule', existingId));
}

function ended({ status }: PayoutSchedule): ApiError {
  const message = 'This schedule has ended. Make a new one.';
  return new ApiError({ code: 'invalid_state', details: { status }, message });
}
