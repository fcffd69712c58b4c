/**
 * What all deposit addresses have of an asset, without asking about each of them: the last known
 * balances are kept, and only addresses with a movement since then are asked about. Some others are
 * asked about in each round as well, those first that were asked about longest ago, so that a change
 * which the wallet did not see is found in the end.
 */
import type { Chain } from './chain/chain';
import type { Db } from './db/database';
import { columnsOf } from './db/rows';
import { readBalances } from './follower/reader';

/** A round asks about this many addresses without a movement, so 100,000 take days. */
export const ASKED_IN_TURN = 500;
/** With a movement, in a round. More are asked about in the next one, and the sums wait for it. */
const ASKED_AFTER_MOVEMENT_MAX = 2_000;

export interface AskedAsset {
  asset: string;
  /** Null stands for the native coin. */
  token: string | null;
}

export interface AddressTotal {
  units: bigint;
  /** False if too many have moved for one round, and the total is not whole. */
  isComplete: boolean;
  /** They are kept when the block is final. */
  asked: { address: string; units: bigint }[];
}

/** @param inTurn how many addresses without a movement are asked about */
export async function readAddressTotal(
  db: Db,
  chain: Chain,
  of: AskedAsset,
  { block, inTurn }: { block: number; inTurn: number },
): Promise<AddressTotal> {
  const moved = await listMoved(db, chain, of, block);
  const isComplete = moved.length <= ASKED_AFTER_MOVEMENT_MAX;
  const others = isComplete ? await listNextInTurn(db, chain, of, inTurn) : [];
  const due = [...new Set([...moved.slice(0, ASKED_AFTER_MOVEMENT_MAX), ...others])];
  const balances = await readBalances(
    chain,
    due.map((address) => ({ address, token: of.token })),
    block,
  );
  const asked = due.map((address, index) => ({ address, units: balances[index] ?? 0n }));
  const fresh = asked.reduce((sum, { units }) => sum + units, 0n);
  const kept = await sumOfOthers(db, chain, of, due);
  return { units: kept + fresh, isComplete, asked };
}

/** The block must be final. */
export async function keepBalances(
  db: Db,
  chainId: number,
  { asset, block }: { asset: string; block: number },
  asked: AddressTotal['asked'],
): Promise<void> {
  await db.query(
    `INSERT INTO wallet.address_balance AS kept (chain_id, asset, address, units, block_number)
     SELECT $1, $2, address, units, $3
     FROM unnest($4::text[], $5::numeric[]) AS asked (address, units)
     ON CONFLICT (chain_id, asset, address) DO UPDATE
       SET units = excluded.units, block_number = excluded.block_number,
         asked_at = excluded.asked_at
       WHERE kept.block_number <= excluded.block_number`,
    [chainId, asset, block, ...columnsOf(asked, 'address', 'units')],
  );
}

/** These balances are known at an earlier block than their last movement, or not at all. */
async function listMoved(
  db: Db,
  { network }: Chain,
  { asset }: AskedAsset,
  block: number,
): Promise<string[]> {
  const rows = await db.query<{ address: string }>(
    `SELECT DISTINCT moved.address FROM (
       SELECT address, max(block_number) AS block_number
       FROM wallet.deposit JOIN wallet.checkout ON checkout.id = checkout_id
       WHERE deposit.chain_id = $1 AND deposit.asset = $2 AND block_number <= $3
         AND deposit.state <> 'vanished' GROUP BY address
       UNION ALL
       SELECT address, max(block_number) FROM wallet.address_spend
       WHERE chain_id = $1 AND asset = $2 AND block_number <= $3 GROUP BY address) AS moved
     LEFT JOIN wallet.address_balance AS kept
       ON kept.chain_id = $1 AND kept.asset = $2 AND kept.address = moved.address
     WHERE kept.address IS NULL OR kept.block_number < moved.block_number
     LIMIT $4`,
    [network.chainId, asset, block, ASKED_AFTER_MOVEMENT_MAX + 1],
  );
  return rows.map(({ address }) => address);
}

async function listNextInTurn(
  db: Db,
  { network }: Chain,
  { asset }: AskedAsset,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ address: string }>(
    `SELECT checkout.address FROM wallet.checkout
     LEFT JOIN wallet.address_balance AS kept
       ON kept.chain_id = $1 AND kept.asset = $2 AND kept.address = checkout.address
     WHERE mode = $3 ORDER BY coalesce(asked_at, created_at), checkout.id LIMIT $4`,
    [network.chainId, asset, network.mode, limit],
  );
  return rows.map(({ address }) => address);
}

async function sumOfOthers(
  db: Db,
  { network }: Chain,
  { asset }: AskedAsset,
  without: readonly string[],
): Promise<bigint> {
  const [row] = await db.query<{ units: string }>(
    `SELECT coalesce(sum(units), 0)::text AS units FROM wallet.address_balance
     WHERE chain_id = $1 AND asset = $2 AND NOT address = ANY ($3)`,
    [network.chainId, asset, without],
  );
  return BigInt(row?.units ?? 0);
}
