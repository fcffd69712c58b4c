/**
 * The wallet's sums, for each asset of a chain at its newest final block that was read:
 *
 *   on the deposit addresses = received − swept − network fees of the sweeps
 *
 * and, beside it, the float of the hot wallet. A difference means that money moved without the
 * wallet's books: it is an alarm, and nothing is corrected.
 */
import type { Chain } from './chain/chain';
import type { Db } from './db/database';
import { findPlace } from './follower/place';
import { readBalances } from './follower/reader';

export interface AssetSums {
  asset: string;
  /** At this block. */
  block: number;
  /** What the nodes say, in the asset's smallest unit as everything here. */
  onAddresses: bigint;
  received: bigint;
  swept: bigint;
  fees: bigint;
  /** What the hot wallets have. */
  float: bigint;
  /** Zero, or something to explain. */
  difference: bigint;
}

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
    { asset: native.asset, token: null },
    ...tokens.map(({ asset, address }) => ({ asset, token: address })),
  ];
  const sums: AssetSums[] = [];
  for (const { asset, token } of assets) {
    const total = async (of: readonly { address: string }[]): Promise<bigint> => {
      const asked = of.map(({ address }) => ({ address, token }));
      const balances = await readBalances(chain, asked, place.finalNumber);
      return balances.reduce((sum, one) => sum + one, 0n);
    };
    const onAddresses = await total(addresses);
    const booked = await readBooked(db, chainId, asset, place.finalNumber);
    const { received, swept, fees } = booked;
    sums.push({
      ...{ asset, block: place.finalNumber, onAddresses, received, swept, fees },
      ...{ float: await total(signers), difference: onAddresses - (received - swept - fees) },
    });
  }
  return sums;
}

/** Vanished deposits are in no block. */
async function readBooked(
  db: Db,
  chainId: number,
  asset: string,
  at: number,
): Promise<Pick<AssetSums, 'received' | 'swept' | 'fees'>> {
  const [row] = await db.query<{ received: string; swept: string; fees: string }>(
    `SELECT
       (SELECT coalesce(sum(units), 0) FROM wallet.deposit
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3 AND state <> 'vanished')::text
         AS received,
       (SELECT coalesce(sum(units), 0) FROM wallet.address_spend
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3)::text AS swept,
       (SELECT coalesce(sum(fee_units), 0) FROM wallet.address_spend
        WHERE chain_id = $1 AND asset = $2 AND block_number <= $3)::text AS fees`,
    [chainId, asset, at],
  );
  return {
    received: BigInt(row?.received ?? 0),
    swept: BigInt(row?.swept ?? 0),
    fees: BigInt(row?.fees ?? 0),
  };
}
