/**
 * The pause of a whole chain: no block is read, nothing is signed or broadcast. The row decides and
 * not the workflow, so that a pause holds over restarts, for every process, and without Temporal.
 */
import type { Db } from '../db/database';

export interface Pause {
  by: string;
  reason: string;
  /** Differs from that of another pause. */
  at: string;
}

export async function findPause(db: Db, chainId: number): Promise<Pause | null> {
  const [row] = await db.query<{ paused_by: string; reason: string; paused_at: Date }>(
    `SELECT paused_by, reason, paused_at FROM wallet.pause
     WHERE chain_id = $1 AND stops = 'chain'`,
    [chainId],
  );
  if (row === undefined) return null;
  return { by: row.paused_by, reason: row.reason, at: row.paused_at.toISOString() };
}

/** The follower's row too, where it guards the transaction of a step that is under way. */
export async function pauseWholeChain(
  db: Db,
  chainId: number,
  { by, reason }: Pick<Pause, 'by' | 'reason'>,
): Promise<void> {
  await db.query(
    `WITH followed AS (
       UPDATE wallet.followed_chain SET paused_reason = $3 WHERE chain_id = $1)
     INSERT INTO wallet.pause (chain_id, stops, paused_by, reason) VALUES ($1, 'chain', $2, $3)
     ON CONFLICT (chain_id, stops) DO UPDATE
       SET paused_by = excluded.paused_by, reason = excluded.reason,
         paused_at = excluded.paused_at`,
    [chainId, by, reason],
  );
}

/** @returns whether it was paused */
export async function resumeWholeChain(db: Db, chainId: number): Promise<boolean> {
  const resumed = await db.query(
    `WITH followed AS (
       UPDATE wallet.followed_chain SET paused_reason = NULL WHERE chain_id = $1)
     DELETE FROM wallet.pause WHERE chain_id = $1 AND stops = 'chain' RETURNING 1`,
    [chainId],
  );
  return resumed.length > 0;
}
