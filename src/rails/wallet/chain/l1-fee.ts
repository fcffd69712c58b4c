/**
 * The fee for data on the first layer, which chains of the OP stack charge beside gas × price. Their
 * gas price oracle is a contract at a fixed address (specs.optimism.io, "GasPriceOracle"). Arbitrum
 * counts this data as gas, so its estimates contain the fee, and other chains have none.
 */
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { Chain } from './chain';

const ORACLE: Address = '0x420000000000000000000000000000000000000F';
const ORACLE_ABI = parseAbi(['function getL1Fee(bytes) view returns (uint256)']);
/** The fee may double until the transaction is mined; what is left over stays at the address. */
const MARGIN = 2n;

/**
 * @param transaction serialized, with or without a signature
 * @returns wei that the sender must have beside value and gas; zero on chains without the oracle
 */
export async function readL1Fee({ rpc, memory }: Chain, transaction: Hex): Promise<bigint> {
  // A chain does not become another kind of chain.
  memory.hasL1Oracle ??= (await rpc.call<Hex>('eth_getCode', [ORACLE, 'latest'])) !== '0x';
  if (!memory.hasL1Oracle) return 0n;
  const data = encodeFunctionData({
    abi: ORACLE_ABI,
    functionName: 'getL1Fee',
    args: [transaction],
  });
  return MARGIN * BigInt(await rpc.call<Hex>('eth_call', [{ to: ORACLE, data }, 'latest']));
}
