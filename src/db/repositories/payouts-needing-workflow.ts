/** Which payouts need a workflow, and which of them the reconciler should make sure of next. */
import type { Payout } from '../../domain/payout';
import { PayoutModel } from '../models/payout';
import { rows, type Db } from '../transaction';

/** A payout that was just created or looked at is left alone this long. */
const CHECK_EVERY_MINUTES = 5;

/** Of a row of payouts: whether a workflow must be there for it. */
export const PAYOUT_NEEDS_WORKFLOW = `status IN ('requested', 'under_review', 'approved', 'processing')`;

/** Takes payouts that are not final, the ones not looked at for longest first. */
export async function takeUncheckedPayouts(db: Db, limit: number): Promise<Payout[]> {
  const taken = await rows<{ id: string }>(
    db,
    `UPDATE payouts SET workflow_checked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM payouts
         WHERE ${PAYOUT_NEEDS_WORKFLOW}
           AND workflow_checked_at < now() - ? * interval '1 minute'
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [CHECK_EVERY_MINUTES, limit],
  );
  const found = await PayoutModel.query(db).findByIds(taken.map(({ id }) => id));
  return found as unknown as Payout[];
}

/** Those of the ids that are payouts which need a workflow. */
export async function findPayoutsNeedingWorkflow(
  db: Db,
  ids: readonly string[],
): Promise<Payout[]> {
  const found = await PayoutModel.query(db)
    .findByIds([...ids])
    .whereRaw(PAYOUT_NEEDS_WORKFLOW);
  return found as unknown as Payout[];
}
