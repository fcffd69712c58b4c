import type { FeeView } from '../../onchain-api/api';
import { networkFee } from '../chain';

/** The codes of scenarios take the last of these 8 decimals. XRP keeps its true number. */
const DECIMALS = 8;
const DECIMALS_OF_XRP = 6;

/** Null for a pair that the provider does not send. */
export function findFeeEstimate(asset: string, network: string): FeeView | null {
  const fee = networkFee(asset, network);
  if (fee === null) return null;
  return { fee, decimals: asset === 'XRP' ? DECIMALS_OF_XRP : DECIMALS };
}
