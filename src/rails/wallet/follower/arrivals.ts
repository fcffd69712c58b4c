/** What a block did to watched addresses, as rows of deposits and of spends. */
import type { Arrival } from '../checkouts/deposits';
import type { Tx } from '../db/database';
import type { Network } from '../networks';
import { NATIVE_DECIMALS } from '../units';
import type { BlockMovement, Spend } from './reader';

/** Movements of assets that are not in the configuration are none. */
export function arrivalsOf(
  network: Network,
  checkoutOf: (address: string) => string | undefined,
  movements: readonly BlockMovement[],
): Arrival[] {
  return movements.flatMap(({ block, ...movement }) => {
    const checkoutId = checkoutOf(movement.to);
    const asset = assetOf(network, movement.token);
    if (checkoutId === undefined || asset === null) return [];
    const place = { blockNumber: block.number, blockTime: block.time };
    return [{ ...movement, ...asset, ...place, checkoutId, isInternal: false }];
  });
}

/** Null for a token that is not in the configuration. */
function assetOf(
  { native, tokens }: Network,
  token: string | null,
): { asset: string; decimals: number } | null {
  if (token === null) return { asset: native.asset, decimals: NATIVE_DECIMALS };
  return tokens.find(({ address }) => address.toLowerCase() === token) ?? null;
}

export async function recordSpends(
  tx: Tx,
  network: Network,
  spends: readonly Spend[],
): Promise<void> {
  for (const one of spends) {
    const asset = assetOf(network, one.token);
    if (asset === null) continue;
    await tx.query(
      `INSERT INTO wallet.address_spend (chain_id, tx_hash, address, asset, units, fee_units,
         block_number) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
      [
        ...[network.chainId, one.txHash, one.address, asset.asset],
        ...[one.units, one.feeUnits, one.blockNumber],
      ],
    );
  }
}
