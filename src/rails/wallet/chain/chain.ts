/** One chain as the wallet sees it: the questions of sender, follower and checks at the start. */
import type { Address, Hex } from 'viem';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Network } from '../networks';
import {
  ChainUnavailable,
  ignoreSilence,
  Rpc,
  type RpcCall,
  RpcRefusal,
  type RpcRequest,
} from './rpc';

export interface Chain {
  network: Network;
  rpc: Rpc;
  /** The chain at each of its nodes alone. */
  nodes: readonly Chain[];
  memory: ChainMemory;
}

/** What is remembered of the chain, or of one of its nodes, for as long as the process runs. */
interface ChainMemory {
  /** Nonces → when their transactions were searched in vain. */
  searchedInVain: Map<string, number>;
  /** Transfer → since when no node tells by what its nonce was used. */
  hiddenSince: Map<string, number>;
  /** Whether it has the oracle of the first layer's fees; null: not asked. */
  hasL1Oracle: boolean | null;
}

export interface BlockHead {
  number: bigint;
  hash: Hex;
  timestamp: bigint;
  baseFeePerGas: bigint;
}

export interface Receipt {
  transactionHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  succeeded: boolean;
  logs: readonly { address: Address; topics: readonly Hex[]; data: Hex }[];
}

interface RpcBlock {
  number: Hex;
  hash: Hex;
  timestamp: Hex;
  baseFeePerGas?: Hex;
}

export type RpcReceipt = {
  transactionHash: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  status: Hex;
  logs: Receipt['logs'];
} | null;

/** @param onRequest told of each request to a node */
export function createChain(
  network: Network,
  onRequest: (request: RpcRequest) => void = () => undefined,
): Chain {
  const { chainId, rpcUrls, rpcTimeoutMs } = network;
  const rpc = new Rpc(chainId, rpcUrls, { timeoutMs: rpcTimeoutMs, onRequest });
  const nodes = rpc.each().map((node) => {
    const alone: Chain & { nodes: Chain[] } = { network, rpc: node, nodes: [], memory: forget() };
    alone.nodes.push(alone);
    return alone;
  });
  return { network, rpc, nodes, memory: forget() };
}

function forget(): ChainMemory {
  return { searchedInVain: new Map(), hiddenSince: new Map(), hasL1Oracle: null };
}

/** @param at a tag, or a block number in hexadecimal */
export async function readHead({ rpc }: Chain, at: string): Promise<BlockHead | null> {
  const block = await rpc.call<RpcBlock | null>('eth_getBlockByNumber', [at, false]);
  if (block === null) return null;
  return {
    number: BigInt(block.number),
    hash: block.hash,
    timestamp: BigInt(block.timestamp),
    baseFeePerGas: BigInt(block.baseFeePerGas ?? '0x0'),
  };
}

/** Nodes that must say the same before what cannot be undone follows from it. */
const NODES_REQUIRED = 2;

/** A network with one node relies on that node. */
export function nodesRequired(chain: Chain): number {
  return Math.min(NODES_REQUIRED, chain.nodes.length);
}

/**
 * A price that nodes suggest. One node may name any, so another one is asked where it is above the maximum.
 * @returns null when no node names one within it
 */
export async function readPrice(
  chain: Chain,
  method: 'eth_gasPrice' | 'eth_maxPriorityFeePerGas',
  max: bigint,
): Promise<bigint | null> {
  for (const { rpc } of [chain, ...chain.nodes]) {
    const answer = await rpc.call<Hex>(method).catch(ignoreSilence);
    if (answer !== undefined && BigInt(answer) <= max) return BigInt(answer);
  }
  return null;
}

/** The last block that the network's configuration calls final; null while there is none. */
export async function readFinalHead(chain: Chain): Promise<BlockHead | null> {
  const { finality } = chain.network;
  if (finality === 'finalized') return readHead(chain, 'finalized');
  const head = await readHead(chain, 'latest');
  const number = (head?.number ?? 0n) - BigInt(finality);
  return number < 0n ? null : readHead(chain, toHex(number));
}

export function toHex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

export function readReceipt(receipt: RpcReceipt): Receipt | null {
  if (receipt === null) return null;
  return {
    transactionHash: receipt.transactionHash,
    blockNumber: BigInt(receipt.blockNumber),
    blockHash: receipt.blockHash,
    succeeded: BigInt(receipt.status) === 1n,
    logs: receipt.logs,
  };
}

/** Null while the node does not have the transaction in a block. @throws RpcRefusal, ChainUnavailable */
export async function findReceipt(rpc: Rpc, hash: Hex): Promise<Receipt | null> {
  return readReceipt(await rpc.call<RpcReceipt>('eth_getTransactionReceipt', [hash]));
}

export function receiptCalls(hashes: readonly Hex[]): RpcCall[] {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
}

const DECIMALS_CALL = '0x313ce567';

/**
 * Compares the configuration with what every node says. A node that does not answer is checked when
 * it is first used.
 * @returns whether a node answered
 * @throws SetupError for a wrong chain, a missing token and wrong decimals
 */
export async function verifyChain({
  network,
  rpc,
}: Pick<Chain, 'network' | 'rpc'>): Promise<boolean> {
  let answered = false;
  for (const [index, node] of rpc.each().entries()) {
    try {
      await verifyNode(network, node, `rpc_urls[${index}]`);
      answered = true;
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
    }
  }
  return answered;
}

async function verifyNode(network: Network, node: Rpc, field: string): Promise<void> {
  const { mode, name, chainId, tokens } = network;
  const at = `Network ${name} (${mode})`;
  const found = await node.readChainId();
  if (found !== chainId) {
    throw new SetupError(
      `${at}: the node of ${field} serves the chain ${found}, but chain_id is ${chainId}. Correct chain_id or the URL.`,
    );
  }
  await verifyFinality(network, node, `${at}: the node of ${field}`);
  for (const { asset, address, decimals } of tokens) {
    const token = `${at}: the token ${asset} at ${address}`;
    const code = await node.call<Hex>('eth_getCode', [address, 'latest']);
    if (code === '0x') {
      throw new SetupError(`${token} has no contract there. Correct tokens[].address.`);
    }
    const answer = await readDecimals(node, address);
    if (answer !== decimals) {
      throw new SetupError(
        `${token} ${answer === null ? 'does not state its decimals' : `has ${answer} decimals`}, but decimals is ${decimals}. Correct tokens[].address or tokens[].decimals.`,
      );
    }
  }
}

/** While nothing is final, a node answers null or that it has no such block. */
async function verifyFinality({ finality }: Network, node: Rpc, which: string): Promise<void> {
  if (finality !== 'finalized') return;
  try {
    await node.call('eth_getBlockByNumber', ['finalized', false]);
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    if (NO_SUCH_BLOCK.test(error.detail)) return;
    throw new SetupError(
      `${which} does not know the block tag "finalized" (${error.detail}). Set finality to a number of confirmations, or use another node.`,
    );
  }
}

const NO_SUCH_BLOCK = /not found|unknown block|no (?:such|finalized) block/i;

async function readDecimals(node: Rpc, address: Address): Promise<number | null> {
  try {
    const call = { to: address, data: DECIMALS_CALL };
    const answer = await node.call<Hex>('eth_call', [call, 'latest']);
    return answer === '0x' || answer.length > 66 ? null : Number(BigInt(answer));
  } catch (error) {
    if (error instanceof RpcRefusal) return null;
    throw error;
  }
}
