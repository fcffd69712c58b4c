/** Pauses of payouts (decisions/controls#payout-pauses). */
import type { Mode, Owner } from '../../domain/mode';
import type { Payment } from '../../domain/payment';
import { lockByName, type Db, type Tx } from '../transaction';

/** The name of the lock that orders pauses and submissions. */
export const PAUSE_LOCK = 'payout_pauses';

/** SQL over a row of payouts: the pauses that hold it. */
export const PAUSES_OF_PAYOUT = `SELECT x.reason FROM payout_pauses x
  WHERE (x.scope, x.target) IN
        (('global', ''), ('provider', payouts.provider), ('account', payouts.account_id))
    AND (x.mode IS NULL OR x.mode = payouts.mode) ORDER BY x.id`;

/** The reason of a pause that holds the refunds of a payment, or null. */
export async function findPause(
  db: Db,
  { provider, accountId, mode }: Owner & Pick<Payment, 'provider'>,
): Promise<string | null> {
  const [found] = await db.query<{ reason: string }>(
    `SELECT x.reason FROM payout_pauses x
      WHERE (x.scope, x.target) IN (('global', ''), ('provider', ?), ('account', ?))
        AND (x.mode IS NULL OR x.mode = ?) ORDER BY x.id LIMIT 1`,
    [provider, accountId, mode],
  );
  return found?.reason ?? null;
}

/**
 * The payouts that a pause holds: all, or those of one provider or one account; in one mode or in both.
 */
export interface PauseScope {
  scope: 'global' | 'provider' | 'account';
  /** The provider's code or the account's id; '' for all payouts. */
  target: string;
  /** The mode; null means both. */
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
  await lockByName(tx, PAUSE_LOCK, found.scope, found.target);
  const sql = `DELETE FROM payout_pauses WHERE id::text = ? RETURNING ${COLUMNS}`;
  const [pause] = await tx.query<Pause>(sql, [id]);
  return pause ?? null;
}

/** The pauses, oldest first. @param limit null means all */
export async function listPauses(db: Db, limit: number | null = null): Promise<Pause[]> {
  const sql = `SELECT ${COLUMNS} FROM payout_pauses ORDER BY id LIMIT ?`;
  return db.query<Pause>(sql, [limit]);
}
