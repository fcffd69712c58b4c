/**
 * Delivers one event to one endpoint: an attempt, then a durable timer and another attempt, until
 * one succeeds or the schedule ends. The database decides whether an attempt is due and numbers it,
 * so a terminated or repeated run sends nothing too early or too often.
 *
 * Started by the worker that committed the event, by restart-missing if that start was lost, and by
 * an operator's retry after the end.
 */
import { CancellationScope, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { activities, localFirst } from './activities';
import type { WebhookDeliveryInput, WebhookDeliveryState } from './messages';
import { TASK_QUEUES } from './names';
import { WebhookDeliveryPage } from './webhook-delivery-page';

const RETRY = { initialInterval: '250 ms', maximumInterval: '30 seconds' } as const;

/**
 * The timeout is longer than an attempt (10 s, and 2 s for the body) with its statements. A worker's
 * death is noticed after this time (in a local activity, after the workflow task's timeout), and the
 * next call counts its attempt as lost. Retries repeat the call and not the attempt: the endpoint has
 * no free slot, or the database is unavailable.
 */
const ATTEMPT = { startToCloseTimeout: '30 seconds', retry: RETRY } as const;

const { abandonWebhookDelivery } = activities<'abandonWebhookDelivery'>({
  startToCloseTimeout: '10 seconds',
  retry: RETRY,
  summary: 'Abandon the delivery',
});

/** @returns the final status */
export async function webhookDeliveryWorkflow(input: WebhookDeliveryInput): Promise<string> {
  const page = new WebhookDeliveryPage(input);
  // "Request cancellation" does not end a delivery; `abandon` does.
  return CancellationScope.nonCancellable(async () => {
    page.takeWake();
    page.take(await attempt(input, page, input.firstQueue, false));
    while (!page.isOver()) {
      const { next } = page.state;
      if (next !== null && !page.isAsked()) {
        if (workflowInfo().continueAsNewSuggested) {
          // The row contains the time of the next attempt.
          const firstQueue = TASK_QUEUES.webhooksRetry;
          await continueAsNew<typeof webhookDeliveryWorkflow>({ ...input, firstQueue });
        }
        await page.waitForNext(next);
      }
      page.take(await turn(input, page));
    }
    return page.state.status;
  });
}

async function turn(
  input: WebhookDeliveryInput,
  page: WebhookDeliveryPage,
): Promise<WebhookDeliveryState> {
  const { deliveryId, schedule } = input;
  if (page.takeAbandon()) return abandonWebhookDelivery({ deliveryId, schedule });
  // An operator is waiting, so the retry does not queue behind the others.
  if (page.takeRetry()) return attempt(input, page, TASK_QUEUES.webhooks, true);
  if (page.takeWake()) return attempt(input, page, TASK_QUEUES.webhooks, false);
  return attempt(input, page, TASK_QUEUES.webhooksRetry, false);
}

/**
 * Makes an attempt. One that does not queue with the retries is a local activity first, and a regular
 * one if that fails: the endpoint has no free slot, or the database is unavailable.
 * @param taskQueue first attempts and retries have separate workers
 */
async function attempt(
  { deliveryId, endpointId, schedule }: WebhookDeliveryInput,
  page: WebhookDeliveryPage,
  taskQueue: string,
  manual: boolean,
): Promise<WebhookDeliveryState> {
  const summary = manual ? 'Manual retry' : page.nextAttempt();
  const key = `${workflowInfo().runId}:${page.nextOrder()}`;
  const order = { deliveryId, endpointId, schedule, manual, key };
  return localFirst<WebhookDeliveryState>(
    ({ attemptWebhookDelivery }) => attemptWebhookDelivery(order),
    {
      summary,
      local: taskQueue === TASK_QUEUES.webhooks ? ATTEMPT : null,
      regular: () => ({ ...ATTEMPT, taskQueue }),
    },
  );
}
