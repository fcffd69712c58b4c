/**
 * One event to one endpoint: an attempt, then a durable timer and an attempt again, until one
 * succeeds or the schedule ends. Whether an attempt is due, and which number it has, the database
 * decides; a run that was terminated or comes twice sends nothing early and nothing too often.
 *
 * Started by the worker that committed the event, by the reconciler when that was lost, and by
 * whoever asks for a retry after the end.
 */
import { CancellationScope, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { WebhookDeliveryInput, WebhookDeliveryState } from './messages';
import { TASK_QUEUES } from './names';
import { abandonWebhookDelivery, attemptWebhookDelivery } from './webhook-delivery-activities';
import { WebhookDesk } from './webhook-delivery-desk';

/** @returns the delivery's status when nothing more is to come */
export async function webhookDeliveryWorkflow(input: WebhookDeliveryInput): Promise<string> {
  const desk = new WebhookDesk(input);
  // "Request cancellation" ends no delivery: `abandon` does.
  return CancellationScope.nonCancellable(async () => {
    desk.forgetWake();
    desk.take(await attempt(input, desk, input.firstQueue, false));
    while (!desk.isOver()) {
      const { next } = desk.state;
      if (next !== null && !desk.isAsked()) {
        if (workflowInfo().continueAsNewSuggested) {
          // The row knows when the next attempt is due.
          const firstQueue = TASK_QUEUES.webhooksRetry;
          await continueAsNew<typeof webhookDeliveryWorkflow>({ ...input, firstQueue });
        }
        await desk.waitFor(next.inMs);
      }
      desk.take(await turn(input, desk));
    }
    return desk.state.status;
  });
}

async function turn(input: WebhookDeliveryInput, desk: WebhookDesk): Promise<WebhookDeliveryState> {
  const { deliveryId, schedule } = input;
  if (desk.takeAbandon()) return abandonWebhookDelivery({ deliveryId, schedule });
  // A person waits for it, so it does not stand behind the retries.
  if (desk.takeRetry()) return attempt(input, desk, TASK_QUEUES.webhooks, true);
  if (desk.forgetWake()) return attempt(input, desk, TASK_QUEUES.webhooks, false);
  return attempt(input, desk, TASK_QUEUES.webhooksRetry, false);
}

function attempt(
  { deliveryId, endpointId, schedule }: WebhookDeliveryInput,
  desk: WebhookDesk,
  taskQueue: string,
  manual: boolean,
): Promise<WebhookDeliveryState> {
  const key = `${workflowInfo().runId}:${desk.nextOrder()}`;
  const order = { deliveryId, endpointId, schedule, manual, key };
  return attemptWebhookDelivery(order, taskQueue, manual ? 'retry by hand' : desk.nextAttempt());
}
