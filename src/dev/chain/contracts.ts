/**
 * The test contracts (TestContracts.sol), deployed and called through the node's unlocked accounts. A
 * call is typed by its name only, and a call that the contract does not have throws.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
} from 'viem';
import type { Rpc } from './anvil';
import artifacts from './contracts.json';

const RECEIPT_TIMEOUT_MS = 20_000;

export type ContractName = keyof typeof artifacts;

/** Deploys a contract in one block. Automine must be on. */
export async function deployContract(
  rpc: Rpc,
  from: Address,
  name: ContractName,
  args: readonly unknown[] = [],
): Promise<Address> {
  const { abi, bytecode } = artifacts[name];
  const data = encodeDeployData({ abi: abi as Abi, bytecode: bytecode as Hex, args });
  const hash = await rpc<Hex>('eth_sendTransaction', [{ from, data }]);
  const { status, contractAddress } = await waitForReceipt(rpc, hash);
  if (status !== '0x1' || contractAddress === null) throw new Error(`${name} was not deployed`);
  return getAddress(contractAddress);
}

interface NodeReceipt {
  status: Hex;
  contractAddress: Address | null;
}

/**
 * Waits for the block, because the node answers with a hash shortly before it mines the block, even
 * when it mines at once.
 */
export async function waitForReceipt(rpc: Rpc, hash: Hex): Promise<NodeReceipt> {
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  for (;;) {
    const receipt = await rpc<NodeReceipt | null>('eth_getTransactionReceipt', [hash]);
    if (receipt !== null) return receipt;
    if (performance.now() > deadline) throw new Error(`${hash} is not in a block`);
    await sleep(10);
  }
}

interface ContractCall {
  from: Address;
  to: Address;
  contract: ContractName;
  functionName: string;
  args?: readonly unknown[];
  value?: bigint;
}

/** @returns the transaction's hash; it is in a block once one is mined */
export async function callContract(rpc: Rpc, call: ContractCall): Promise<Hex> {
  const { from, to, contract, functionName, args = [], value = 0n } = call;
  const abi = artifacts[contract].abi as Abi;
  const data = encodeFunctionData({ abi, functionName, args });
  return rpc<Hex>('eth_sendTransaction', [{ from, to, data, value: `0x${value.toString(16)}` }]);
}
