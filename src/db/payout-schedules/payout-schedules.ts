/** Schedules of payouts: reads, guarded changes, and which are due (decisions/payouts#payout-schedules). */
import { raw } from 'objection';
import type { Mode, Owner } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import {
  firstRun,
  type PayoutSchedule,
  type PayoutScheduleTrigger,
  runsADay,
  scheduleStatusesBefore,
  STATUS_AFTER,
} from '../../domain/payout-schedule';
import { APPROVER_ROLES } from '../../domain/users';
import { type ListPage, newestFirst, ownedBy, type Page } from '../lists';
import { insertNewRow, type ReadRows, rowsOf } from '../models';
import { personOf } from '../approvals/second-person';
import { lockByName, MissingRow, sqlList, type Db, type Reader, type Tx } from '../transaction';

const RUN = `jsonb_build_object('id', r.id, 'scheduleId', r.schedule_id, 'scheduledFor',
  r.scheduled_for, 'status', r.status, 'batchId', r.batch_id, 'failure', r.failure,
  'createdAt', r.created_at, 'endedAt', r.ended_at)`;
const SELECT = `SELECT s.*, (SELECT ${RUN} FROM payout_schedule_runs r WHERE r.id = s.last_run_id)
  AS last_run, schedule_awaits_second_person(s.id, '{${APPROVER_ROLES.join(',')}}')
  AS awaits_second_person, ${personOf('s.api_key_id')} AS maker FROM payout_schedules s`;

/** Makes the times of a row from JSON, which has them as text, Date objects. */
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
export async function getPayoutSchedule(db: Reader, id: string): Promise<PayoutSchedule> {
  const found = await findPayoutSchedule(db, id);
  if (found === null) throw new MissingRow(id);
  return found;
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
  { accountId, mode, reference }: Owner & { reference: string },
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

/** For inserts, which need no more than the id. */
const Schedules = rowsOf<PayoutSchedule>('payout_schedules', {
  read: 'id',
  json: ['payouts', 'totals'],
  writes: `id, account_id, mode, reference, description, cron, time_zone, interval_seconds, runs_a_day,
    start_at, end_at, payouts, totals, api_key_id`,
});

/** @returns null, and nothing is written, when the reference is already used */
export async function insertPayoutSchedule(
  tx: Tx,
  schedule: NewPayoutSchedule,
): Promise<PayoutSchedule | null> {
  const inserted = await insertNewRow(tx, Schedules, ['account_id', 'mode', 'reference'], {
    ...schedule,
    runsADay: runsADay(schedule),
    startAt: raw("date_trunc('second', coalesce(?::timestamptz, clock_timestamp()))", [
      schedule.startAt,
    ]),
  });
  if (inserted === null) return null;
  const stored = await lockPayoutSchedule(tx, schedule.id);
  const nextRunAt = firstRun(stored, stored.createdAt);
  await setNextRun(tx, stored.id, nextRunAt);
  return { ...stored, nextRunAt };
}

/**
 * @param nextRunAt of a schedule that is resumed
 * @returns whether the status allowed it
 */
export async function changePayoutSchedule(
  db: Db | Tx,
  id: string,
  trigger: PayoutScheduleTrigger,
  nextRunAt: Date | null = null,
): Promise<boolean> {
  const changed = await db.query(
    `UPDATE payout_schedules
        SET status = ?, sequence = sequence + 1, updated_at = clock_timestamp(), next_run_at = ?,
            ended_at = CASE WHEN ? THEN clock_timestamp() END
      WHERE id = ? AND status IN (${sqlList(scheduleStatusesBefore(trigger))}) RETURNING id`,
    [STATUS_AFTER[trigger], nextRunAt, trigger === 'end', id],
  );
  return changed.length > 0;
}

export async function setNextRun(tx: Tx, id: string, nextRunAt: Date | null): Promise<void> {
  await tx.query('UPDATE payout_schedules SET next_run_at = ? WHERE id = ?', [nextRunAt, id]);
}

/** SQL over a row of payout_schedules, as the index has it: when there is something to do. */
const DUE_AT = `CASE status WHEN 'active' THEN coalesce(next_run_at, end_at, '-infinity') ELSE end_at END`;

/**
 * The schedules of a mode that are due, in turns by account. A schedule has one pending run at a time, so that
 * each run sees the balance that the one before leaves.
 * @param ofAccount the most pending runs of an account
 */
export async function listDueSchedules(
  db: Reader,
  { mode, limit, ofAccount }: { mode: Mode; limit: number; ofAccount: number },
): Promise<string[]> {
  const found = await db.query<{ id: string }>(
    `WITH pending AS MATERIALIZED (
       SELECT s.id, s.account_id FROM payout_schedule_runs r
         JOIN payout_schedules s ON s.id = r.schedule_id
        WHERE r.status = 'pending' AND s.mode = ?
     ), due AS (
       SELECT id, account_id, due_at,
              row_number() OVER (PARTITION BY account_id ORDER BY due_at, id)
                + (SELECT count(*) FROM pending p WHERE p.account_id = s.account_id) AS turn
         FROM (SELECT id, account_id, ${DUE_AT} AS due_at FROM payout_schedules
                WHERE status <> 'ended' AND ${DUE_AT} <= now() AND mode = ?) s
        WHERE id NOT IN (SELECT id FROM pending)
     )
     SELECT id FROM due WHERE turn <= ? ORDER BY turn, due_at, id LIMIT ?`,
    [mode, mode, ofAccount, limit],
  );
  return found.map(({ id }) => id);
}

/** When the next schedule is due; null if none is later. `isOverdue`: one is due now. */
export async function readNextDue(
  db: Reader,
): Promise<{ isOverdue: boolean; laterInMs: number | null }> {
  const [found] = await db.query<{ isOverdue: boolean; laterInMs: number | null }>(
    `SELECT EXISTS (SELECT FROM payout_schedules WHERE status <> 'ended' AND ${DUE_AT} <= now())
              AS is_overdue,
            (SELECT extract(epoch FROM ${DUE_AT} - clock_timestamp())::float8 * 1000
               FROM payout_schedules WHERE status <> 'ended' AND ${DUE_AT} > now()
              ORDER BY ${DUE_AT} LIMIT 1) AS later_in_ms`,
  );
  if (found === undefined) throw new Error('the query returned no row');
  return found;
}

/** The active schedules of the account in this mode. The lock puts requests of the account in order. */
export async function lockActiveSchedules(
  tx: Tx,
  accountId: string,
  mode: Mode,
): Promise<(Pick<PayoutSchedule, 'id' | 'cron' | 'intervalSeconds'> & { rowCount: number })[]> {
  await lockByName(tx, 'payout_schedules', accountId, mode);
  return tx.query(
    `SELECT id, cron, interval_seconds, jsonb_array_length(payouts) AS row_count
       FROM payout_schedules WHERE account_id = ? AND mode = ? AND status = 'active'`,
    [accountId, mode],
  );
}

/** The schedules that have not ended and have rows with these references. */
export async function findScheduledReferences(
  db: Reader,
  { accountId, mode }: Owner,
  references: readonly string[],
): Promise<Map<string, string>> {
  const found = await db.query<{ reference: string; id: string }>(
    `SELECT DISTINCT ON (row.reference) row.reference, s.id
       FROM payout_schedules s CROSS JOIN LATERAL
            jsonb_to_recordset(s.payouts) AS row (reference text)
      WHERE s.account_id = ? AND s.mode = ? AND s.status <> 'ended'
        AND row.reference = ANY (?::text[])
      ORDER BY row.reference, s.id`,
    [accountId, mode, references],
  );
  return new Map(found.map(({ reference, id }) => [reference, id]));
}

/** The currency of which the balance does not cover the rows of a run, before any fee. */
export async function findRunShortage(
  db: Reader,
  { id }: Pick<PayoutSchedule, 'id'>,
): Promise<{ currency: string; available: Amount; amount: Amount } | null> {
  const [found] = await db.query<{ currency: string; available: Amount; amount: Amount }>(
    `SELECT total.currency, coalesce(b.available, 0)::numeric(38,8) AS available,
            total.amount::numeric(38,8) AS amount
       FROM payout_schedules s
      CROSS JOIN LATERAL jsonb_to_recordset(s.totals) AS total (currency text, amount numeric)
       LEFT JOIN balances b ON b.account_id = s.account_id AND b.mode = s.mode
                           AND b.currency = total.currency
      WHERE s.id = ? AND coalesce(b.available, 0) < total.amount LIMIT 1`,
    [id],
  );
  return found ?? null;
}

export type ScheduleListQuery = Owner & Page;

export async function listPayoutSchedules(
  db: Reader,
  query: ScheduleListQuery,
): Promise<ListPage<PayoutSchedule>> {
  const listed: ReadRows<PayoutSchedule> = { tableName: `(${SELECT}) listed`, read: '*' };
  const { items, next } = await newestFirst(db, listed, query, [ownedBy(query)]);
  return { items: items.map(withTimes), next };
}

/** The schedules of all accounts, newest first. @param open leaves out those that have ended */
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
