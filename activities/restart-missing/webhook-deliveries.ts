/**
 * Finds deliveries that should have moved and did not, and makes sure that each has a workflow: one
 * whose start was lost, one that was terminated, one that Temporal's restored database forgot, and
 * retries that were asked for while Temporal was away.
 */
import {
  noteEnsured,
  takeOverdueWebhookDeliveries,
  type WebhookDeliveryToStart,
} from '../../src/db/repositories/webhook-deliveries';
import type { Db } from '../../src/db/transaction';
import type { WebhookDeliveryWorkflows } from '../../src/temporal/webhook-delivery-workflows';

export interface RestartWebhookDeliveriesDeps {
  db: Db;
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows;
}

/** So many are looked at in one run, those that are overdue for longest first. */
const BATCH = 500;
/** Starts that are under way at once. */
const STARTS = 10;

/** A run that ends early leaves those that it did not get to for half a minute, and no longer. */
export async function restartWebhookDeliveries({
  db,
  webhookDeliveryWorkflows,
}: RestartWebhookDeliveriesDeps): Promise<{ ensured: number }> {
  const overdue = await takeOverdueWebhookDeliveries(db, BATCH);
  for (let first = 0; first < overdue.length; first += STARTS) {
    const some = overdue.slice(first, first + STARTS);
    await Promise.all(some.map((delivery) => ensure(webhookDeliveryWorkflows, delivery)));
    await noteEnsured(
      db,
      some.map(({ deliveryId }) => deliveryId),
    );
  }
  return { ensured: overdue.length };
}

/** Where a workflow runs it only has to hear of a retry that somebody asks for. */
function ensure(
  workflows: WebhookDeliveryWorkflows,
  delivery: WebhookDeliveryToStart,
): Promise<void> {
  return delivery.retryRequested ? workflows.wake(delivery) : workflows.resume(delivery);
}
