/**
 * What the sender needs to know of the chain, read in one request to one node, so that nonces,
 * balances and blocks are of about the same moment. `pending` is a node's guess: it may show that the
 * record is an old one, and no nonce is taken from it. What is final is known from a header: many nodes
 * do not keep the state of that block.
 */
import type { Address, Hex } from 'viem';
import { type Chain, readPrice, toHex } from '../chain/chain';
import { balanceOfCall } from '../chain/erc20';
import { ChainUnavailable, type RpcAnswer, type RpcCall } from '../chain/rpc';

export interface ChainView {
  /** The newest block. */
  headBlock: bigint;
  baseFeePerGas: bigint;
  priorityFeePerGas: bigint;
  /** The signer's transactions in blocks: nonces below this one are used. */
  usedNonces: bigint;
  /** Counts what is in the node's pool as well. It raises an alarm, and no nonce is taken from it. */
  pendingNonces: bigint;
  /** -1n while no block is final. */
  finalBlock: bigint;
  /** asset → units that the signer has in the latest block. */
  balances: ReadonlyMap<string, bigint>;
}

interface RpcHead {
  number: Hex;
  baseFeePerGas?: Hex;
}

export async function readView(chain: Chain, signer: Address): Promise<ChainView> {
  const { network, rpc } = chain;
  const finalTag = await readFinalTag(chain);
  const calls: RpcCall[] = [
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    { method: 'eth_getTransactionCount', params: [signer, 'latest'] },
    { method: 'eth_maxPriorityFeePerGas' },
    { method: 'eth_getBlockByNumber', params: [finalTag, false] },
    { method: 'eth_getBalance', params: [signer, 'latest'] },
    { method: 'eth_getTransactionCount', params: [signer, 'pending'] },
    ...network.tokens.map(({ address }) => ({
      method: 'eth_call',
      params: [{ to: address, data: balanceOfCall(signer) }, 'latest'],
    })),
  ];
  const answers = await rpc.batch<unknown>(calls);
  const [head, used, tip, final, coins, pending, ...tokens] = answers;
  const latest = (resultOf(head) as RpcHead | null) ?? fail('eth_getBlockByNumber');
  // Nodes refuse the tag, or answer null, while nothing is final.
  const finalHead =
    final !== undefined && 'result' in final ? (final.result as RpcHead | null) : null;
  const balances = new Map([[network.native.asset, BigInt(resultOf(coins) as Hex)]]);
  for (const [index, { asset }] of network.tokens.entries()) {
    const balance = tokens[index];
    // A token that does not answer has no float.
    const units = balance !== undefined && 'result' in balance ? (balance.result as Hex) : '0x';
    balances.set(asset, units === '0x' ? 0n : BigInt(units));
  }
  const usedNonces = BigInt(resultOf(used) as Hex);
  const pendingNonces =
    pending !== undefined && 'result' in pending ? BigInt(pending.result as Hex) : 0n;
  return {
    headBlock: BigInt(latest.number),
    baseFeePerGas: BigInt(latest.baseFeePerGas ?? '0x0'),
    priorityFeePerGas: await boundedTip(chain, tip),
    usedNonces,
    pendingNonces: pendingNonces > usedNonces ? pendingNonces : usedNonces,
    finalBlock: finalHead === null ? -1n : BigInt(finalHead.number),
    balances,
  };
}

const DEFAULT_TIP_WEI = 1_000_000_000n;

async function boundedTip(chain: Chain, answer: RpcAnswer | undefined): Promise<bigint> {
  const { payouts } = chain.network;
  if (payouts !== null && payouts.priorityFeePerGasWei !== null)
    return payouts.priorityFeePerGasWei;
  if (answer === undefined || 'refusal' in answer) return DEFAULT_TIP_WEI;
  const tip = BigInt(answer.result as Hex);
  if (payouts === null || tip <= payouts.maxFeePerGasWei) return tip;
  const other = await readPrice(chain, 'eth_maxPriorityFeePerGas', payouts.maxFeePerGasWei);
  return other ?? DEFAULT_TIP_WEI;
}

async function readFinalTag({ network, rpc }: Chain): Promise<string> {
  if (network.finality === 'finalized') return 'finalized';
  const head = BigInt(await rpc.call<Hex>('eth_blockNumber'));
  const final = head - BigInt(network.finality);
  return toHex(final < 0n ? 0n : final);
}

/** @throws RpcRefusal */
function resultOf<T>(answer: RpcAnswer<T> | undefined): T {
  if (answer === undefined) return fail('a call of a batch');
  if ('refusal' in answer) throw answer.refusal;
  return answer.result;
}

function fail(call: string): never {
  throw new ChainUnavailable(`${call}: the node gave no answer`);
}
