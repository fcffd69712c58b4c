/** Schedules of payouts and their runs: reads and guarded changes (decisions/payout-schedules). */
import type { Refusal } from '../../domain/errors';
import type { Mode } from '../../domain/mode';
import {
  type PayoutSchedule,
  type PayoutScheduleRun,
  type PayoutScheduleTrigger,
  scheduleStatusesBefore,
  STATUS_AFTER,
} from '../../domain/payout-schedule';
import { APPROVER_ROLES } from '../../domain/users';
import type { ClaimedRoute } from './idempotency';
import { exactTime, type ListPage, pageOf } from './lists';
import { MissingRow, sqlList, type Db, type Reader, type Tx } from '../transaction';

const RUN = `jsonb_build_object('id', r.id, 'scheduleId', r.schedule_id, 'scheduledFor',
  r.scheduled_for, 'status', r.status, 'batchId', r.batch_id, 'failure', r.failure,
  'createdAt', r.created_at, 'endedAt', r.ended_at)`;
const SELECT = `SELECT s.*, (SELECT ${RUN} FROM payout_schedule_runs r WHERE r.id = s.last_run_id)
  AS last_run, schedule_awaits_second_person(s.id, '{${APPROVER_ROLES.join(',')}}')
  AS awaits_second_person FROM payout_schedules s`;

/** JSON has no times. */
function withTimes<T extends PayoutSchedule>(schedule: T): T {
  const { lastRun } = schedule;
  if (lastRun === null) return schedule;
  const { scheduledFor, createdAt, endedAt } = lastRun;
  const times = {
    scheduledFor: new Date(scheduledFor),
    createdAt: new Date(createdAt),
    endedAt: endedAt === null ? null : new Date(endedAt),
  };
  return { ...schedule, lastRun: { ...lastRun, ...times } };
}

export async function findPayoutSchedule(db: Reader, id: string): Promise<PayoutSchedule | null> {
  const [found] = await db.query<PayoutSchedule>(`${SELECT} WHERE s.id = ?`, [id]);
  return found === undefined ? null : withTimes(found);
}

/** @throws MissingRow */
export async function lockPayoutSchedule(tx: Tx, id: string): Promise<PayoutSchedule> {
  const sql = `${SELECT} WHERE s.id = ? FOR NO KEY UPDATE OF s`;
  const [found] = await tx.query<PayoutSchedule>(sql, [id]);
  if (found === undefined) throw new MissingRow(id);
  return withTimes(found);
}

export async function findScheduleByReference(
  db: Reader,
  { accountId, mode, reference }: { accountId: string; mode: Mode; reference: string },
): Promise<string | null> {
  const [found] = await db.query<{ id: string }>(
    'SELECT id FROM payout_schedules WHERE account_id = ? AND mode = ? AND reference = ?',
    [accountId, mode, reference],
  );
  return found?.id ?? null;
}

export type NewPayoutSchedule = Pick<
  PayoutSchedule,
  | 'id'
  | 'accountId'
  | 'mode'
  | 'reference'
  | 'description'
  | 'cron'
  | 'timeZone'
  | 'intervalSeconds'
  | 'endAt'
  | 'payouts'
  | 'totals'
  | 'apiKeyId'
> & { startAt: Date | null };

/** @returns null, and nothing is written, when the reference is already used */
export async function insertPayoutSchedule(
  tx: Tx,
  schedule: NewPayoutSchedule,
): Promise<PayoutSchedule | null> {
  const inserted = await tx.query(
    `INSERT INTO payout_schedules (id, account_id, mode, reference, description, cron, time_zone,
                                   interval_seconds, start_at, end_at, payouts, totals, api_key_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?,
             date_trunc('second', coalesce(?::timestamptz, clock_timestamp())), ?, ?::jsonb,
             ?::jsonb, ?)
     ON CONFLICT (account_id, mode, reference) DO NOTHING RETURNING id`,
    [
      schedule.id,
      schedule.accountId,
      schedule.mode,
      schedule.reference,
      schedule.description,
      schedule.cron,
      schedule.timeZone,
      schedule.intervalSeconds,
      schedule.startAt,
      schedule.endAt,
      JSON.stringify(schedule.payouts),
      JSON.stringify(schedule.totals),
      schedule.apiKeyId,
    ],
  );
  return inserted.length === 0 ? null : findPayoutSchedule(tx, schedule.id);
}

/** @returns whether the status allowed it */
export async function changePayoutSchedule(
  db: Db | Tx,
  id: string,
  trigger: PayoutScheduleTrigger,
): Promise<boolean> {
  const changed = await db.query(
    `UPDATE payout_schedules
        SET status = ?, sequence = sequence + 1, updated_at = clock_timestamp(),
            next_run_at = NULL,
            ended_at = CASE WHEN ? THEN clock_timestamp() END
      WHERE id = ? AND status IN (${sqlList(scheduleStatusesBefore(trigger))}) RETURNING id`,
    [STATUS_AFTER[trigger], trigger === 'end', id],
  );
  return changed.length > 0;
}

/** Notes that Temporal follows the schedule as it was at this sequence. */
export async function noteFollowed(
  db: Db,
  { id, sequence }: PayoutSchedule,
  nextRunAt: Date | null,
): Promise<void> {
  await db.query(
    `UPDATE payout_schedules SET followed_sequence = ?, next_run_at = ?
      WHERE id = ? AND sequence = ?`,
    [sequence, nextRunAt, id, sequence],
  );
}

export async function noteNextRunAt(db: Db, id: string, nextRunAt: Date | null): Promise<void> {
  const sql = "UPDATE payout_schedules SET next_run_at = ? WHERE id = ? AND status = 'active'";
  await db.query(sql, [nextRunAt, id]);
}

/** A change that nobody has told Temporal waits this long; a schedule that is told, longer. */
const UNTOLD_AFTER = "interval '10 seconds'";
const CHECK_EVERY = "interval '5 minutes'";

/** Takes the schedules that Temporal may not follow, the least recently checked first. */
export async function takeUncheckedSchedules(db: Db, limit: number): Promise<PayoutSchedule[]> {
  const taken = await db.query<{ id: string }>(
    `UPDATE payout_schedules SET workflow_checked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM payout_schedules
         WHERE (status <> 'ended' OR followed_sequence IS DISTINCT FROM sequence)
           AND workflow_checked_at < now() - CASE
                 WHEN followed_sequence IS DISTINCT FROM sequence OR end_at < now()
                 THEN ${UNTOLD_AFTER} ELSE ${CHECK_EVERY} END
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [limit],
  );
  const ids = taken.map(({ id }) => id);
  const found = await db.query<PayoutSchedule>(`${SELECT} WHERE s.id = ANY (?::text[])`, [ids]);
  return found.map(withTimes);
}

export interface ScheduleListQuery {
  accountId: string;
  mode: Mode;
  limit: number;
  after: { createdAt: string; id: string } | null;
}

export async function listPayoutSchedules(
  db: Reader,
  { accountId, mode, limit, after }: ScheduleListQuery,
): Promise<ListPage<PayoutSchedule>> {
  const found = await db.query<PayoutSchedule & { position: string }>(
    `SELECT listed.*, ${exactTime('listed.created_at')} AS position FROM (${SELECT}) listed
      WHERE account_id = ? AND mode = ?
        ${after === null ? '' : 'AND (created_at, id) < (?, ?)'}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [accountId, mode, ...(after === null ? [] : [after.createdAt, after.id]), limit + 1],
  );
  return pageOf(found.map(withTimes), limit);
}

/** Of all accounts, newest first. @param open without those that have ended */
export async function listAllSchedules(
  db: Reader,
  open: boolean,
  limit: number,
): Promise<PayoutSchedule[]> {
  const found = await db.query<PayoutSchedule>(
    `${SELECT} ${open ? "WHERE s.status <> 'ended'" : ''}
      ORDER BY s.created_at DESC, s.id DESC LIMIT ?`,
    [limit],
  );
  return found.map(withTimes);
}

export async function listScheduleRuns(
  db: Reader,
  scheduleId: string,
  { limit, after }: Pick<ScheduleListQuery, 'limit' | 'after'>,
): Promise<ListPage<PayoutScheduleRun>> {
  const found = await db.query<PayoutScheduleRun & { position: string }>(
    `SELECT *, ${exactTime('created_at')} AS position FROM payout_schedule_runs
      WHERE schedule_id = ? ${after === null ? '' : 'AND (created_at, id) < (?, ?)'}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [scheduleId, ...(after === null ? [] : [after.createdAt, after.id]), limit + 1],
  );
  return pageOf(found, limit);
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
        SET status = ?, failure = ?::jsonb, ended_at = clock_timestamp()
      WHERE id = ? AND status = 'pending' RETURNING id`,
    [
      failure === null ? 'created' : 'failed',
      failure === null ? null : JSON.stringify(failure),
      run.id,
    ],
  );
  if (ended.length === 0) return null;
  // Temporal does not depend on the runs, so it follows what it has followed.
  await tx.query(
    `UPDATE payout_schedules
        SET last_run_id = ?, sequence = sequence + 1, updated_at = clock_timestamp(),
            followed_sequence = CASE WHEN followed_sequence = sequence THEN sequence + 1 END
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
