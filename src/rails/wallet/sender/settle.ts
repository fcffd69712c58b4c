/**
 * Ends transfers when the chain calls their transaction final, and not before: until then a
 * reorganisation may undo it. Headers and receipts say it, because many nodes do not keep the state of
 * a final block. A nonce that is used without a receipt of ours: see ./used-by-others.
 */
import type { Hex } from 'viem';
import { endAlarm } from '../alarms';
import { type Receipt, readReceipt, receiptCalls, type RpcReceipt } from '../chain/chain';
import { readBlockHashes } from '../chain/finality';
import type { Tx } from '../db/database';
import { findOutcome, type Mined, type Outcome } from './outcome';
import type { QueueParts } from './parts';
import { type Attempt, findAttempts } from './attempts';
import { findOpenSlots, type Slot } from './slots';
import { finishTransfer, type FailureCode } from './transfers';
import { reportForeign } from './used-by-others';
import type { ChainView } from './view';
import { DECISION_PENDING } from './waiting';

const BATCH = 20;

/** @returns whether there may be more */
export async function settleFinal(parts: QueueParts, view: ChainView): Promise<boolean> {
  const { db, key } = parts;
  const slots = await findOpenSlots(db, key, { upTo: view.usedNonces, limit: BATCH });
  const ends = await withoutOtherBranches(parts, await findEnds(parts, view, slots));
  if (ends.length === 0) return false;
  const outcomes: { slot: Slot; outcome: Outcome }[] = [];
  for (const mined of ends) {
    outcomes.push({ slot: mined.slot, outcome: await findOutcome(parts.chain, key.signer, mined) });
  }
  await db.transaction(async (tx) => {
    for (const { slot, outcome } of outcomes) await settle(parts, tx, slot, outcome);
  });
  const isProgress = outcomes.some(({ outcome }) => outcome.kind !== 'in_doubt');
  return isProgress && slots.length === BATCH;
}

/** Returns the slots whose receipt is of a block that is not above the final one. */
async function findEnds(
  parts: QueueParts,
  view: ChainView,
  slots: readonly Slot[],
): Promise<Mined[]> {
  const [lowest] = slots;
  if (lowest === undefined) return [];
  const next = lowest.nonce + 1n;
  const first = await findAttempts(parts.db, parts.key, { from: lowest.nonce, upTo: next });
  const receipts = await readReceipts(parts, first);
  // A later nonce is never in an earlier block, and most rounds end here.
  const [minedFirst] = receipts.values();
  if (minedFirst !== undefined && minedFirst.blockNumber > view.finalBlock) return [];
  const upTo = (slots.at(-1) ?? lowest).nonce + 1n;
  const others = await findAttempts(parts.db, parts.key, { from: next, upTo });
  for (const [hash, receipt] of await readReceipts(parts, others)) receipts.set(hash, receipt);
  const attempts = [...first, ...others];
  const ends: Mined[] = [];
  for (const slot of slots) {
    const own = attempts.filter(({ nonce }) => nonce === slot.nonce);
    const mined = own.find(({ hash }) => receipts.has(hash));
    const receipt = mined === undefined ? undefined : receipts.get(mined.hash);
    if (receipt === undefined) await reportForeign(parts, slot, own);
    else if (receipt.blockNumber <= view.finalBlock) {
      ends.push({ slot, receipt, isEmpty: mined?.isEmpty === true });
    }
  }
  return ends;
}

/** A node may keep the receipt of a block that was replaced: it says nothing about the chain. */
async function withoutOtherBranches(
  { chain, alarms }: QueueParts,
  ends: readonly Mined[],
): Promise<Mined[]> {
  const hashes = await readBlockHashes(
    chain.rpc,
    ends.map(({ receipt }) => receipt),
  );
  const kept: Mined[] = [];
  for (const end of ends) {
    const { transactionHash, blockHash, blockNumber } = end.receipt;
    if (hashes.has(blockHash)) {
      kept.push(end);
      continue;
    }
    const detail = `The receipt of transaction ${transactionHash} is of the block ${blockHash}, and the node has another final block ${blockNumber}. The payout waits until they agree.`;
    await alarms.raise('outcome_in_doubt', subjectOf(end.slot), detail);
  }
  return kept;
}

async function readReceipts(
  { chain }: QueueParts,
  attempts: readonly Attempt[],
): Promise<Map<Hex, Receipt>> {
  const calls = receiptCalls(attempts.map(({ hash }) => hash));
  const receipts = new Map<Hex, Receipt>();
  for (const [index, answer] of (await chain.rpc.batches<RpcReceipt>(calls)).entries()) {
    const receipt = 'result' in answer ? readReceipt(answer.result) : null;
    const attempt = attempts[index];
    if (receipt !== null && attempt !== undefined) receipts.set(attempt.hash, receipt);
  }
  return receipts;
}

/** An empty transaction of a restore has no transfer. */
function subjectOf({ transferId, nonce }: Slot): string {
  return transferId === '' ? `nonce ${nonce}` : transferId;
}

/** The alarm of an outcome that was in doubt ends with it. */
async function settle(parts: QueueParts, tx: Tx, slot: Slot, outcome: Outcome): Promise<void> {
  const { key, alarms } = parts;
  const { receipt } = outcome;
  const { transferId } = slot;
  if (outcome.kind === 'in_doubt') {
    const detail = `Nodes disagree about transaction ${receipt.transactionHash}, or too few of them answer. The payout waits until two of them say the same.`;
    await alarms.raise('outcome_in_doubt', subjectOf(slot), detail, tx);
    return;
  }
  const before = await readTransfer(tx, slot);
  const isSentAgain = outcome.kind === 'reverted' && before.isSending && !before.wasReverted;
  const isFreed = outcome.kind === 'freed' || isSentAgain;
  const state = outcome.kind === 'sent' ? 'sent' : isFreed ? 'foreign' : 'failed';
  const [row] = await tx.query(
    `UPDATE wallet.slot SET state = $4, settled_block = $5
     WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND state = 'open' RETURNING nonce`,
    [key.chainId, key.signer, slot.nonce, state, receipt.blockNumber.toString()],
  );
  if (row === undefined) return;
  await endAlarm(tx, key.chainId, 'outcome_in_doubt', subjectOf(slot));
  const txHash = receipt.transactionHash;
  if (outcome.kind === 'freed') return requeue(tx, transferId, null);
  await reportChanged(tx, alarms, slot, outcome);
  if (isSentAgain) return requeue(tx, transferId, txHash);
  if (outcome.kind === 'reverted') {
    if (before.isSending) await settleRevertedAgain(parts, tx, slot, txHash);
    return;
  }
  if (outcome.kind === 'sent') {
    await finishTransfer(tx, { transferId, status: 'confirmed', failureCode: null, txHash });
    if (outcome.units === slot.units) return;
  } else {
    await awaitDecision(tx, slot, txHash, 'The transaction succeeded and transferred nothing.');
  }
  const what = outcome.kind === 'sent' ? `${outcome.units} units of ${slot.units}` : 'nothing';
  const detail = `Transaction ${txHash} succeeded, but transferred ${what} of ${slot.asset}. Check the token's contract.`;
  await alarms.raise('not_transferred', transferId, detail, tx);
}

interface TransferBefore {
  /** The gateway was not told of an end, as it may have been before a reorganization. */
  isSending: boolean;
  /** An earlier transaction of it was reverted. */
  wasReverted: boolean;
}

/**
 * A reverted transaction does not say who refused it: the token may have been paused, or the hot wallet
 * frozen. Its nonce is used for ever, so the transfer is queued again, and fails there when its recipient
 * refuses it. That happens once, because each time costs the network fee.
 */
async function readTransfer(tx: Tx, { transferId }: Slot): Promise<TransferBefore> {
  const [transfer] = await tx.query<TransferBefore>(
    `SELECT status = 'sending' AS "isSending", EXISTS (
       SELECT 1 FROM wallet.slot WHERE transfer_id = transfer.id AND state = 'foreign'
         AND freed_at IS NULL AND settled_block IS NOT NULL) AS "wasReverted"
     FROM wallet.transfer WHERE id = $1`,
    [transferId],
  );
  return transfer ?? { isSending: false, wasReverted: false };
}

/** Nothing was transferred and the nonce is used in a final block, so the transfer may have another one. */
async function requeue(tx: Tx, transferId: string, txHash: Hex | null): Promise<void> {
  await tx.query(
    `UPDATE wallet.transfer SET status = 'queued', tx_hash = coalesce($2, tx_hash)
     WHERE id = $1 AND status = 'sending'`,
    [transferId, txHash],
  );
}

/** Coins are refused by their recipient alone; a token may have a rule that no estimate shows. */
async function settleRevertedAgain(
  { chain, alarms }: QueueParts,
  tx: Tx,
  slot: Slot,
  txHash: Hex,
): Promise<void> {
  const { transferId, asset } = slot;
  if (asset === chain.network.native.asset) {
    const failureCode: FailureCode = 'destination_unreachable';
    await finishTransfer(tx, { transferId, status: 'failed', failureCode, txHash });
    return;
  }
  await awaitDecision(tx, slot, txHash, 'Two transactions of it were reverted.');
  const detail = `Transaction ${txHash} was reverted, as an earlier one of the same payout was, although the nodes had estimated that both succeed. Find out whether the token or the recipient refuses it.`;
  await alarms.raise('not_transferred', transferId, detail, tx);
}

/** Happens only after a reorganization below the final block: the gateway was told another outcome. */
async function reportChanged(
  tx: Tx,
  alarms: QueueParts['alarms'],
  { transferId }: Slot,
  { kind, receipt }: Outcome,
): Promise<void> {
  const [told] = await tx.query<{ status: string; reference: string }>(
    `SELECT status, client_reference AS reference FROM wallet.transfer
     WHERE id = $1 AND status IN ('confirmed', 'failed') AND (status = 'confirmed') <> $2`,
    [transferId, kind === 'sent'],
  );
  if (told === undefined) return;
  const { status, reference } = told;
  const now = kind === 'sent' ? 'has paid it' : 'has moved nothing';
  const detail = `The gateway was told that payout ${reference} is ${status}, but after a reorganization transaction ${receipt.transactionHash} ${now}.`;
  await alarms.raise('outcome_changed', transferId, detail, tx);
}

/** It does not fail by itself: what is refunded and was paid after all is lost. */
async function awaitDecision(
  tx: Tx,
  { transferId }: Slot,
  txHash: Hex,
  detail: string,
): Promise<void> {
  await tx.query(
    `UPDATE wallet.transfer
     SET waiting_for = $2, waiting_since = clock_timestamp(), waiting_detail = $3, tx_hash = $4
     WHERE id = $1 AND status = 'sending'`,
    [transferId, DECISION_PENDING, detail, txHash],
  );
}
