/**
 * Leaves rows out of a batch that nobody has approved: their funds are returned, and the manifest is the
 * rows that remain, which is what an approval names. The batch's lock puts this and the decisions in order.
 */
import type { EventTx } from '../../src/db/webhooks/events';
import {
  listManifestRows,
  takeRowsToLeaveOut,
} from '../../src/db/payout-batches/payout-batch-rows';
import {
  getPayoutBatch,
  lockPayoutBatch,
  noteRowsLeftOut,
} from '../../src/db/payout-batches/payout-batches';
import { mayLeaveOutRows, type PayoutBatch, totalsOf } from '../../src/domain/payout-batch';
import { manifestSha256 } from '../../src/features/payout-batches/payout-batches-contract';
import type { LeaveOutOutcome, PayoutBatchState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { reportBatch } from './report';
import { type Return, returnRows, stopChanged } from './return-rows';

/** The merchant's request. Rows that were left out before stay so. */
export async function leaveOutOfPayoutBatch(
  deps: Deps,
  batchId: string,
  by: string,
  rowNumbers: readonly number[],
): Promise<{ outcome: LeaveOutOutcome['kind']; state: PayoutBatchState }> {
  return inEventTransaction(deps, batchId, async (tx) => {
    const batch = await lockPayoutBatch(tx, batchId);
    const why: Return = { ending: 'stop', by, reason: null };
    const outcome = await leaveOut(tx, batch, rowNumbers, why);
    return { outcome, state: await reportBatch(tx, await getPayoutBatch(tx, batchId)) };
  });
}

/** @param batch locked by the transaction */
export async function leaveOut(
  tx: EventTx,
  batch: PayoutBatch,
  rowNumbers: readonly number[],
  why: Return,
): Promise<LeaveOutOutcome['kind']> {
  if (!mayLeaveOutRows(batch)) return 'invalid_state';
  const known = await listManifestRows(tx, batch.id);
  // The new manifest must not vouch for rows that the old one does not know.
  if (manifestSha256(known) !== batch.manifestSha256) {
    await stopChanged(tx, batch);
    return 'rows_changed';
  }
  const leaving = new Set<number | null>(rowNumbers);
  const remaining = known.filter(({ batchRow }) => !leaving.has(batchRow));
  if (remaining.length === 0) return 'none_left';
  const taken = await takeRowsToLeaveOut(tx, batch.id, rowNumbers);
  if (taken.length === 0) return 'left_out';
  await noteRowsLeftOut(tx, batch.id, {
    leftOutRows: [...batch.leftOutRows, ...taken.map(({ batchRow }) => batchRow)].sort(
      (one, other) => one - other,
    ),
    totals: totalsOf(remaining),
    manifestSha256: manifestSha256(remaining),
  });
  await returnRows(tx, taken, why);
  return 'left_out';
}
