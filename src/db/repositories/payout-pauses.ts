/**
 * Pauses of payouts (decisions/payout-pauses). Every submission begins with `beginSubmission`, the only
 * place that lets one through, so no caller can forget the pauses or the screening.
 */
import { raw } from 'objection';
import type { Mode } from '../../domain/mode';
import type { Payout } from '../../domain/payout';
import { PayoutModel } from '../models';
import { lockByName, shareLockByName, type Db, type Tx } from '../transaction';
import { AWAITS_SCREENING_DECISION, IS_SCREENED, WAS_HELD } from './screening';

const LOCK = 'payout_pauses';

/** SQL over a row of payouts: the pauses that hold it. */
const PAUSES_OF_PAYOUT = `SELECT x.reason FROM payout_pauses x
  WHERE (x.scope, x.target) IN
        (('global', ''), ('provider', payouts.provider), ('account', payouts.account_id))
    AND (x.mode IS NULL OR x.mode = payouts.mode) ORDER BY x.id`;

/**
 * - `begun`: the payout may be submitted to its provider now. `wasHeld`: its screening held it before.
 * - `held`: a pause holds it. Its workflow is woken when the pauses are lifted.
 * - `unscreened`: a source has not cleared its destination, or too long ago (decisions/screening).
 * - `not_approved`: it has another status.
 */
export type Submission =
  | { kind: 'begun'; payout: Payout; wasHeld: boolean }
  | { kind: 'held'; reason: string }
  | { kind: 'unscreened'; payout: Payout }
  | { kind: 'not_approved' };

/**
 * Begins a submission. It must be called right before each submission to the provider, first or
 * repeated.
 */
export async function beginSubmission(db: Db, id: string): Promise<Submission> {
  const [begun] = await db.prepared<Payout & { wasHeld: boolean }>(
    `UPDATE payouts
        SET submission_started_at = coalesce(submission_started_at, clock_timestamp()),
            wake_after = NULL
      WHERE id = ? AND status = 'approved' AND ${IS_SCREENED}
        AND NOT EXISTS (${PAUSES_OF_PAYOUT}) RETURNING *, ${WAS_HELD} AS was_held`,
    [id],
  );
  if (begun !== undefined) return { kind: 'begun', payout: begun, wasHeld: begun.wasHeld };
  const [payout] = await db.query<Payout & { isScreened: boolean }>(
    `SELECT *, ${IS_SCREENED} AS is_screened FROM payouts WHERE id = ?`,
    [id],
  );
  if (payout?.status !== 'approved') return { kind: 'not_approved' };
  if (!payout.isScreened) return { kind: 'unscreened', payout };
  const reason = await db.transaction((tx) => hold(tx, payout));
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
  const [held] = await tx.query<{ reason: string }>(
    `UPDATE payouts SET wake_after = clock_timestamp()
      WHERE id = ? AND status = 'approved' AND EXISTS (${PAUSES_OF_PAYOUT})
     RETURNING (${PAUSES_OF_PAYOUT} LIMIT 1) AS reason`,
    [id],
  );
  return held?.reason ?? null;
}

/** A payout whose wake-up was lost is woken again after this time. */
const WAKE_AGAIN_MINUTES = 1;

/** Takes payouts that were held and that nothing holds any more, the longest held first. */
export async function takeReleasedPayouts(db: Db, limit: number): Promise<Payout[]> {
  const released = PayoutModel.query()
    .whereIn(
      'id',
      raw(
        `SELECT id FROM payouts
          WHERE wake_after <= clock_timestamp() AND status = 'approved'
            AND NOT EXISTS (${PAUSES_OF_PAYOUT}) AND NOT ${AWAITS_SCREENING_DECISION}
          ORDER BY wake_after LIMIT ? FOR UPDATE SKIP LOCKED`,
        [limit],
      ),
    )
    .patch({
      wakeAfter: raw(`clock_timestamp() + interval '${WAKE_AGAIN_MINUTES} minutes'`),
    })
    .returning('*');
  return db.query<Payout>(released.toKnexQuery());
}

/**
 * The payouts that a pause holds: all, or those of one provider or one account; in one mode or in both.
 */
export interface PauseScope {
  scope: 'global' | 'provider' | 'account';
  /** The provider's code or the account's id; '' for all payouts. */
  target: string;
  /** The mode; null: both. */
  mode: Mode | null;
}

/** A pause. Several can hold one scope, and each is lifted by its id. */
export interface Pause extends PauseScope {
  id: string;
  reason: string;
  /**
   * The author; null if the pause is older than this column and its author is not in the audit log.
   */
  createdBy: string | null;
  createdAt: Date;
}

const COLUMNS = 'id::text AS id, scope, target, mode, reason, created_by, created_at';

/** @returns null when the same person has paused the same for the same reason already */
export async function insertPause(
  tx: Tx,
  { scope, target, mode, reason, createdBy }: PauseScope & { reason: string; createdBy: string },
): Promise<Pause | null> {
  const [pause] = await tx.query<Pause>(
    `INSERT INTO payout_pauses (scope, target, mode, reason, created_by) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT ON CONSTRAINT payout_pauses_once DO NOTHING RETURNING ${COLUMNS}`,
    [scope, target, mode, reason, createdBy],
  );
  return pause ?? null;
}

/** @returns null when there is none with this id, or another request has lifted it */
export async function deletePause(tx: Tx, id: string): Promise<Pause | null> {
  const [found] = await tx.query<PauseScope>(
    'SELECT scope, target FROM payout_pauses WHERE id::text = ?',
    [id],
  );
  if (found === undefined) return null;
  // The lock orders this with the payouts that the pause holds: each is noted as held before this
  // transaction, or is submitted after it.
  await lockByName(tx, LOCK, found.scope, found.target);
  const sql = `DELETE FROM payout_pauses WHERE id::text = ? RETURNING ${COLUMNS}`;
  const [pause] = await tx.query<Pause>(sql, [id]);
  return pause ?? null;
}

/** The pauses, oldest first. @param limit null: all */
export async function listPauses(db: Db, limit: number | null = null): Promise<Pause[]> {
  const sql = `SELECT ${COLUMNS} FROM payout_pauses ORDER BY id LIMIT ?`;
  return db.query<Pause>(sql, [limit]);
}
