/**
 * Pauses of payouts (decision O11). Every submission begins with `beginSubmission`, the only place
 * that lets one through, so no caller can forget the pauses.
 */
import type { Payout } from '../../domain/payout';
import { PayoutModel } from '../models';
import {
  inTransaction,
  lockByName,
  preparedRows,
  rows,
  shareLockByName,
  type Db,
  type Tx,
} from '../transaction';
import { findPayout } from './payouts';

const LOCK = 'payout_pauses';

/** SQL over a row of payouts: the pauses that hold it. */
const PAUSES_OF_PAYOUT = `SELECT x.reason FROM payout_pauses x
  WHERE (x.scope, x.target) IN
        (('global', ''), ('provider', payouts.provider), ('account', payouts.account_id))`;

/**
 * - `begun`: the payout may be submitted to its provider now.
 * - `held`: a pause holds it. Its workflow is woken when the pauses are lifted.
 * - `not_approved`: it has another status.
 */
export type Submission =
  { kind: 'begun'; payout: Payout } | { kind: 'held'; reason: string } | { kind: 'not_approved' };

/** Call it right before each submission to the provider, first or repeated. */
export async function beginSubmission(db: Db, id: string): Promise<Submission> {
  const [begun] = await preparedRows<Payout>(
    db,
    `UPDATE payouts
        SET submission_started_at = coalesce(submission_started_at, clock_timestamp()),
            wake_after = NULL
      WHERE id = ? AND status = 'approved' AND NOT EXISTS (${PAUSES_OF_PAYOUT}) RETURNING *`,
    [id],
  );
  if (begun !== undefined) return { kind: 'begun', payout: begun };
  const payout = await findPayout(db, id);
  if (payout?.status !== 'approved') return { kind: 'not_approved' };
  const reason = await inTransaction(db, (tx) => hold(tx, payout));
  return reason === null ? beginSubmission(db, id) : { kind: 'held', reason };
}

/** @returns the reason of the pause; null when it was lifted in the meantime */
async function hold(tx: Tx, { id, provider, accountId }: Payout): Promise<string | null> {
  const scopes = [
    ['account', accountId],
    ['global', ''],
    ['provider', provider],
  ] as const;
  // A resume that commits from here on finds this payout among the held ones.
  for (const scope of scopes) await shareLockByName(tx, LOCK, ...scope);
  const [held] = await rows<{ reason: string }>(
    tx,
    `UPDATE payouts SET wake_after = clock_timestamp()
      WHERE id = ? AND status = 'approved' AND EXISTS (${PAUSES_OF_PAYOUT})
     RETURNING (${PAUSES_OF_PAYOUT} LIMIT 1) AS reason`,
    [id],
  );
  return held?.reason ?? null;
}

/** A payout whose wake-up was lost is woken again after this time. */
const WAKE_AGAIN_MINUTES = 1;

/** Takes payouts that were held and that no pause holds any more, the longest held first. */
export async function takeReleasedPayouts(db: Db, limit: number): Promise<Payout[]> {
  return PayoutModel.query(db)
    .whereIn(
      'id',
      db.raw(
        `SELECT id FROM payouts
          WHERE wake_after <= clock_timestamp() AND status = 'approved'
            AND NOT EXISTS (${PAUSES_OF_PAYOUT})
          ORDER BY wake_after LIMIT ? FOR UPDATE SKIP LOCKED`,
        [limit],
      ),
    )
    .patch({
      wakeAfter: db.raw(`clock_timestamp() + interval '${WAKE_AGAIN_MINUTES} minutes'`),
    })
    .returning('*');
}

/** What is paused: all payouts, one provider or one account. */
export interface PauseScope {
  scope: 'global' | 'provider' | 'account';
  /** The provider's code or the account's id; '' for all payouts. */
  target: string;
}

export interface Pause extends PauseScope {
  reason: string;
  createdAt: Date;
}

const COLUMNS = 'scope, target, reason, created_at';

/** Locks the scope for the rest of the transaction, paused or not. */
export async function lockPause(tx: Tx, { scope, target }: PauseScope): Promise<Pause | null> {
  await lockByName(tx, LOCK, scope, target);
  const sql = `SELECT ${COLUMNS} FROM payout_pauses WHERE scope = ? AND target = ?`;
  const [pause] = await rows<Pause>(tx, sql, [scope, target]);
  return pause ?? null;
}

export async function insertPause(
  tx: Tx,
  { scope, target, reason }: Omit<Pause, 'createdAt'>,
): Promise<Pause> {
  const [pause] = await rows<Pause>(
    tx,
    `INSERT INTO payout_pauses (scope, target, reason) VALUES (?, ?, ?) RETURNING ${COLUMNS}`,
    [scope, target, reason],
  );
  if (pause === undefined) throw new Error('the pause was not inserted');
  return pause;
}

export async function deletePause(tx: Tx, { scope, target }: PauseScope): Promise<void> {
  await rows(tx, 'DELETE FROM payout_pauses WHERE scope = ? AND target = ?', [scope, target]);
}

/** Oldest first. @param limit null: all */
export async function listPauses(db: Db, limit: number | null = null): Promise<Pause[]> {
  const sql = `SELECT ${COLUMNS} FROM payout_pauses ORDER BY created_at, scope, target LIMIT ?`;
  return rows<Pause>(db, sql, [limit]);
}
