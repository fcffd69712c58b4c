/**
 * A nonce of the wallet that is used, without a receipt of its transactions. When that is final, somebody
 * else has used it, or an older database does not know the transaction, and the payouts stop. Nodes may lag
 * behind each other, so each one is asked.
 */
import type { Address } from 'viem';
import { type Chain, receiptCalls, type RpcReceipt } from '../chain/chain';
import { ignoreSilence } from '../chain/rpc';
import type { Attempt } from './attempts';
import { stopForUsedNonce } from './compare';
import { isNonceFinal } from './nonce-finality';
import type { QueueParts } from './parts';
import type { Slot } from './slots';

export async function reportForeign(
  parts: QueueParts,
  slot: Slot,
  attempts: readonly Attempt[],
): Promise<void> {
  const { chain, key } = parts;
  const said = await askNodes(chain, key.signer, slot.nonce, attempts);
  await watchHidden(parts, slot, said);
  if (said.includes('others') && !said.includes('not others')) await stopForUsedNonce(parts, slot);
}

type Answer =
  /** The nonce is used in a final block, by none of the attempts. */
  | 'others'
  /** It is not used there, or by an attempt. */
  | 'not others'
  /** It is used, and the node tells neither by what nor since when. */
  | 'hidden'
  | 'silent';

async function askNodes(
  chain: Chain,
  signer: string,
  nonce: bigint,
  attempts: readonly Attempt[],
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const node of chain.nodes) {
    const said = await askNode(node, signer as Address, nonce, attempts).catch(ignoreSilence);
    answers.push(said ?? 'silent');
  }
  return answers;
}

async function askNode(
  chain: Chain,
  signer: Address,
  nonce: bigint,
  attempts: readonly Attempt[],
): Promise<Answer> {
  const receipts = await chain.rpc.batches<RpcReceipt>(
    receiptCalls(attempts.map(({ hash }) => hash)),
  );
  if (receipts.some((one) => !('result' in one) || one.result !== null)) return 'not others';
  const isFinal = await isNonceFinal(chain, signer, nonce);
  if (isFinal === null) return 'hidden';
  return isFinal ? 'others' : 'not others';
}

/**
 * No node can end the payout: it waits, and an alarm says so. A node that lags shows the receipt soon, so
 * that the alarm is raised only when this has lasted.
 */
async function watchHidden(
  { chain, key, rules, alarms }: QueueParts,
  { nonce, transferId }: Slot,
  said: readonly Answer[],
): Promise<void> {
  if (transferId === '') return;
  const known = chain.memory.hiddenSince;
  const isHidden =
    said.includes('hidden') && said.every((one) => ['hidden', 'silent'].includes(one));
  if (!isHidden) {
    known.delete(transferId);
    return;
  }
  const since = known.get(transferId) ?? performance.now();
  known.set(transferId, since);
  if (performance.now() - since < rules.replaceAfterMs) return;
  const detail = `Nonce ${nonce} of ${key.signer} is used, and no node shows by which transaction. The payout waits. Add a node to rpc_urls that keeps the state of final blocks, or that shows older transactions.`;
  await alarms.raise('outcome_in_doubt', transferId, detail);
}
