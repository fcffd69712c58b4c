/** Pauses of payouts (decision O11). */
import { lockByName, rows, type Db, type Tx } from '../transaction';

/** The reason of the pause of this account's payouts through this provider; null if not paused. */
export async function findPauseReason(
  db: Db,
  provider: string,
  accountId: string,
): Promise<string | null> {
  const [pause] = await rows<{ reason: string }>(
    db,
    `SELECT reason FROM payout_pauses
      WHERE (scope, target) IN (('global', ''), ('provider', ?), ('account', ?)) LIMIT 1`,
    [provider, accountId],
  );
  return pause?.reason ?? null;
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
  await lockByName(tx, 'payout_pauses', scope, target);
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

export async function listPauses(db: Db): Promise<Pause[]> {
  return rows<Pause>(db, `SELECT ${COLUMNS} FROM payout_pauses ORDER BY created_at, scope, target`);
}
