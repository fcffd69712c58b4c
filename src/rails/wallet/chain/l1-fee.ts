/**
 * The fee for data on the first layer, which chains of the OP stack charge beside gas × price. Their
 * gas price oracle is a contract at a fixed address (specs.optimism.io, "GasPriceOracle"). Arbitrum
 * counts this data as gas, so its estimates contain the fee, and other chains have none.
 */
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { Chain } from './chain';
import type { Rpc } from './rpc';

const ORACLE: Address = '0x420000000000000000000000000000000000000F';
const ORACLE_ABI = parseAbi(['function getL1Fee(bytes) view returns (uint256)']);
/** The fee may double until the transaction is mined; what is left over stays at the address. */
const MARGIN = 2n;

/** A chain does not become another kind of chain. */
const hasOracle = new WeakMap<Rpc, Promise<boolean>>();

/**
 * @param transaction serialized, with or without a signature
 * @returns wei that the sender must have beside value and gas; zero on chains without the oracle
 */
export async function readL1Fee({ rpc }: Chain, transaction: Hex): Promise<bigint> {
  let known = hasOracle.get(rpc);
  if (known === undefined) {
    known = rpc.call<Hex>('eth_getCode', [ORACLE, 'latest']).then((code) => code !== '0x');
    hasOracle.set(rpc, known);
    known.catch(() => hasOracle.delete(rpc));
  }
  if (!(await known)) return 0n;
  const data = encodeFunctionData({
    abi: ORACLE_ABI,
    functionName: 'getL1Fee',
    args: [transaction],
  });
  return MARGIN * BigInt(await rpc.call<Hex>('eth_call', [{ to: ORACLE, data }, 'latest']));
}
