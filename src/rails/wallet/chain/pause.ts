/**
 * The pauses of a chain: of its payouts (no transfer gets a nonce; what has one is still followed to its end) or of the
 * whole chain (nothing is signed, broadcast or read). It is a row, so that it holds over restarts and for every process.
 * Who decided it stays in wallet.decision.
 */
import type { Db } from '../db/database';

export interface Pause {
  by: string;
  reason: string;
  /** It differs from that of another pause. */
  at: string;
}

type Stops = 'payouts' | 'chain';

export async function findPause(db: Db, chainId: number): Promise<Pause | null> {
  const [row] = await db.query<{ paused_by: string; reason: string; paused_at: Date }>(
    `SELECT paused_by, reason, paused_at FROM wallet.pause
     WHERE chain_id = $1 AND stops = 'chain'`,
    [chainId],
  );
  if (row === undefined) return null;
  return { by: row.paused_by, reason: row.reason, at: row.paused_at.toISOString() };
}

/**
 * A pause of payouts still signs, broadcasts and replaces what has a nonce, because these nonces hold up the ones
 * after them: so what is in flight ends. A pause of the chain is in the follower's row too, where it guards the
 * transaction of a step that is under way. A repeated order is the same pause.
 */
export async function pause(
  db: Db,
  chainId: number,
  stops: Stops,
  { by, reason }: Pick<Pause, 'by' | 'reason'>,
): Promise<void> {
  await db.query(
    `WITH followed AS (
       UPDATE wallet.followed_chain SET paused_reason = $4
       WHERE chain_id = $1 AND $2::text = 'chain'),
     paused AS (
       INSERT INTO wallet.pause (chain_id, stops, paused_by, reason) VALUES ($1, $2, $3, $4)
       ON CONFLICT (chain_id, stops) DO UPDATE
         SET paused_by = excluded.paused_by, reason = excluded.reason,
           paused_at = excluded.paused_at
         WHERE (pause.paused_by, pause.reason) <> (excluded.paused_by, excluded.reason)
       RETURNING paused_at)
     INSERT INTO wallet.decision (chain_id, stops, kind, decided_by, reason, decided_at)
     SELECT $1, $2, 'pause', $3, $4, paused_at FROM paused`,
    [chainId, stops, by, reason],
  );
}

/** @returns whether it was paused */
export async function resume(
  db: Db,
  chainId: number,
  stops: Stops,
  by: string,
  reason: string | null = null,
): Promise<boolean> {
  const resumed = await db.query(
    `WITH followed AS (
       UPDATE wallet.followed_chain SET paused_reason = NULL
       WHERE chain_id = $1 AND $2::text = 'chain'),
     ended AS (DELETE FROM wallet.pause WHERE chain_id = $1 AND stops = $2 RETURNING 1)
     INSERT INTO wallet.decision (chain_id, stops, kind, decided_by, reason)
     SELECT $1, $2, 'resume', $3, $4 FROM ended RETURNING 1`,
    [chainId, stops, by, reason],
  );
  return resumed.length > 0;
}

/** Payouts are paused, or the whole chain is: no transfer may get a nonce. */
export async function isPaused(db: Db, chainId: number): Promise<boolean> {
  return (await db.query('SELECT 1 FROM wallet.pause WHERE chain_id = $1', [chainId])).length > 0;
}

/**
 * No transfer gets a nonce of this hot wallet; the others go on, and what it has in flight ends.
 * @returns whether the chain has this hot wallet
 */
export async function pauseSigner(
  db: Db,
  { chainId, signer }: { chainId: number; signer: string },
  { by, reason }: Pick<Pause, 'by' | 'reason'>,
): Promise<boolean> {
  const paused = await db.query(
    `WITH paused AS (
       UPDATE wallet.signer
       SET paused_at = clock_timestamp(), paused_by = $3, paused_reason = $4
       WHERE chain_id = $1 AND address = $2 RETURNING 1)
     INSERT INTO wallet.decision (chain_id, kind, address, decided_by, reason)
     SELECT $1, 'pause', $2, $3, $4 FROM paused RETURNING 1`,
    [chainId, signer, by, reason],
  );
  return paused.length > 0;
}

/** @returns whether it was paused */
export async function resumePausedSigner(
  db: Db,
  { chainId, signer }: { chainId: number; signer: string },
  by: string,
): Promise<boolean> {
  const resumed = await db.query(
    `WITH resumed AS (
       UPDATE wallet.signer SET paused_at = NULL, paused_by = NULL, paused_reason = NULL
       WHERE chain_id = $1 AND address = $2 AND paused_at IS NOT NULL RETURNING 1)
     INSERT INTO wallet.decision (chain_id, kind, address, decided_by)
     SELECT $1, 'resume', $2, $3 FROM resumed RETURNING 1`,
    [chainId, signer, by],
  );
  return resumed.length > 0;
}

export interface PauseDecision {
  stops: Stops;
  kind: 'pause' | 'resume';
  by: string;
  reason: string | null;
  at: string;
}

/** The newest one about the whole chain, and the newest one about its payouts, if there are any. */
export async function listNewestDecisions(db: Db, chainId: number): Promise<PauseDecision[]> {
  const rows = await db.query<Omit<PauseDecision, 'at'> & { decided_at: Date }>(
    `SELECT DISTINCT ON (stops) stops, kind, decided_by AS by, reason, decided_at
     FROM wallet.decision WHERE chain_id = $1 AND stops IS NOT NULL ORDER BY stops, id DESC`,
    [chainId],
  );
  return rows.map(({ decided_at: at, ...decision }) => ({ ...decision, at: at.toISOString() }));
}
