/**
 * One event to one endpoint: an attempt, then a durable timer and an attempt again, until one
 * succeeds or the schedule ends. Whether an attempt is due, and which number it has, the database
 * decides; a run that was terminated or comes twice sends nothing early and nothing too often.
 *
 * Started by the worker that committed the event, by the reconciler when that was lost, and by
 * whoever asks for a retry after the end.
 */
import { CancellationScope, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { DeliveryInput, DeliveryState } from './messages';
import { TASK_QUEUES } from './names';
import { abandonDelivery, attemptDelivery } from './webhook-delivery-activities';
import { DeliveryDesk } from './webhook-delivery-desk';

/** @returns the delivery's status when nothing more is to come */
export async function webhookDeliveryWorkflow(input: DeliveryInput): Promise<string> {
  const desk = new DeliveryDesk(input);
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

async function turn(input: DeliveryInput, desk: DeliveryDesk): Promise<DeliveryState> {
  const { deliveryId, schedule } = input;
  if (desk.takeAbandon()) return abandonDelivery({ deliveryId, schedule });
  // A person waits for it, so it does not stand behind the retries.
  if (desk.takeRetry()) return attempt(input, desk, TASK_QUEUES.webhooks, true);
  if (desk.forgetWake()) return attempt(input, desk, TASK_QUEUES.webhooks, false);
  return attempt(input, desk, TASK_QUEUES.webhooksRetry, false);
}

function attempt(
  { deliveryId, endpointId, schedule }: DeliveryInput,
  desk: DeliveryDesk,
  taskQueue: string,
  manual: boolean,
): Promise<DeliveryState> {
  const key = `${workflowInfo().runId}:${desk.nextOrder()}`;
  const order = { deliveryId, endpointId, schedule, manual, key };
  return attemptDelivery(order, taskQueue, manual ? 'retry by hand' : desk.nextAttempt());
}
