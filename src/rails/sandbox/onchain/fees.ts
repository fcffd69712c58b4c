import type { FeeView } from '../../onchain-api/api';

/**
 * The network fee of each pair that the provider sends, in the transfer's own currency. They are
 * fixed, so that a test can state a total exactly.
 */
const FEE_ESTIMATES: Readonly<Record<string, string>> = {
  'USDT/ethereum': '4.00',
  'USDT/tron': '1.00',
  'USDC/ethereum': '4.00',
  'USDC/tron': '1.00',
  'USDC/base': '0.05',
  'ETH/ethereum': '0.001',
  'BTC/bitcoin': '0.00002',
  'XRP/xrpl': '0.0001',
};

/** The codes of scenarios take the last of these 8 decimals. XRP keeps its true number. */
const DECIMALS = 8;
const DECIMALS_OF_XRP = 6;

/** Null for a pair that the provider does not send. */
export function findFeeEstimate(asset: string, network: string): FeeView | null {
  const pair = `${asset}/${network}`;
  const fee = Object.hasOwn(FEE_ESTIMATES, pair) ? FEE_ESTIMATES[pair] : undefined;
  if (fee === undefined) return null;
  return { fee, decimals: asset === 'XRP' ? DECIMALS_OF_XRP : DECIMALS };
}
