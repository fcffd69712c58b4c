/**
 * Runs on a schedule: gives every payout that is not final and has no workflow a new one, then
 * deletes idempotency records that have ended.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

const { restartPayouts, cleanUpKeys } = proxyActivities<
  Pick<Activities, 'restartPayouts' | 'cleanUpKeys'>
>({
  startToCloseTimeout: '60 seconds',
  // The schedule comes round soon; a run must not outlive it.
  retry: { maximumAttempts: 3 },
});

export async function reconcileWorkflow(): Promise<{ ensured: number; deleted: number }> {
  const { ensured } = await restartPayouts();
  const { deleted } = await cleanUpKeys();
  return { ensured, deleted };
}
