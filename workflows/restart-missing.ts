/**
 * Runs on a schedule: gives everything that needs a workflow and has none a new one, then deletes
 * idempotency records that have ended and what webhooks sent long ago.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

type Steps = Pick<
  Activities,
  | 'restartPayouts'
  | 'restartPayments'
  | 'restartWebhookDeliveries'
  | 'cleanUpKeys'
  | 'cleanUpWebhooks'
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

/** A step that fails keeps none of the others from their work; the run then ends as it did. */
export async function restartMissingWorkflow(): Promise<Reconciled> {
  const failures: unknown[] = [];
  const attempt = async <T>(step: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (error) {
      failures.push(error);
      return undefined;
    }
  };
  const payouts = await attempt(steps.restartPayouts);
  const payments = await attempt(steps.restartPayments);
  const deliveries = await attempt(steps.restartWebhookDeliveries);
  const keys = await attempt(steps.cleanUpKeys);
  await attempt(steps.cleanUpWebhooks);
  if (failures.length > 0) throw failures[0];
  return {
    ensured: payouts?.ensured ?? 0,
    payments: payments?.ensured ?? 0,
    deliveries: deliveries?.ensured ?? 0,
    deleted: keys?.deleted ?? 0,
  };
}
