/** The gas of a transaction that moves nothing, from a hot wallet to itself. */
import type { Address, Hex } from 'viem';
import { type Chain, toHex } from '../chain/chain';
import { ignoreSilence } from '../chain/rpc';
import { withGasMargin } from './transaction';

/** The least for one word of data. */
const GAS_MIN = 22_280n;

/** Chains that count data as gas need more. */
export async function estimateEmpty({ rpc }: Chain, from: Address, data: Hex): Promise<bigint> {
  const call = { from, to: from, value: toHex(0n), data };
  const answer = await rpc.call<string>('eth_estimateGas', [call, 'latest']).catch(ignoreSilence);
  return answer === undefined ? GAS_MIN : withGasMargin(BigInt(answer));
}
