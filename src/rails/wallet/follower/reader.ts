/**
 * What the follower asks a node. Everything about one block comes from one request, so that it is one
 * node's view of one block; an answer that does not fit together is asked for again.
 */
import type { Hex } from 'viem';
import { type Chain, toHex } from '../chain/chain';
import { balanceOfCall } from '../chain/erc20';
import { RPC_BATCH_MAX, type RpcAnswer } from '../chain/rpc';
import { InconsistentNode, resultOf } from './answers';
import {
  blockCall,
  type BlockHeader,
  type FullBlock,
  headerOf,
  readFullBlocks,
  type RpcBlock,
} from './blocks';
import {
  feeOf,
  type Movement,
  movementsOf,
  type RpcReceipt,
  type RpcTransaction,
} from './movements';

export type { BlockHeader } from './blocks';

export interface BlockMovement extends Movement {
  block: BlockHeader;
}

/** The assets that left a watched address in a transaction that it signed. */
export interface Spend {
  txHash: string;
  address: string;
  /** Null stands for the native coin. */
  token: string | null;
  units: bigint;
  /** The fee in the native coin; only the spend of the native coin has one. */
  feeUnits: bigint;
  blockNumber: number;
}

export interface BlockContent {
  movements: BlockMovement[];
  spends: Spend[];
}

export type BlockRange = BlockContent & { first: BlockHeader; last: BlockHeader };

/** The watched addresses, in lower case. */
export interface Watched {
  readonly size: number;
  has(address: string): boolean;
}

/** Final blocks that are one step, and one transaction. */
const BLOCKS_PER_RANGE = 50;

export async function readHeader({ rpc }: Chain, at: number | string): Promise<BlockHeader | null> {
  const tag = typeof at === 'number' ? toHex(at) : at;
  const block = await rpc.call<RpcBlock | null>('eth_getBlockByNumber', [tag, false]);
  return block === null ? null : headerOf(block);
}

/** The heads that the chain has now. `safe` and `finalized` null if the node has none yet. */
export async function readHeads(
  chain: Chain,
): Promise<{ latest: BlockHeader; safe: BlockHeader | null; finalized: BlockHeader | null }> {
  const { finality } = chain.network;
  if (finality === 'finalized') {
    const tags = ['latest', 'safe', 'finalized'];
    const answers = await chain.rpc.batch<RpcBlock | null>(tags.map((tag) => blockCall(tag)));
    const [latest, safe, finalized] = answers.map((answer) => {
      // Nodes answer with an error while there is no such block.
      const block = 'result' in answer ? answer.result : null;
      return block === null ? null : headerOf(block);
    });
    if (latest === undefined || latest === null) throw new InconsistentNode('no newest block');
    return { latest, safe: safe ?? null, finalized: finalized ?? null };
  }
  const latest = await readHeader(chain, 'latest');
  if (latest === null) throw new InconsistentNode('no newest block');
  const number = latest.number - finality;
  const finalized = number < 0 ? null : await readHeader(chain, number);
  return { latest, safe: finalized, finalized };
}

/** The blocks are in order, each the parent of the next. */
export async function readHeaders(chain: Chain, from: number, to: number): Promise<BlockHeader[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const answers = await chain.rpc.batches<RpcBlock | null>(
    numbers.map((number) => blockCall(toHex(number))),
  );
  return inOneLine(answers.map((answer) => headerOf(resultOf(answer))));
}

/** @throws InconsistentNode when the node does not have the block */
export async function readBlock(
  chain: Chain,
  header: BlockHeader,
  watched: Watched,
): Promise<BlockContent> {
  if (watched.size === 0) return { movements: [], spends: [] };
  const blocks = await readFullBlocks(chain, [header.number]);
  if (blocks[0]?.header.hash !== header.hash) {
    throw new InconsistentNode('another block than the one asked for');
  }
  return contentOf(chain, blocks, watched);
}

/** Reads as many of these blocks as one step takes. They are final, which makes reading by number right. */
export async function readRange(
  chain: Chain,
  { from, to }: { from: number; to: number },
  watched: Watched,
): Promise<BlockRange> {
  const end = Math.min(to, from - 1 + BLOCKS_PER_RANGE);
  const numbers = Array.from({ length: end - from + 1 }, (_, index) => from + index);
  const blocks = watched.size === 0 ? [] : await readFullBlocks(chain, numbers);
  const headers =
    watched.size === 0
      ? await readHeaders(chain, from, end)
      : inOneLine(blocks.map(({ header }) => header));
  const [first, last] = [headers[0], headers.at(-1)];
  if (first === undefined || last === undefined) throw new InconsistentNode('an empty range');
  return { ...contentOf(chain, blocks, watched), first, last };
}

/** Balances at a block, in the order of the questions. */
export async function readBalances(
  chain: Chain,
  asked: readonly { address: string; token: string | null }[],
  blockNumber: number,
): Promise<bigint[]> {
  const at = toHex(blockNumber);
  const answers = await chain.rpc.batches<Hex>(
    asked.map(({ address, token }) =>
      token === null
        ? { method: 'eth_getBalance', params: [address, at] }
        : { method: 'eth_call', params: [{ to: token, data: balanceOfCall(address) }, at] },
    ),
  );
  return answers.map((answer) => {
    if ('refusal' in answer) throw answer.refusal;
    return BigInt(answer.result);
  });
}

/**
 * Coins at one block, in the order of the addresses. Each request asks for the block before and after
 * the balances, so that they are not those of a block that replaces it.
 */
export async function readBalancesOf(
  chain: Chain,
  addresses: readonly string[],
  { number, hash }: { number: number; hash: string },
): Promise<bigint[]> {
  const at = toHex(number);
  const chunks = chunksOf(addresses, RPC_BATCH_MAX - 2);
  const answers = await chain.rpc.batches<unknown>(
    chunks.flatMap((some) => [
      blockCall(at),
      ...some.map((address) => ({ method: 'eth_getBalance', params: [address, at] })),
      blockCall(at),
    ]),
  );
  return chunks.flatMap((some, index) => {
    const own = answers.slice(index * RPC_BATCH_MAX, index * RPC_BATCH_MAX + some.length + 2);
    const [first, ...rest] = own as RpcAnswer<RpcBlock | null>[];
    const isSame = [first, rest.pop()].every((block) => resultOf(block).hash === hash);
    if (!isSame) throw new InconsistentNode('balances of another block');
    return rest.map((balance) => BigInt(resultOf(balance as RpcAnswer<Hex | null>)));
  });
}

function contentOf(chain: Chain, blocks: readonly FullBlock[], watched: Watched): BlockContent {
  const tokens = new Set(chain.network.tokens.map(({ address }) => address.toLowerCase()));
  const content: BlockContent = { movements: [], spends: [] };
  for (const { header: block, transactions } of blocks) {
    for (const { transaction, receipt } of transactions) {
      const all = movementsOf(transaction, receipt, tokens);
      for (const one of all) {
        if (watched.has(one.to)) content.movements.push({ ...one, block });
      }
      if (watched.has(transaction.from.toLowerCase())) {
        content.spends.push(...readSpends(transaction, receipt, all, block));
      }
    }
  }
  return content;
}

function readSpends(
  { from, hash }: RpcTransaction,
  receipt: RpcReceipt,
  movements: readonly Movement[],
  block: BlockHeader,
): Spend[] {
  const address = from.toLowerCase();
  const sent = new Map<string | null, bigint>([[null, 0n]]);
  for (const one of movements) {
    if (one.from === address) sent.set(one.token, (sent.get(one.token) ?? 0n) + one.units);
  }
  return [...sent].map(([token, units]) => ({
    ...{ txHash: hash, address, token, units, blockNumber: block.number },
    feeUnits: token === null ? feeOf(receipt) : 0n,
  }));
}

function inOneLine(headers: BlockHeader[]): BlockHeader[] {
  headers.forEach((header, index) => {
    const before = headers[index - 1];
    if (before !== undefined && header.parentHash !== before.hash) {
      throw new InconsistentNode('blocks that are not one chain');
    }
  });
  return headers;
}

function chunksOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
