/** A delivery's row as its workflow sees it: ids, numbers and codes, nothing of what is sent where. */
import { readWebhookDeliveryReport } from '../../src/db/repositories/webhook-deliveries';
import type { Tx } from '../../src/db/transaction';
import { attemptsOf, type RetryScheduleMs } from '../../src/domain/webhook-delivery';
import type { WebhookDeliveryState } from '../../workflows/messages';

export async function reportWebhookDelivery(
  tx: Tx,
  { deliveryId, schedule }: { deliveryId: string; schedule: RetryScheduleMs },
): Promise<WebhookDeliveryState> {
  const report = await readWebhookDeliveryReport(tx, deliveryId);
  if (report === null) throw new Error(`delivery ${deliveryId} does not exist`);
  const { nextAttemptAt, dueInMs, ...rest } = report;
  return {
    ...rest,
    attemptsMax: attemptsOf(schedule),
    next: nextAttemptAt === null ? null : { at: nextAttemptAt.toISOString(), inMs: dueInMs ?? 0 },
  };
}
