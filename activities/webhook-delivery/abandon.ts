/** Ends a delivery's schedule at an operator's word. */
import { endWebhookDelivery } from '../../src/db/repositories/webhook-deliveries';
import { inTransaction, type Db } from '../../src/db/transaction';
import type { RetryScheduleMs } from '../../src/domain/webhook-delivery';
import type { WebhookDeliveryState } from '../../workflows/messages';
import { reportWebhookDelivery } from './report';

/** Safe to run twice: a delivery that has ended stays as it ended. */
export async function abandonWebhookDelivery(
  db: Db,
  delivery: { deliveryId: string; schedule: RetryScheduleMs },
): Promise<WebhookDeliveryState> {
  return inTransaction(db, async (tx) => {
    await endWebhookDelivery(tx, delivery.deliveryId, 'abandon', 'abandoned');
    return reportWebhookDelivery(tx, delivery);
  });
}
