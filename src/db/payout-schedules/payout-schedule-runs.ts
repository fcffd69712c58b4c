/** The runs of schedules of payouts (decisions/payouts#payout-schedules). */
import type { Refusal } from '../../domain/errors';
import type { PayoutSchedule, PayoutScheduleRun } from '../../domain/payout-schedule';
import type { ClaimedRoute } from '../idempotency';
import { type ListPage, newestFirst, type Page } from '../lists';
import type { ReadRows } from '../models';
import { lockPayoutSchedule } from './payout-schedules';
import { MissingRow, type Db, type Reader, type Tx } from '../transaction';

const RUNS: ReadRows<PayoutScheduleRun> = { tableName: 'payout_schedule_runs', read: '*' };

export function listScheduleRuns(
  db: Reader,
  scheduleId: string,
  page: Page,
): Promise<ListPage<PayoutScheduleRun>> {
  return newestFirst(db, RUNS, page, [['schedule_id = ?', scheduleId]]);
}

/** The run of this time: a second start of it gets the first one. */
export async function openScheduleRun(
  tx: Tx,
  run: Pick<PayoutScheduleRun, 'id' | 'scheduleId' | 'scheduledFor' | 'batchId'>,
): Promise<PayoutScheduleRun> {
  const values = [run.id, run.scheduleId, run.scheduledFor, run.batchId];
  await tx.query(
    `INSERT INTO payout_schedule_runs (id, schedule_id, scheduled_for, batch_id)
     VALUES (?, ?, ?, ?) ON CONFLICT (schedule_id, scheduled_for) DO NOTHING`,
    values,
  );
  const found = await findScheduleRun(tx, run.scheduleId, run.scheduledFor);
  if (found === null) throw new MissingRow(run.id);
  return found;
}

export async function findScheduleRun(
  db: Reader,
  scheduleId: string,
  scheduledFor: Date,
): Promise<PayoutScheduleRun | null> {
  const [found] = await db.query<PayoutScheduleRun>(
    'SELECT * FROM payout_schedule_runs WHERE schedule_id = ? AND scheduled_for = ?',
    [scheduleId, scheduledFor],
  );
  return found ?? null;
}

/** Keeps the routes of the dry run for the reservation. */
export async function saveRunRoutes(
  db: Db,
  runId: string,
  route: { rows: readonly ClaimedRoute[] },
): Promise<void> {
  await db.query(
    `UPDATE payout_schedule_runs SET route = ?::jsonb WHERE id = ? AND status = 'pending'`,
    [JSON.stringify(route), runId],
  );
}

export type RunWithRoute = PayoutScheduleRun & { route: { rows: ClaimedRoute[] } | null };

/** The pending run that this batch belongs to, for the transaction that creates it; or null. */
export async function lockRunOfBatch(tx: Tx, batchId: string): Promise<RunWithRoute | null> {
  const [run] = await tx.query<RunWithRoute>(
    `SELECT * FROM payout_schedule_runs WHERE batch_id = ? AND status = 'pending' FOR UPDATE`,
    [batchId],
  );
  return run ?? null;
}

/** @returns the schedule after the run; null when the run had ended already */
export async function endScheduleRun(
  tx: Tx,
  run: Pick<PayoutScheduleRun, 'id' | 'scheduleId'>,
  failure: Refusal | null,
): Promise<PayoutSchedule | null> {
  const ended = await tx.query(
    `UPDATE payout_schedule_runs
        SET status = ?, failure = ?::jsonb, ended_at = clock_timestamp(), route = NULL
      WHERE id = ? AND status = 'pending' RETURNING id`,
    [
      failure === null ? 'created' : 'failed',
      failure === null ? null : JSON.stringify(failure),
      run.id,
    ],
  );
  if (ended.length === 0) return null;
  await tx.query(
    `UPDATE payout_schedules
        SET last_run_id = ?, sequence = sequence + 1, updated_at = clock_timestamp()
      WHERE id = ?`,
    [run.id, run.scheduleId],
  );
  return lockPayoutSchedule(tx, run.scheduleId);
}

/** Pending runs that were opened a while ago, whose workflow may be missing. */
export async function listPendingRuns(db: Db, limit: number): Promise<PayoutScheduleRun[]> {
  return db.query<PayoutScheduleRun>(
    `SELECT * FROM payout_schedule_runs
      WHERE status = 'pending' AND created_at < now() - interval '1 minute'
      ORDER BY created_at LIMIT ?`,
    [limit],
  );
}

/** A run of test mode is kept for a week, one of live mode for a year; the last one of a schedule stays. */
export async function deleteOldRuns(db: Db, limit: number): Promise<number> {
  const deleted = await db.query(
    `DELETE FROM payout_schedule_runs WHERE id IN (
       SELECT r.id FROM payout_schedule_runs r JOIN payout_schedules s ON s.id = r.schedule_id
        WHERE r.status <> 'pending' AND r.ended_at < now() - interval '7 days'
          AND (s.mode = 'test' OR r.ended_at < now() - interval '1 year')
          AND s.last_run_id IS DISTINCT FROM r.id
        ORDER BY r.ended_at LIMIT ? FOR UPDATE OF r SKIP LOCKED)
     RETURNING id`,
    [limit],
  );
  return deleted.length;
}
