/**
 * What the follower asks a node. Everything about one block comes from one request, so that it is one
 * node's view of one block; an answer that does not fit together is asked for again.
 */
import type { Hex } from 'viem';
import { type Chain, receiptCalls } from '../chain/chain';
import { balanceOfCall, topicOfAddress, TRANSFER_TOPIC } from '../chain/erc20';
import { RPC_BATCH_MAX, type RpcAnswer, type RpcCall } from '../chain/rpc';
import { InconsistentNode, resultOf } from './answers';
import { completeLogs } from './logs';
import {
  feeOf,
  isSuccessful,
  type Movement,
  readNativeTransfer,
  readTransferLogs,
  type RpcLog,
  type RpcReceipt,
  type RpcTransaction,
} from './movements';

export interface BlockHeader {
  number: number;
  hash: string;
  parentHash: string;
  time: Date;
}

export interface BlockMovement extends Movement {
  block: BlockHeader;
}

/** What left a watched address in a transaction that it signed. */
export interface Spend {
  txHash: string;
  address: string;
  /** Null stands for the native coin. */
  token: string | null;
  units: bigint;
  /** In the native coin; only the spend of the native coin has one. */
  feeUnits: bigint;
  blockNumber: number;
}

export interface BlockContent {
  movements: BlockMovement[];
  spends: Spend[];
}

/** Who is watched. All addresses are in lower case. */
export interface Watched {
  has(address: string): boolean;
  list(): readonly string[];
}

interface RpcBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  logsBloom?: Hex;
}

type RpcFullBlock = RpcBlock & { transactions: RpcTransaction[] };

/** Addresses in one filter; nodes limit the size of a request. */
const TOPICS_PER_FILTER = 1_000;
/**
 * With more addresses than this, all transfers of the tokens in a block are less work than the
 * filter, which would be 67 kB for each thousand addresses.
 */
const FILTERED_ADDRESSES_MAX = 1_000;

export async function readHeader({ rpc }: Chain, at: number | string): Promise<BlockHeader | null> {
  const tag = typeof at === 'number' ? toHex(at) : at;
  const block = await rpc.call<RpcBlock | null>('eth_getBlockByNumber', [tag, false]);
  return block === null ? null : headerOf(block);
}

/** The heads that the chain has now. `safe` and `finalized` null: the node has none yet. */
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
  const addresses = watched.list();
  if (addresses.length === 0) return { movements: [], spends: [] };
  const filters = filtersOf(chain, addresses, addresses.length > FILTERED_ADDRESSES_MAX);
  const [block, ...logs] = await chain.rpc.batch<unknown>([
    { method: 'eth_getBlockByHash', params: [header.hash, true] },
    ...filters.map((filter) => logsCall({ ...filter, blockHash: header.hash })),
  ]);
  // The same node answered all calls: a node without the block has no logs of it either.
  const full = resultOf(block as RpcAnswer<RpcFullBlock | null>);
  if (full.hash !== header.hash) throw new InconsistentNode('another block than the one asked for');
  const answers = logs.map((answer) => ({
    addresses,
    logs: resultOf(answer as RpcAnswer<RpcLog[] | null>),
  }));
  const complete = await completeLogs(chain, [full], answers);
  return contentOf(chain, [full], complete, watched);
}

/**
 * Blocks that are final, which is what makes reading by number right.
 * @throws RpcRefusal when the range has more logs than the node returns
 */
export async function readRange(
  chain: Chain,
  from: number,
  to: number,
  watched: Watched,
): Promise<BlockContent & { last: BlockHeader; first: BlockHeader }> {
  const addresses = watched.list();
  if (addresses.length === 0) {
    const [first, ...others] = await readHeaders(chain, from, to);
    if (first === undefined) throw new InconsistentNode('an empty range');
    return { movements: [], spends: [], first, last: others.at(-1) ?? first };
  }
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const range = { fromBlock: toHex(from), toBlock: toHex(to) };
  const filters = filtersOf(chain, addresses, false);
  // The logs first: when the range is refused, no block was read in vain.
  const logs = await readRangeLogs(
    chain,
    filters.map((filter) => logsCall({ ...filter, ...range })),
    to,
  );
  const answers = await chain.rpc.batches<RpcFullBlock | null>(
    numbers.map((number) => ({ ...blockCall(toHex(number), true) })),
  );
  const blocks = answers.map(resultOf);
  const headers = inOneLine(blocks.map(headerOf));
  const [first, last] = [headers[0], headers.at(-1)];
  if (first === undefined || last === undefined) throw new InconsistentNode('an empty range');
  if (logs.lastHashes.some((hash) => hash !== last.hash)) {
    throw new InconsistentNode('logs of another chain');
  }
  const parts = chunksOf(addresses, TOPICS_PER_FILTER);
  const complete = await completeLogs(
    chain,
    blocks,
    logs.found.map((part, index) => ({ addresses: parts[index] ?? [], logs: part })),
  );
  const content = await contentOf(chain, blocks, complete, watched);
  return { ...content, first, last };
}

/**
 * A node that does not have the last block of a range answers as if the range were shorter. So each
 * request asks for that block as well.
 * @returns the logs of each call
 */
async function readRangeLogs(
  chain: Chain,
  calls: readonly RpcCall[],
  to: number,
): Promise<{ found: RpcLog[][]; lastHashes: string[] }> {
  const found: RpcLog[][] = [];
  const lastHashes: string[] = [];
  for (const some of chunksOf(calls, RPC_BATCH_MAX - 1)) {
    const [last, ...logs] = await chain.rpc.batch<unknown>([blockCall(toHex(to)), ...some]);
    lastHashes.push(resultOf(last as RpcAnswer<RpcBlock | null>).hash);
    found.push(...logs.map((answer) => resultOf(answer as RpcAnswer<RpcLog[] | null>)));
  }
  return { found, lastHashes };
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

/** Finds what concerns watched addresses, and asks for the receipts of those transactions only. */
async function contentOf(
  chain: Chain,
  blocks: readonly RpcFullBlock[],
  logs: readonly RpcLog[],
  watched: Watched,
): Promise<BlockContent> {
  const headers = new Map(blocks.map((block) => [block.hash as string, headerOf(block)]));
  const tokens = new Set(chain.network.tokens.map(({ address }) => address.toLowerCase()));
  const movements: BlockMovement[] = [];
  for (const [hash, ofBlock] of groupBy(logs, ({ blockHash }) => blockHash)) {
    const block = headers.get(hash);
    if (block === undefined) throw new InconsistentNode('a log of another block');
    for (const one of readTransferLogs(ofBlock, tokens)) {
      if (watched.has(one.to)) movements.push({ ...one, block });
    }
  }
  const spends: Spend[] = [];
  const touching = blocks.flatMap((block) =>
    block.transactions
      .filter((one) => isTouching(one, watched))
      .map((transaction) => ({ transaction, block: headerOf(block) })),
  );
  const receipts = await readReceipts(chain, touching);
  for (const [index, { transaction, block }] of touching.entries()) {
    const receipt = receipts[index];
    if (receipt === undefined) throw new InconsistentNode('a receipt is missing');
    const native = isSuccessful(receipt) ? readNativeTransfer(transaction) : null;
    if (native !== null && native.units > 0n && watched.has(native.to)) {
      movements.push({ ...native, block });
    }
    if (watched.has(transaction.from.toLowerCase())) {
      spends.push(...readSpends(transaction, receipt, native, tokens, block));
    }
  }
  return { movements, spends };
}

function isTouching({ from, to, value }: RpcTransaction, watched: Watched): boolean {
  if (watched.has(from.toLowerCase())) return true;
  return to !== null && value !== '0x0' && watched.has(to.toLowerCase());
}

function readSpends(
  transaction: RpcTransaction,
  receipt: RpcReceipt,
  native: Movement | null,
  tokens: ReadonlySet<string>,
  block: BlockHeader,
): Spend[] {
  const address = transaction.from.toLowerCase();
  const common = { txHash: transaction.hash, address, blockNumber: block.number };
  const coins = {
    ...common,
    token: null,
    units: native?.units ?? 0n,
    feeUnits: feeOf(receipt),
  };
  const sent = isSuccessful(receipt) ? readTransferLogs(receipt.logs, tokens) : [];
  const byToken = groupBy(
    sent.filter(({ from }) => from === address),
    ({ token }) => token,
  );
  const ofTokens = [...byToken].map(([token, all]) => ({
    ...common,
    token,
    feeUnits: 0n,
    units: all.reduce((sum, { units }) => sum + units, 0n),
  }));
  return [coins, ...ofTokens];
}

async function readReceipts(
  chain: Chain,
  of: readonly { transaction: RpcTransaction; block: BlockHeader }[],
): Promise<RpcReceipt[]> {
  const answers = await chain.rpc.batches<(RpcReceipt & { blockHash: Hex }) | null>(
    receiptCalls(of.map(({ transaction }) => transaction.hash)),
  );
  return answers.map((answer, index) => {
    const receipt = resultOf(answer);
    if (receipt.blockHash !== of[index]?.block.hash) {
      throw new InconsistentNode('a receipt of another block');
    }
    return receipt;
  });
}

type Filter = Record<string, unknown>;

function filtersOf(
  { network }: Chain,
  addresses: readonly string[],
  isUnfiltered: boolean,
): Filter[] {
  const address = network.tokens.map((token) => token.address);
  if (address.length === 0) return [];
  if (isUnfiltered) return [{ address, topics: [TRANSFER_TOPIC] }];
  return chunksOf(addresses, TOPICS_PER_FILTER).map((chunk) => ({
    address,
    topics: [TRANSFER_TOPIC, null, chunk.map(topicOfAddress)],
  }));
}

function logsCall(filter: Filter): RpcCall {
  return { method: 'eth_getLogs', params: [filter] };
}

function blockCall(tag: string, isFull = false): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, isFull] };
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

function headerOf({ number, hash, parentHash, timestamp }: RpcBlock): BlockHeader {
  return {
    number: Number(number),
    hash,
    parentHash,
    time: new Date(Number(timestamp) * 1000),
  };
}

function groupBy<T, Key>(all: readonly T[], keyOf: (one: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

function chunksOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

function toHex(number: number): Hex {
  return `0x${number.toString(16)}`;
}
