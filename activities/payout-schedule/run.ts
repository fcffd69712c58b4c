/**
 * A run of a schedule: a dry run of its rows, and then the start of the batch, whose reservation decides.
 * What cannot be paid in full is noted with an event, and pays nothing. Safe to run twice: a time of a
 * schedule has one row, with the id of its batch.
 */
import { appendEvent, type EventTx } from '../../src/db/webhooks/events';
import { databaseTime } from '../../src/db/database-time';
import {
  endScheduleRun,
  findScheduleRun,
  lockRunOfBatch,
  type RunWithRoute,
  saveRunRoutes,
} from '../../src/db/payout-schedules/payout-schedule-runs';
import {
  findRunShortage,
  getPayoutSchedule,
  lockPayoutSchedule,
} from '../../src/db/payout-schedules/payout-schedules';
import type { ClaimedRoutes, HeldClaim } from '../../src/db/idempotency';
import { findRequesterFault } from '../../src/db/api-keys/requesters';
import type { Tx } from '../../src/db/transaction';
import { type BatchTerms, type RoutedRow, rowsRefused } from '../../src/domain/batch-terms';
import { ApiError, type Refusal } from '../../src/domain/errors';
import type { PayoutOrder } from '../../src/domain/payout';
import type { PayoutBatchRequest } from '../../src/domain/payout-batch';
import { insufficientBalance } from '../../src/domain/terms';
import {
  type PayoutSchedule,
  type PayoutScheduleRun,
  RUN_LATE_MS_MAX,
  runRequest,
} from '../../src/domain/payout-schedule';
import type { PayoutBatchWorkflows } from '../../src/temporal/payout-batch-workflows';
import type { ScheduleRunWorkflows } from '../../src/temporal/schedule-run-workflows';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayoutSchedule } from '../events';
import { Refused } from '../refused';

/** The check of rows that a request for a batch makes (features/payout-batches). */
export type CheckRows = (
  requester: { accountId: string; mode: PayoutSchedule['mode']; apiKeyId: string },
  rows: readonly PayoutOrder[],
) => Promise<Pick<BatchTerms, 'faults' | 'shortage'> & { routed: RoutedRow[] }>;

export interface ScheduleDeps extends Deps {
  checkRows: CheckRows;
  scheduleRunWorkflows: ScheduleRunWorkflows;
  payoutBatchWorkflows: Pick<PayoutBatchWorkflows, 'ensureRunning'>;
}

/** A provider that has not told its fee in this time makes the run fail. */
const GIVE_UP_MS = 3_600_000;

/** @returns the batch, or why there is none: for the history of the workflow */
export async function runPayoutSchedule(
  deps: ScheduleDeps,
  scheduleId: string,
  scheduledFor: Date,
): Promise<string> {
  const run = await findScheduleRun(deps.db, scheduleId, scheduledFor);
  // A message to Temporal must not make a schedule pay at another time.
  if (run === null) return 'the schedule has no run of this time';
  if (run.status !== 'pending') return run.batchId;
  const schedule = await getPayoutSchedule(deps.db, scheduleId);
  const refusal = await prepare(deps, schedule, run, await databaseTime(deps.db));
  if (refusal === null) {
    const rowCount = schedule.payouts.length;
    await deps.payoutBatchWorkflows.ensureRunning({ ...schedule, id: run.batchId, rowCount });
  } else await failRun(deps, run, refusal);
  return run.batchId;
}

/** @returns why nothing is paid; null if the routes are stored */
async function prepare(
  deps: ScheduleDeps,
  schedule: PayoutSchedule,
  run: PayoutScheduleRun,
  now: Date,
): Promise<Refusal | null> {
  const fault = dueFault(schedule, run, now) ?? (await findRequesterFault(deps.db, schedule));
  if (fault !== null) return fault;
  // A balance that no row can change is read before five hundred rows are.
  const short = await findRunShortage(deps.db, schedule);
  if (short !== null) return insufficientBalance(short.currency, short.available, short.amount);
  try {
    const { payouts } = runRequest(schedule, run.scheduledFor);
    const { faults, shortage, routed } = await deps.checkRows(schedule, payouts);
    if (faults.length > 0) return refusedRows(faults);
    if (shortage !== null) return shortage;
    await saveRunRoutes(deps.db, run.id, { rows: routed.map(({ route }) => route) });
    return null;
  } catch (error) {
    const isOver = now.getTime() - run.createdAt.getTime() > GIVE_UP_MS;
    if (error instanceof ApiError && isOver) return error.refusal;
    throw error;
  }
}

/** The reason why the run may not be paid now, whatever its rows are; null if there is none. */
function dueFault(
  schedule: PayoutSchedule,
  { scheduledFor }: PayoutScheduleRun,
  now: Date,
): Refusal | null {
  if (schedule.status !== 'active') return notActive(schedule);
  return now.getTime() - scheduledFor.getTime() > RUN_LATE_MS_MAX ? tooLate() : null;
}

function refusedRows(faults: BatchTerms['faults']): Refusal {
  const message =
    'Some rows were refused, and nothing of this run was paid. See details.rows. The next run comes at its time.';
  return { ...rowsRefused(faults), message };
}

function notActive({ status }: PayoutSchedule): Refusal {
  const message = `The schedule was ${status} before the run was created, and nothing of it was paid.`;
  return { code: 'invalid_state', details: { status }, message };
}

export function tooLate(): Refusal {
  const details = { reason: 'workflow_engine_unavailable' } as const;
  const message =
    'The run could not be started within 24 hours of its time, and nothing of it was paid. Later times that are ' +
    'as late have no run of their own.';
  return { code: 'service_unavailable', message, details };
}

async function failRun(deps: Deps, run: PayoutScheduleRun, refusal: Refusal): Promise<void> {
  await inEventTransaction(deps, run.scheduleId, (tx) => noteRun(tx, run, refusal));
}

export async function noteRun(
  tx: EventTx,
  run: PayoutScheduleRun,
  failure: Refusal | null,
): Promise<void> {
  const schedule = await endScheduleRun(tx, run, failure);
  if (schedule === null) return;
  const type = failure === null ? 'payout_schedule.run_created' : 'payout_schedule.run_failed';
  appendEvent(tx, eventOfPayoutSchedule(type, schedule));
}

export interface ScheduledBatch {
  run: RunWithRoute;
  schedule: PayoutSchedule;
  claim: HeldClaim<PayoutBatchRequest, ClaimedRoutes>;
}

/** What a reservation needs of a run, in place of a request's claim; null if the batch is not of a run. */
export async function claimOfRun(tx: Tx, batchId: string): Promise<ScheduledBatch | null> {
  const run = await lockRunOfBatch(tx, batchId);
  if (run === null || run.route === null) return null;
  const schedule = await lockPayoutSchedule(tx, run.scheduleId);
  const { accountId, mode, apiKeyId } = schedule;
  const request = runRequest(schedule, run.scheduledFor);
  return { run, schedule, claim: { accountId, mode, apiKeyId, request, route: run.route } };
}

/** The reservation may come long after the run was opened, so it asks again. @throws Refused */
export async function requireDueRun(tx: Tx, { schedule, run }: ScheduledBatch): Promise<void> {
  const fault = dueFault(schedule, run, await databaseTime(tx));
  if (fault !== null) throw new Refused(fault);
}

/** The approval of a schedule is one of each of its batches. @throws Refused */
export function requireScheduleApproval({ awaitsSecondPerson, status }: PayoutSchedule): void {
  if (!awaitsSecondPerson) return;
  const message =
    'The schedule waits for a second person, and nothing of this run was paid. The next run comes at its time.';
  throw new Refused({ code: 'invalid_state', details: { status }, message });
}

/** The reservation of the run's batch was refused. */
export async function failRunOfBatch(deps: Deps, batchId: string, refusal: Refusal): Promise<void> {
  await inEventTransaction(deps, batchId, async (tx) => {
    const run = await lockRunOfBatch(tx, batchId);
    if (run !== null) await noteRun(tx, run, refusal);
  });
}
