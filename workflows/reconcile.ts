/**
 * Runs on a schedule: gives everything that needs a workflow and has none a new one, then deletes
 * idempotency records that have ended and what webhooks sent long ago.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

type Steps = Pick<
  Activities,
  'restartPayouts' | 'restartPayments' | 'restartDeliveries' | 'cleanUpKeys' | 'cleanUpWebhooks'
>;

const steps = proxyActivities<Steps>({
  startToCloseTimeout: '60 seconds',
  // The schedule comes round soon; a run must not outlive it.
  retry: { maximumAttempts: 3 },
});

/** How many payouts, payments and deliveries have a workflow for certain, and what was deleted. */
interface Reconciled {
  ensured: number;
  payments: number;
  deliveries: number;
  deleted: number;
}

export async function reconcileWorkflow(): Promise<Reconciled> {
  const { ensured } = await steps.restartPayouts();
  const { ensured: payments } = await steps.restartPayments();
  const { ensured: deliveries } = await steps.restartDeliveries();
  const { deleted } = await steps.cleanUpKeys();
  await steps.cleanUpWebhooks();
  return { ensured, payments, deliveries, deleted };
}
