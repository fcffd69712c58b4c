/**
 * Ends transfers when the chain calls their transaction final, and not before: until then a
 * reorganisation may undo it. A nonce that is used at a final block without a receipt of ours was
 * used by somebody else, and stops the signer.
 */
import type { Address, Hex } from 'viem';
import { type Receipt, readReceipt, type RpcReceipt } from '../chain/chain';
import type { Tx } from '../db/database';
import { explainUsedNonce } from './explain';
import { findOutcome, type Outcome } from './outcome';
import { requeueFreed } from './free-nonce';
import type { QueueParts } from './queue';
import { type Attempt, findAttempts, findOpenSlots, type Slot, stopSigner } from './slots';
import { finishTransfer, type FailureCode } from './transfers';
import { type ChainView, readView } from './view';
import { DECISION_PENDING } from './waiting';

const BATCH = 20;

/** @returns whether there may be more */
export async function settleFinal(parts: QueueParts, view: ChainView): Promise<boolean> {
  const { db, key } = parts;
  const slots = await findOpenSlots(db, key, { upTo: view.finalNonces, limit: BATCH });
  const last = slots.at(-1);
  if (last === undefined) return false;
  const attempts = await findAttempts(db, key, { upTo: last.nonce + 1n });
  const receipts = await readReceipts(parts, attempts);
  const ends: { slot: Slot; receipt: Receipt; isEmpty: boolean }[] = [];
  for (const slot of slots) {
    const own = attempts.filter(({ nonce }) => nonce === slot.nonce);
    const receipt = own.map(({ hash }) => receipts.get(hash)).find((one) => one !== undefined);
    if (receipt === undefined) {
      await reportForeign(parts, slot, own);
    } else if (receipt.blockNumber <= view.finalBlock) {
      const mined = own.find(({ hash }) => receipts.get(hash) === receipt);
      ends.push({ slot, receipt, isEmpty: mined?.isEmpty === true });
    }
  }
  if (ends.length === 0) return false;
  const outcomes: { slot: Slot; outcome: Outcome }[] = [];
  for (const { slot, receipt, isEmpty } of ends) {
    if (isEmpty) continue;
    const outcome = await findOutcome(parts.chain, key.signer, slot, receipt);
    outcomes.push({ slot, outcome });
  }
  const freed = ends.filter(({ isEmpty }) => isEmpty);
  await db.transaction(async (tx) => {
    for (const { slot } of freed) await requeueFreed(tx, key, slot);
    for (const { slot, outcome } of outcomes) await settle(parts, tx, slot, outcome);
  });
  const isProgress =
    freed.length > 0 || outcomes.some(({ outcome }) => outcome.kind !== 'in_doubt');
  return isProgress && slots.length === BATCH;
}

async function readReceipts(
  { chain }: QueueParts,
  attempts: readonly Attempt[],
): Promise<Map<Hex, Receipt>> {
  const calls = attempts.map(({ hash }) => ({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  }));
  const receipts = new Map<Hex, Receipt>();
  for (const [index, answer] of (await chain.rpc.batches<RpcReceipt>(calls)).entries()) {
    const receipt = 'result' in answer ? readReceipt(answer.result) : null;
    const attempt = attempts[index];
    if (receipt !== null && attempt !== undefined) receipts.set(attempt.hash, receipt);
  }
  return receipts;
}

/** The alarm of an outcome that was in doubt ends with it. */
async function settle(
  { key, chain, alarms }: QueueParts,
  tx: Tx,
  slot: Slot,
  outcome: Outcome,
): Promise<void> {
  const { receipt } = outcome;
  const { transferId } = slot;
  if (outcome.kind === 'in_doubt') {
    const detail = `Nodes disagree about transaction ${receipt.transactionHash}, or too few of them answer. The payout waits until two of them say the same.`;
    await alarms.raise('outcome_in_doubt', transferId, detail, tx);
    return;
  }
  const [row] = await tx.query(
    `UPDATE wallet.slot SET state = $4
     WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open' RETURNING nonce`,
    [key.chainId, key.signer, slot.nonce.toString(), outcome.kind === 'sent' ? 'sent' : 'failed'],
  );
  if (row === undefined) return;
  await tx.query(
    `UPDATE wallet.alarm SET cleared_at = clock_timestamp()
     WHERE chain_id = $1 AND kind = 'outcome_in_doubt' AND subject = $2 AND cleared_at IS NULL`,
    [chain.network.chainId, transferId],
  );
  const txHash = receipt.transactionHash;
  if (outcome.kind === 'reverted') {
    const failureCode: FailureCode = 'destination_unreachable';
    await finishTransfer(tx, { transferId, status: 'failed', failureCode, txHash });
    return;
  }
  if (outcome.kind === 'sent') {
    await finishTransfer(tx, { transferId, status: 'confirmed', failureCode: null, txHash });
    if (outcome.units === slot.units) return;
  } else await awaitDecision(tx, transferId, txHash);
  const what =
    outcome.kind === 'sent'
      ? `${outcome.units.toString()} units of ${slot.units.toString()}`
      : 'nothing';
  await alarms.raise(
    'not_transferred',
    transferId,
    `Transaction ${txHash} succeeded, but transferred ${what} of ${slot.asset}. Check the token's contract.`,
    tx,
  );
}

/** It does not fail by itself: what is refunded and was paid after all is lost. */
async function awaitDecision(tx: Tx, transferId: string, txHash: Hex): Promise<void> {
  await tx.query(
    `UPDATE wallet.transfer
     SET waiting_for = $2, waiting_since = clock_timestamp(), waiting_detail = $3, tx_hash = $4
     WHERE id = $1 AND status = 'sending'`,
    [transferId, DECISION_PENDING, 'The transaction succeeded and transferred nothing.', txHash],
  );
}

/**
 * Nodes may lag behind each other, so each one is asked. Nothing about the transfer changes: an
 * operator looks first, and `resumeSigner` asks all nodes again.
 */
async function reportForeign(
  parts: QueueParts,
  slot: Slot,
  attempts: readonly Attempt[],
): Promise<void> {
  const { db, chain, key, alarms } = parts;
  if (!(await isUsedByOthers(chain, key.signer, slot.nonce, attempts))) return;
  if (await explainUsedNonce(parts, slot)) return;
  const reason = `Nonce ${slot.nonce.toString()} was used by a transaction that the wallet did not make.`;
  const remedy = 'Find out who else has the key, then run npm run wallet -- resume-signer.';
  await db.transaction(async (tx) => {
    if (!(await stopSigner(tx, key, reason, { openNonce: slot.nonce }))) return;
    await alarms.raise('signer_stopped', key.signer, `${reason} ${remedy}`, tx);
  });
}

/** True when every node that answers has the nonce in a final block and none of the attempts. */
export async function isUsedByOthers(
  chain: QueueParts['chain'],
  signer: string,
  nonce: bigint,
  attempts: readonly Attempt[],
  { everyNode = false } = {},
): Promise<boolean> {
  let answered = 0;
  const nodes = chain.rpc.each();
  for (const rpc of nodes) {
    const view = await readView({ ...chain, rpc }, signer as Address).catch(() => null);
    if (view === null) continue;
    if (view.finalNonces <= nonce) return false;
    const calls = attempts.map(({ hash }) => ({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    }));
    const receipts = await rpc.batches<RpcReceipt>(calls);
    if (receipts.some((one) => !('result' in one) || one.result !== null)) return false;
    answered += 1;
  }
  return answered > 0 && (!everyNode || answered === nodes.length);
}
