/**
 * Which transactions used a signer's nonces, mined or in a pool, at any node. Asked at the start, and when the
 * chain and the record differ. Nodes differ in what they tell: one call knows both kinds, the pool's
 * call knows what is pending, and the blocks know what is mined.
 */
import {
  type Address,
  type Hex,
  keccak256,
  recoverTransactionAddress,
  serializeTransaction,
} from 'viem';
import { type Chain, toHex } from '../chain/chain';
import { ChainUnavailable, ignoreSilence, type Rpc } from '../chain/rpc';
import { max } from './fees';

export interface SeenTransaction {
  hash: Hex;
  nonce: bigint;
  to: Address | null;
  data: Hex;
  valueWei: bigint;
  gas: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** The signed bytes, which the signer has signed; null when the answer does not contain them. */
  raw: Hex | null;
}

interface RpcTransaction {
  hash: Hex;
  from: Address;
  nonce: Hex;
  to: Address | null;
  input: Hex;
  value: Hex;
  gas: Hex;
  type?: Hex;
  chainId?: Hex;
  gasPrice?: Hex;
  maxFeePerGas?: Hex;
  maxPriorityFeePerGas?: Hex;
  accessList?: readonly { address: Address; storageKeys: readonly Hex[] }[];
  r: Hex;
  s: Hex;
  v: Hex;
  yParity?: Hex;
}

export interface UsedNonces {
  /** Nonces below this one are used in blocks. */
  mined: bigint;
  /** Nonces below this one are used in blocks or in a node's pool. */
  pending: bigint;
}

/** The highest that any node knows. Nodes that do not answer tell nothing. */
export async function countEverywhere({ rpc }: Chain, signer: Address): Promise<UsedNonces> {
  let used: UsedNonces = { mined: 0n, pending: 0n };
  for (const node of rpc.each()) {
    const answers = await node
      .batch<Hex>([
        { method: 'eth_getTransactionCount', params: [signer, 'latest'] },
        { method: 'eth_getTransactionCount', params: [signer, 'pending'] },
      ])
      .catch(ignoreSilence);
    const [mined, pending] = (answers ?? []).map((answer) =>
      'result' in answer ? BigInt(answer.result) : 0n,
    );
    used = {
      mined: max(used.mined, mined ?? 0n),
      pending: max(used.pending, pending ?? 0n, mined ?? 0n),
    };
  }
  return used;
}

/** Mined ones. @returns one for each nonce that a node shows, the lowest nonce first */
export async function findTransactions(
  chain: Chain,
  signer: Address,
  nonces: readonly bigint[],
): Promise<SeenTransaction[]> {
  const found = new Map<bigint, SeenTransaction>();
  const missing = (): bigint[] => nonces.filter((nonce) => !found.has(nonce));
  for (const node of chain.nodes) {
    for (const find of [askByNonce, searchOnce(node)]) {
      const wanted = missing();
      if (wanted.length === 0) break;
      const seen = await find(node.rpc, signer, wanted).catch(ignoreSilence);
      for (const one of seen ?? []) {
        if (one.from.toLowerCase() !== signer.toLowerCase()) continue;
        const transaction = await readTransaction(one, chain.network.chainId, signer);
        if (wanted.includes(transaction.nonce)) found.set(transaction.nonce, transaction);
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
}

/**
 * Transactions in pools from the first of these nonces on. Behind a nonce that a pool lacks they are in no count of nonces,
 * and are mined as soon as it is used. Nodes that show neither by nonce nor the pool of an account tell nothing.
 * @returns isComplete: no node was silent
 */
export async function findWaiting(
  chain: Chain,
  signer: Address,
  nonces: readonly bigint[],
): Promise<{ seen: SeenTransaction[]; isComplete: boolean }> {
  const from = nonces[0] ?? 0n;
  const found = new Map<bigint, SeenTransaction>();
  let isComplete = true;
  for (const node of chain.rpc.each()) {
    for (const find of [askByNonce, askPool]) {
      const seen = await find(node, signer, nonces).catch((error: unknown) => {
        if (error instanceof ChainUnavailable) isComplete = false;
        ignoreSilence(error);
      });
      for (const one of seen ?? []) {
        if (one.from.toLowerCase() !== signer.toLowerCase() || BigInt(one.nonce) < from) continue;
        const transaction = await readTransaction(one, chain.network.chainId, signer);
        found.set(transaction.nonce, transaction);
      }
    }
  }
  return { seen: [...found.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1)), isComplete };
}

type Find = (node: Rpc, signer: Address, nonces: readonly bigint[]) => Promise<RpcTransaction[]>;

/** Reth, Besu, newer Geth and anvil. Others refuse the method. */
const askByNonce: Find = async (node, signer, nonces) => {
  const answers = await node.batches<RpcTransaction | null>(
    nonces.map((nonce) => ({
      method: 'eth_getTransactionBySenderAndNonce',
      params: [signer, toHex(nonce)],
    })),
  );
  return answers.flatMap((answer) =>
    'result' in answer && answer.result !== null ? [answer.result] : [],
  );
};

/** Geth and its kin, where the operator of the node allows it. */
const askPool: Find = async (node, signer) => {
  type Content = Record<'pending' | 'queued', Record<string, RpcTransaction>>;
  const content = await node.call<Partial<Content> | null>('txpool_contentFrom', [signer]);
  return [...Object.values(content?.pending ?? {}), ...Object.values(content?.queued ?? {})];
};

async function readBlock(node: Rpc, at: string, signer: Address): Promise<RpcTransaction[]> {
  const block = await node.call<{ transactions: RpcTransaction[] } | null>('eth_getBlockByNumber', [
    at,
    true,
  ]);
  return (block?.transactions ?? []).filter(
    ({ from }) => from.toLowerCase() === signer.toLowerCase(),
  );
}

/** This is some days of Ethereum, and some hours of a chain with a block each second. */
const SEARCHED_BLOCKS_MAX = 20_000n;
const BLOCKS_AT_ONCE = 10n;
/** A search in vain is repeated after this time: a stopped signer is looked at with each poll. */
const SEARCH_AGAIN_MS = 60_000;

function searchOnce({ memory: { searchedInVain } }: Chain): Find {
  return async (node, signer, nonces) => {
    const key = [signer, nonces[0], nonces.length].join(' ');
    const before = searchedInVain.get(key);
    if (before !== undefined && performance.now() - before < SEARCH_AGAIN_MS) return [];
    searchedInVain.set(key, performance.now());
    const found = await searchBlocks(node, signer, nonces);
    if (found.length > 0) searchedInVain.delete(key);
    return found;
  };
}

/** From the newest block backwards: a lower nonce is never in a later block. */
async function searchBlocks(
  node: Rpc,
  signer: Address,
  nonces: readonly bigint[],
): Promise<RpcTransaction[]> {
  const head = BigInt(await node.call<Hex>('eth_blockNumber'));
  const after = max(0n, head - SEARCHED_BLOCKS_MAX);
  const used = BigInt(await node.call<Hex>('eth_getTransactionCount', [signer, toHex(head)]));
  const wanted = nonces.filter((nonce) => nonce < used);
  const found: RpcTransaction[] = [];
  for (let to = head; wanted.length > 0 && to >= after; to -= BLOCKS_AT_ONCE) {
    const numbers = Array.from(
      { length: Number(BLOCKS_AT_ONCE) },
      (_, index) => to - BigInt(index),
    );
    const blocks = await Promise.all(
      numbers
        .filter((number) => number >= after)
        .map((number) => readBlock(node, toHex(number), signer)),
    );
    found.push(...blocks.flat());
    if (found.some(({ nonce }) => BigInt(nonce) <= (wanted[0] ?? 0n))) break;
  }
  return found;
}

async function readTransaction(
  one: RpcTransaction,
  chainId: number,
  signer: Address,
): Promise<SeenTransaction> {
  const maxFeePerGas = BigInt(one.maxFeePerGas ?? one.gasPrice ?? '0x0');
  return {
    hash: one.hash,
    nonce: BigInt(one.nonce),
    to: one.to,
    data: one.input,
    valueWei: BigInt(one.value),
    gas: BigInt(one.gas),
    maxFeePerGas,
    maxPriorityFeePerGas: BigInt(one.maxPriorityFeePerGas ?? one.gasPrice ?? '0x0'),
    raw: await rawOf(one, chainId, signer),
  };
}

/**
 * The wallet makes transactions of type 2 only. The hash shows that nothing is missing, and the
 * signature that the signer made it: a node may lie about both.
 */
async function rawOf(one: RpcTransaction, chainId: number, signer: Address): Promise<Hex | null> {
  if (one.type !== '0x2' || one.to === null) return null;
  const raw = serializeTransaction(
    {
      type: 'eip1559',
      chainId,
      nonce: Number(BigInt(one.nonce)),
      to: one.to,
      data: one.input,
      value: BigInt(one.value),
      gas: BigInt(one.gas),
      maxFeePerGas: BigInt(one.maxFeePerGas ?? '0x0'),
      maxPriorityFeePerGas: BigInt(one.maxPriorityFeePerGas ?? '0x0'),
      accessList: one.accessList ?? [],
    },
    { r: one.r, s: one.s, yParity: Number(BigInt(one.yParity ?? one.v)) },
  );
  if (keccak256(raw) !== one.hash) return null;
  const from = await recoverTransactionAddress({ serializedTransaction: raw });
  return from.toLowerCase() === signer.toLowerCase() ? raw : null;
}
