/**
 * Coins that a contract sends are no transaction of their own and leave no log: a scan of blocks
 * misses them. They are found by the balance: what an address has at a final block, beyond what the
 * scan explains, arrived in this way.
 */
import type { Alarms } from '../alarms';
import type { Chain } from '../chain/chain';
import { RpcRefusal } from '../chain/rpc';
import { type Arrival, type DepositParts, recordArrivals } from '../checkouts/deposits';
import type { Database, Db } from '../db/database';
import type { Log } from '../config';
import type { Network } from '../networks';
import { NATIVE_DECIMALS } from '../units';
import type { Place } from './place';
import { InconsistentNode } from './answers';
import { readBalances, readHeader } from './reader';
import { WATCHED_DAYS } from './watch-list';

interface InternalParts extends DepositParts {
  chain: Chain;
  network: Network;
  db: Database;
  alarms: Alarms;
  log: Log;
}

/** What the scan explains of an address's coins, up to a block. */
interface Explained {
  checkoutId: string;
  address: string;
  units: bigint;
}

/** Up to `at`, which is final and has been read. Only checkouts that are paid in coins. */
export async function findInternalTransfers(
  parts: InternalParts,
  { balancesNumber }: Place,
  at: number,
): Promise<void> {
  const { db, chain, chainId } = parts;
  const explained = await listExplained(db, parts.network, at);
  const balances = await readBalances(
    chain,
    explained.map(({ address }) => ({ address, token: null })),
    at,
  );
  const arrivals: Arrival[] = [];
  for (const [index, one] of explained.entries()) {
    const surplus = (balances[index] ?? 0n) - one.units;
    if (surplus < 0n) await raiseShortfall(parts, one, -surplus, at);
    else if (surplus > 0n) {
      arrivals.push(await arrivalOf(parts, one, surplus, { after: balancesNumber, at }));
    }
  }
  await db.transaction(async (tx) => {
    await recordArrivals(tx, parts, arrivals);
    await tx.query(
      `UPDATE wallet.followed_chain SET balances_number = $2
       WHERE chain_id = $1 AND balances_number < $2`,
      [chainId, at],
    );
  });
}

async function listExplained(db: Db, network: Network, at: number): Promise<Explained[]> {
  const rows = await db.query<{ id: string; address: string; units: string }>(
    `SELECT c.id, c.address, ${EXPLAINED_UNITS} AS units FROM wallet.checkout c
     WHERE c.mode = $1 AND c.chain_id = $2 AND c.asset = $3
       AND c.expires_at > now() - interval '${String(WATCHED_DAYS)} days'
     ORDER BY c.id`,
    [network.mode, network.chainId, network.native.asset, at],
  );
  return rows.map(({ id, address, units }) => ({ checkoutId: id, address, units: BigInt(units) }));
}

/** Of the checkout c in the native coin $3 of the chain $2, up to the block $4. */
const EXPLAINED_UNITS = `(
  coalesce((SELECT sum(d.units) FROM wallet.deposit d
    WHERE d.checkout_id = c.id AND d.chain_id = $2 AND d.asset = $3
      AND d.state <> 'vanished' AND d.block_number <= $4), 0)
  - coalesce((SELECT sum(s.units + s.fee_units) FROM wallet.address_spend s
    WHERE s.chain_id = $2 AND s.address = c.address AND s.asset = $3
      AND s.block_number <= $4), 0))::numeric(78,0)`;

async function arrivalOf(
  parts: InternalParts,
  one: Explained,
  surplus: bigint,
  { after, at }: { after: number; at: number },
): Promise<Arrival> {
  const number = await findBlock(parts, one, after, at);
  const header = await readHeader(parts.chain, number);
  if (header === null) throw new InconsistentNode('the node does not have a final block');
  return {
    ...{ token: null, from: '', to: one.address, units: surplus, ordinal: 0, isInternal: true },
    // Not a transaction; it only makes the id. A block belongs to one look, so ids never repeat.
    txHash: `internal ${String(number)}`,
    ...{ checkoutId: one.checkoutId, asset: parts.network.native.asset },
    ...{ decimals: NATIVE_DECIMALS, blockNumber: number, blockTime: header.time },
  };
}

/** The first block with more coins than the scan explains, where the node still knows old states. */
async function findBlock(
  { chain, db, network, log }: InternalParts,
  { checkoutId, address }: Explained,
  after: number,
  at: number,
): Promise<number> {
  let [low, high] = [after, at];
  try {
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const [balance = 0n] = await readBalances(chain, [{ address, token: null }], middle);
      const [row] = await db.query<{ units: string }>(
        `SELECT ${EXPLAINED_UNITS} AS units FROM wallet.checkout c WHERE c.id = $1`,
        [checkoutId, network.chainId, network.native.asset, middle],
      );
      if (balance > BigInt(row?.units ?? 0)) high = middle;
      else low = middle;
    }
    return high;
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    const { mode, name } = network;
    log('warn', 'the node has no old balances; a deposit gets the time of a later block', {
      ...{ mode, network: name, block: at },
    });
    return at;
  }
}

function raiseShortfall(
  { alarms }: InternalParts,
  { address, checkoutId }: Explained,
  missing: bigint,
  at: number,
): Promise<void> {
  const detail = `At block ${String(at)} the address of checkout ${checkoutId} has ${String(missing)} wei less than its deposits. Compare its transactions with the deposits and sweeps.`;
  return alarms.raise('balance_below_deposits', address, detail);
}
