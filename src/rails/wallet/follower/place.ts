/** The position of the follower of a chain: the blocks that it has read, up to the newest. */
import { SetupError } from '../../../platform/lib/setup-error';
import type { Database, Db, Tx } from '../db/database';
import type { Network } from '../networks';
import type { BlockHeader } from './reader';

export interface Place {
  headNumber: number;
  headHash: string;
  safeNumber: number;
  finalNumber: number;
  finalHash: string;
  balancesNumber: number;
  pausedReason: string | null;
  /** The hot wallets are not registered since the first start. */
  isNew: boolean;
}

/** Another process follows the chain too, and was faster. Nothing was changed. */
export class OutOfPlace extends Error {}

export async function findPlace(db: Db, chainId: number): Promise<Place | null> {
  const [row] = await db.query<{
    head_number: string;
    head_hash: string;
    safe_number: string;
    final_number: string;
    final_hash: string;
    balances_number: string;
    paused_reason: string | null;
    is_new: boolean;
  }>('SELECT * FROM wallet.followed_chain WHERE chain_id = $1', [chainId]);
  if (row === undefined) return null;
  return {
    headNumber: Number(row.head_number),
    headHash: row.head_hash,
    safeNumber: Number(row.safe_number),
    finalNumber: Number(row.final_number),
    finalHash: row.final_hash,
    balancesNumber: Number(row.balances_number),
    pausedReason: row.paused_reason,
    isNew: row.is_new,
  };
}

/** The first start. `openCheckout` gives out no address before, so nothing older matters. */
export async function beginAt(
  db: Database,
  { chainId, mode, name }: Network,
  start: BlockHeader,
): Promise<void> {
  await db.transaction(async (tx) => {
    const begun = await tx.query(
      `INSERT INTO wallet.followed_chain (chain_id, mode, network, head_number, head_hash, head_at,
         safe_number, final_number, final_hash, balances_number, is_new)
       VALUES ($1, $2, $3, $4, $5, $6, $4, $4, $5, $4, true) ON CONFLICT DO NOTHING RETURNING 1`,
      [chainId, mode, name, start.number, start.hash, start.time],
    );
    if (begun.length > 0) await insertBlock(tx, chainId, start);
  });
}

async function insertBlock(tx: Tx, chainId: number, block: BlockHeader): Promise<void> {
  await tx.query(
    `INSERT INTO wallet.block (chain_id, number, hash, parent_hash, mined_at)
     VALUES ($1, $2, $3, $4, $5)`,
    [chainId, block.number, block.hash, block.parentHash, block.time],
  );
}

/** @throws OutOfPlace */
export async function advance(
  tx: Tx,
  chainId: number,
  from: Pick<Place, 'headHash'>,
  to: BlockHeader,
): Promise<void> {
  await moveHead(tx, chainId, from.headHash, to);
  await insertBlock(tx, chainId, to);
}

/** Past blocks that are final: of these only the last is stored. @throws OutOfPlace */
export async function advanceFinal(
  tx: Tx,
  chainId: number,
  from: Pick<Place, 'headHash'>,
  to: BlockHeader,
): Promise<void> {
  await moveHead(tx, chainId, from.headHash, to);
  await insertBlock(tx, chainId, to);
  await dropOldBlocks(tx, chainId, to.number);
  await tx.query(
    `UPDATE wallet.followed_chain SET safe_number = $2, final_number = $2, final_hash = $3
     WHERE chain_id = $1`,
    [chainId, to.number, to.hash],
  );
}

/** Below the final one, for a reorganization that is deeper than the chain allows. */
const KEPT_BLOCKS = 10_000;

async function dropOldBlocks(tx: Tx, chainId: number, finalNumber: number): Promise<void> {
  await tx.query('DELETE FROM wallet.block WHERE chain_id = $1 AND number < $2', [
    chainId,
    finalNumber - KEPT_BLOCKS,
  ]);
}

/** Back to a block that the chain still has. @throws OutOfPlace */
export async function goBack(
  tx: Tx,
  chainId: number,
  from: Pick<Place, 'headHash'>,
  to: BlockHeader,
): Promise<void> {
  await moveHead(tx, chainId, from.headHash, to);
  await tx.query('DELETE FROM wallet.block WHERE chain_id = $1 AND number > $2', [
    chainId,
    to.number,
  ]);
  await tx.query(
    'UPDATE wallet.followed_chain SET safe_number = least(safe_number, $2) WHERE chain_id = $1',
    [chainId, to.number],
  );
}

/**
 * Back below the final block, which only an operator decides. Ends the pause in this row.
 * @throws SetupError when somebody changed the place
 */
export async function acceptPlace(
  tx: Tx,
  chainId: number,
  from: Pick<Place, 'headHash' | 'finalHash'>,
  to: BlockHeader,
): Promise<void> {
  const moved = await tx.query(
    `UPDATE wallet.followed_chain
     SET head_number = $4, head_hash = $5, head_at = $6, safe_number = least(safe_number, $4),
       final_hash = CASE WHEN final_number > $4 THEN $5 ELSE final_hash END,
       final_number = least(final_number, $4), balances_number = least(balances_number, $4),
       paused_reason = NULL, updated_at = clock_timestamp()
     WHERE chain_id = $1 AND head_hash = $2 AND final_hash = $3 AND paused_reason IS NOT NULL
     RETURNING 1`,
    [chainId, from.headHash, from.finalHash, to.number, to.hash, to.time],
  );
  if (moved.length === 0) {
    throw new SetupError('The chain was resumed or has moved on meanwhile. Nothing was changed.');
  }
  await tx.query('DELETE FROM wallet.block WHERE chain_id = $1 AND number >= $2', [
    chainId,
    to.number,
  ]);
  await insertBlock(tx, chainId, to);
}

async function moveHead(tx: Tx, chainId: number, fromHash: string, to: BlockHeader): Promise<void> {
  const moved = await tx.query(
    `UPDATE wallet.followed_chain
     SET head_number = $3, head_hash = $4, head_at = $5, updated_at = clock_timestamp()
     WHERE chain_id = $1 AND head_hash = $2 AND paused_reason IS NULL RETURNING 1`,
    [chainId, fromHash, to.number, to.hash, to.time],
  );
  if (moved.length === 0) throw new OutOfPlace('the chain was advanced by another process');
}

/** The final block never goes back, whatever a node says. */
export async function setSure(
  db: Database,
  chainId: number,
  safeNumber: number,
  final: { number: number; hash: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const moved = await tx.query(
      `UPDATE wallet.followed_chain
       SET safe_number = greatest($2, $3), final_number = $3, final_hash = $4
       WHERE chain_id = $1 AND final_number <= $3 AND head_number >= $3 RETURNING 1`,
      [chainId, safeNumber, final.number, final.hash],
    );
    if (moved.length === 0) return;
    await dropOldBlocks(tx, chainId, final.number);
  });
}

/** Sorts in ascending order. */
export async function listBlocks(
  db: Db,
  chainId: number,
  from: number,
  to: number,
): Promise<{ number: number; hash: string; time: Date }[]> {
  const rows = await db.query<{ number: string; hash: string; mined_at: Date }>(
    `SELECT number, hash, mined_at FROM wallet.block
     WHERE chain_id = $1 AND number BETWEEN $2 AND $3 ORDER BY number`,
    [chainId, from, to],
  );
  return rows.map(({ number, hash, mined_at }) => ({
    number: Number(number),
    hash,
    time: mined_at,
  }));
}
