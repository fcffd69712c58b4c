/** A batch as its workflow sees it: no recipients and no references. */
import { readBatchApprovals } from '../../src/db/payout-batches/payout-batch-decisions';
import { readBatchProgress } from '../../src/db/payout-batches/payout-batch-rows';
import { databaseTime } from '../../src/db/database-time';
import type { Db, Tx } from '../../src/db/transaction';
import type { PayoutBatch, PayoutBatchProgress } from '../../src/domain/payout-batch';
import { autoApproveDelayMs } from '../../src/domain/review';
import type { PayoutBatchState } from '../../workflows/messages';

/** @param counted if the caller has just counted the rows */
export async function reportBatch(
  db: Db | Tx,
  batch: PayoutBatch,
  counted?: PayoutBatchProgress,
): Promise<PayoutBatchState> {
  const now = await databaseTime(db);
  const age = now.getTime() - batch.createdAt.getTime();
  const fourEyes = batch.status === 'under_review' ? await readBatchApprovals(db, batch.id) : null;
  return {
    mode: batch.mode,
    status: batch.status,
    ending: batch.ending,
    manifestSha256: batch.manifestSha256,
    totals: batch.totals.map(({ currency, rows, amount }) => ({ currency, rows, amount })),
    progress: batch.closedProgress ?? counted ?? (await readBatchProgress(db, batch.id)),
    rowCount: batch.rowCount,
    sequence: batch.sequence,
    autoApproveInMs:
      batch.status === 'requested' && !batch.awaitsSecondPerson
        ? Math.max(0, autoApproveDelayMs(batch.mode) - age)
        : null,
    reviewReasons: batch.reviewReasons,
    ...(batch.awaitsSecondPerson && batch.secondPersonUntil !== null
      ? { secondPersonInMs: Math.max(0, batch.secondPersonUntil.getTime() - now.getTime()) }
      : {}),
    ...(fourEyes === null ? {} : { approvals: fourEyes.approvals }),
  };
}
