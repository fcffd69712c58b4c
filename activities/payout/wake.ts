/** Tells the workflows of payouts that a condition may be met. */
import { findPayoutsNeedingWorkflow } from '../../src/db/operations/needing-workflow';
import { payoutStart } from '../../src/temporal/payout-workflows';
import type { Deps } from '../deps';

/**
 * Without an answer from Temporal, the schedule `restart-missing` tells them.
 * @param ids of the payouts; null if there are none
 */
export async function wakePayouts(
  { db, payoutWorkflows }: Pick<Deps, 'db' | 'payoutWorkflows'>,
  ids: readonly string[] | null | undefined,
): Promise<void> {
  if (ids === null || ids === undefined) return;
  const payouts = await findPayoutsNeedingWorkflow(db, ids);
  await Promise.allSettled(payouts.map((payout) => payoutWorkflows.wake(payoutStart(payout))));
}
