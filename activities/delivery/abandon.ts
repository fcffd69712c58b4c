/** Ends a delivery's schedule at an operator's word. */
import { endDelivery } from '../../src/db/repositories/webhook-deliveries';
import { inTransaction, type Db } from '../../src/db/transaction';
import type { RetryScheduleMs } from '../../src/domain/delivery-schedule';
import type { DeliveryState } from '../../workflows/messages';
import { reportDelivery } from './report';

/** Safe to run twice: a delivery that has ended stays as it ended. */
export async function abandonDelivery(
  db: Db,
  delivery: { deliveryId: string; schedule: RetryScheduleMs },
): Promise<DeliveryState> {
  return inTransaction(db, async (tx) => {
    await endDelivery(tx, delivery.deliveryId, 'abandon', 'abandoned');
    return reportDelivery(tx, delivery);
  });
}
