/**
 * What is final, by headers and receipts alone: on many chains, nodes keep the state of the newest blocks
 * only. A receipt counts when its block is final and is the one that the chain has at its height.
 */
import type { Address, Hex } from 'viem';
import { type BlockHead, type Chain, type Receipt, toHex } from './chain';
import type { Rpc } from './rpc';

/** @returns the hashes of the blocks that the chain has at the receipts' heights */
export async function readBlockHashes(rpc: Rpc, receipts: readonly Receipt[]): Promise<Set<Hex>> {
  const numbers = [...new Set(receipts.map(({ blockNumber }) => blockNumber))];
  const answers = await rpc.batches<{ hash: Hex } | null>(
    numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [toHex(number), false],
    })),
  );
  return new Set(
    answers.flatMap((answer) =>
      'result' in answer && answer.result !== null ? [answer.result.hash] : [],
    ),
  );
}

export async function isInFinalBlock(
  rpc: Rpc,
  receipt: Receipt,
  final: BlockHead,
): Promise<boolean> {
  if (receipt.blockNumber > final.number) return false;
  return (await readBlockHashes(rpc, [receipt])).has(receipt.blockHash);
}

export interface UsedNonces {
  /** The account's transactions in blocks: nonces below this one are used. */
  latest: bigint;
  /** The same in final blocks; null where the node does not keep the state of the final block. */
  final: bigint | null;
}

/** @throws RpcRefusal, ChainUnavailable */
export async function readUsedNonces(
  { rpc }: Pick<Chain, 'rpc'>,
  account: Address,
  final: BlockHead | null,
): Promise<UsedNonces> {
  const method = 'eth_getTransactionCount';
  const latest = BigInt(await rpc.call<Hex>(method, [account, 'latest']));
  if (final === null) return { latest, final: 0n };
  const [atFinal] = await rpc.batch<Hex>([{ method, params: [account, toHex(final.number)] }]);
  const isKnown = atFinal !== undefined && 'result' in atFinal;
  return { latest, final: isKnown ? BigInt(atFinal.result) : null };
}
