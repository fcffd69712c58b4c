/** The cost of a transfer as the API estimates it, in the transfer's own asset. */
import type { Hex } from 'viem';
import type { Amount } from '../../../domain/money';
import { type Chain, readPrice } from '../chain/chain';
import { readL1Fee } from '../chain/l1-fee';
import { amountOf, NATIVE_DECIMALS, unitsOf } from '../units';
import { sendableDecimals } from './transfers';

/** A transfer to an address that has none of the token yet; most others take less. */
const TOKEN_GAS = 65_000n;
const COIN_GAS = 21_000n;
/** The fee for data on the first layer follows from the number of bytes that a signed transaction has. */
const COIN_TRANSACTION: Hex = `0x${'ff'.repeat(120)}`;
export const TOKEN_TRANSACTION: Hex = `0x${'ff'.repeat(190)}`;
const AMOUNT_DECIMALS = 8;
/** The base fee moves by an eighth with each block, and the transfer waits for one. */
const MARGIN = { times: 5n, dividedBy: 4n } as const;

/** Null for an asset that the network does not send. */
export async function estimateFee(
  chain: Chain,
  asset: string,
): Promise<Amount | 'no_price' | null> {
  const { native, payouts } = chain.network;
  if (payouts === null || sendableDecimals(chain.network, asset) === null) return null;
  const isCoin = asset === native.asset;
  const price = payouts.nativePrices[asset];
  if (!isCoin && price === undefined) return 'no_price';
  // No transaction offers more than the maximum, whatever the nodes say.
  const max = payouts.maxFeePerGasWei;
  const gasPrice = (await readPrice(chain, 'eth_gasPrice', max)) ?? max;
  const gasWei = ((isCoin ? COIN_GAS : TOKEN_GAS) * gasPrice * MARGIN.times) / MARGIN.dividedBy;
  const wei = gasWei + (await readL1Fee(chain, isCoin ? COIN_TRANSACTION : TOKEN_TRANSACTION));
  if (price === undefined) return roundedUp(wei);
  // The price has 8 decimals, so the product has that many more than the coin.
  const priced = wei * (unitsOf(price, AMOUNT_DECIMALS) ?? 0n);
  return roundedUp(priced / 10n ** BigInt(AMOUNT_DECIMALS) + 1n);
}

function roundedUp(wei: bigint): Amount {
  const step = 10n ** BigInt(NATIVE_DECIMALS - AMOUNT_DECIMALS);
  return amountOf(wei + step - 1n, NATIVE_DECIMALS);
}
