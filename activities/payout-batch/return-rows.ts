/** Rows whose funds go back to the merchant without having been submitted, and changed rows. */
import { openCase } from '../../src/db/cases/cases';
import type { EventTx } from '../../src/db/webhooks/events';
import { endBatchEarly } from '../../src/db/payout-batches/payout-batches';
import type { Tx } from '../../src/db/transaction';
import { returnPosting } from '../../src/domain/ledger';
import { DEFAULT_REJECTION_REASON, type Payout } from '../../src/domain/payout';
import type { PayoutBatch, PayoutBatchEnding } from '../../src/domain/payout-batch';
import { transitionIn } from '../payout/transition';

export interface Return {
  ending: PayoutBatchEnding;
  by: string | null;
  reason: string | null;
}

/** Returns rows that were taken from their batch in this transaction. */
export async function returnRows(
  tx: EventTx,
  rows: readonly Payout[],
  { ending, by: decidedBy, reason }: Return,
): Promise<void> {
  for (const { id } of rows) {
    const isRejected = ending === 'reject';
    const change = isRejected
      ? { decidedBy, rejectionReason: reason ?? DEFAULT_REJECTION_REASON }
      : { decidedBy };
    const trigger = isRejected ? 'reject' : 'cancel';
    const transition = { trigger, change, posting: returnPosting } as const;
    const returned = await transitionIn(tx, id, transition);
    if (returned === null) throw new Error(`${id} cannot be returned`);
  }
}

/**
 * Stops a batch whose rows somebody changed in the database: nothing that was not approved may be sent.
 * @param batch locked by the transaction
 */
export async function stopChanged(tx: Tx, { id, manifestSha256 }: PayoutBatch): Promise<void> {
  await openCase(tx, 'batch_changed', id, { approved_sha256: manifestSha256 });
  const reason = 'The rows differ from the manifest.';
  await endBatchEarly(tx, id, { ending: 'stop', by: null, reason });
}
