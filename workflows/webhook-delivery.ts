/**
 * One event to one endpoint: an attempt, then a durable timer and an attempt again, until one
 * succeeds or the schedule ends. Whether an attempt is due, and which number it has, the database
 * decides; a run that was terminated or comes twice sends nothing early and nothing too often.
 *
 * Started by the worker that committed the event, by restart-missing when that was lost, and by
 * whoever asks for a retry after the end.
 */
import { CancellationScope, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { activities } from './activities';
import type { WebhookDeliveryInput, WebhookDeliveryState } from './messages';
import { TASK_QUEUES } from './names';
import { WebhookDeliveryInbox } from './webhook-delivery-inbox';

const RETRY = { initialInterval: '250 ms', maximumInterval: '30 seconds' } as const;

/**
 * Longer than an attempt can take (10 s, and 2 s for the body) with its statements. A worker that
 * died is noticed after this; the next call counts its attempt as lost. The retries are of the
 * call, not of the delivery: an endpoint without a free slot, a database that is away.
 */
const ATTEMPT = { startToCloseTimeout: '30 seconds', retry: RETRY } as const;

const { abandonWebhookDelivery } = activities<'abandonWebhookDelivery'>({
  startToCloseTimeout: '10 seconds',
  retry: RETRY,
  summary: 'Abandon the delivery',
});

/** @returns the delivery's status when nothing more is to come */
export async function webhookDeliveryWorkflow(input: WebhookDeliveryInput): Promise<string> {
  const inbox = new WebhookDeliveryInbox(input);
  // "Request cancellation" ends no delivery: `abandon` does.
  return CancellationScope.nonCancellable(async () => {
    inbox.takeWake();
    inbox.take(await attempt(input, inbox, input.firstQueue, false));
    while (!inbox.isOver()) {
      const { next } = inbox.state;
      if (next !== null && !inbox.isAsked()) {
        if (workflowInfo().continueAsNewSuggested) {
          // The row knows when the next attempt is due.
          const firstQueue = TASK_QUEUES.webhooksRetry;
          await continueAsNew<typeof webhookDeliveryWorkflow>({ ...input, firstQueue });
        }
        await inbox.waitForNext(next);
      }
      inbox.take(await turn(input, inbox));
    }
    return inbox.state.status;
  });
}

async function turn(
  input: WebhookDeliveryInput,
  inbox: WebhookDeliveryInbox,
): Promise<WebhookDeliveryState> {
  const { deliveryId, schedule } = input;
  if (inbox.takeAbandon()) return abandonWebhookDelivery({ deliveryId, schedule });
  // A person waits for it, so it does not queue behind the retries.
  if (inbox.takeRetry()) return attempt(input, inbox, TASK_QUEUES.webhooks, true);
  if (inbox.takeWake()) return attempt(input, inbox, TASK_QUEUES.webhooks, false);
  return attempt(input, inbox, TASK_QUEUES.webhooksRetry, false);
}

/** @param taskQueue first attempts and retries have workers of their own */
function attempt(
  { deliveryId, endpointId, schedule }: WebhookDeliveryInput,
  inbox: WebhookDeliveryInbox,
  taskQueue: string,
  manual: boolean,
): Promise<WebhookDeliveryState> {
  const summary = manual ? 'Manual retry' : inbox.nextAttempt();
  const { attemptWebhookDelivery } = activities<'attemptWebhookDelivery'>({
    ...ATTEMPT,
    taskQueue,
    summary,
  });
  const key = `${workflowInfo().runId}:${inbox.nextOrder()}`;
  return attemptWebhookDelivery({ deliveryId, endpointId, schedule, manual, key });
}
