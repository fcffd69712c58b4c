/**
 * The wallet's sums, for each asset of a chain at a final block:
 *
 *   on the deposit addresses = received − swept − network fees of the sweeps
 *
 * and, beside it, the float of the hot wallet and what it owes. A difference means that money moved
 * without the wallet's books: it is an alarm, and nothing is corrected.
 */
import { formatUnits } from 'viem';
import type { Alarms } from './alarms';
import type { Chain } from './chain/chain';
import { ChainUnavailable, RpcRefusal } from './chain/rpc';
import type { Db } from './db/database';
import { findPlace } from './follower/place';
import { readBalances } from './follower/reader';
import { NATIVE_DECIMALS } from './units';

export interface AssetSums {
  asset: string;
  decimals: number;
  /** At this block. */
  block: number;
  /** What the nodes say, in the asset's smallest unit as everything here. */
  onAddresses: bigint;
  received: bigint;
  swept: bigint;
  fees: bigint;
  /** What the hot wallets have. */
  float: bigint;
  /** Ordered, and not final yet. */
  owed: bigint;
  /** Zero, or something to explain. */
  difference: bigint;
}

/** Of one question to the nodes. */
const ADDRESSES_AT_ONCE = 500;

/** Null while the chain has not been read. */
export async function readSums(db: Db, chain: Chain): Promise<AssetSums[] | null> {
  const { chainId, native, tokens } = chain.network;
  const place = await findPlace(db, chainId);
  if (place === null) return null;
  const addresses = await db.query<{ address: string }>(
    'SELECT address FROM wallet.checkout WHERE mode = $1',
    [chain.network.mode],
  );
  const signers = await db.query<{ address: string }>(
    'SELECT address FROM wallet.signer WHERE chain_id = $1',
    [chainId],
  );
  const assets = [
    { asset: native.asset, token: null, decimals: NATIVE_DECIMALS },
    ...tokens.map(({ asset, address, decimals }) => ({ asset, token: address, decimals })),
  ];
  const sums: AssetSums[] = [];
  for (const { asset, token, decimals } of assets) {
    // Coins that contracts sent are found later than the scan of blocks is final.
    const block = token === null ? place.balancesNumber : place.finalNumber;
    const total = async (of: readonly { address: string }[]): Promise<bigint> => {
      let sum = 0n;
      for (let from = 0; from < of.length; from += ADDRESSES_AT_ONCE) {
        const some = of.slice(from, from + ADDRESSES_AT_ONCE);
        const asked = some.map(({ address }) => ({ address, token }));
        for (const balance of await readBalances(chain, asked, block)) sum += balance;
      }
      return sum;
    };
    const onAddresses = await total(addresses);
    const { received, swept, fees, owed } = await readBooked(db, chainId, asset, block);
    sums.push({
      ...{ asset, decimals, block, onAddresses, received, swept, fees, owed },
      ...{ float: await total(signers), difference: onAddresses - (received - swept - fees) },
    });
  }
  return sums;
}

/** Raises an alarm for each asset whose sums do not agree, and clears it when they do. */
export async function checkSums(db: Db, chain: Chain, alarms: Alarms): Promise<void> {
  for (const one of (await readSums(db, chain)) ?? []) {
    if (one.difference === 0n) {
      await alarms.clear('sums_differ', one.asset);
      continue;
    }
    const { asset, block, on_addresses: has, difference } = presentSums(one);
    const detail = `At block ${block} the deposit addresses have ${has} ${asset}; that differs by ${difference} from what the deposits, sweeps and network fees explain. Compare the addresses with the chain: docs/wallet.md, "The sums".`;
    await alarms.raise('sums_differ', asset, detail);
  }
}

/** Exact: as many decimals as the asset has. */
export interface ShownSums extends Record<
  'on_addresses' | 'received' | 'swept' | 'fees' | 'float' | 'owed' | 'difference',
  string
> {
  asset: string;
  block: number;
}

export function presentSums({ asset, block, decimals, ...of }: AssetSums): ShownSums {
  const show = (units: bigint): string => formatUnits(units, decimals);
  return {
    ...{ asset, block, on_addresses: show(of.onAddresses), received: show(of.received) },
    ...{ swept: show(of.swept), fees: show(of.fees), float: show(of.float) },
    ...{ owed: show(of.owed), difference: show(of.difference) },
  };
}

/** For `wallet status`: null while no node can tell. */
export async function readShownSums(db: Db, chain: Chain): Promise<ShownSums[] | null> {
  try {
    return (await readSums(db, chain))?.map(presentSums) ?? null;
  } catch (error) {
    if (error instanceof ChainUnavailable || error instanceof RpcRefusal) return null;
    throw error;
  }
}

/** Vanished deposits are in no block. */
async function readBooked(
  db: Db,
  chainId: number,
  asset: string,
  at: number,
): Promise<Pick<AssetSums, 'received' | 'swept' | 'fees' | 'owed'>> {
  const [row] = await db.query<Record<'received' | 'swept' | 'fees' | 'owed', string>>(
    `SELECT
       (SELECT coalesce(sum(units), 0) FROM wallet.deposit
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3 AND state <> 'vanished')::text
         AS received,
       (SELECT coalesce(sum(units), 0) FROM wallet.address_spend
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3)::text AS swept,
       (SELECT coalesce(sum(fee_units), 0) FROM wallet.address_spend
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3)::text AS fees,
       (SELECT coalesce(sum(units), 0) FROM wallet.transfer
        WHERE chain_id = $1 AND asset = $2 AND status IN ('queued', 'sending'))::text AS owed`,
    [chainId, asset, at],
  );
  return {
    received: BigInt(row?.received ?? 0),
    swept: BigInt(row?.swept ?? 0),
    fees: BigInt(row?.fees ?? 0),
    owed: BigInt(row?.owed ?? 0),
  };
}
