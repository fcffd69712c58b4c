/**
 * Starts webhook delivery workflows and messages them. A completed workflow can be started again:
 * an operator can request a retry.
 */
import type { Client } from '@temporalio/client';
import type { WebhookDeliveryInput } from '../../workflows/messages';
import { SIGNALS, TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import type { Owner } from '../domain/mode';
import { RETRY_SCHEDULE_MS, type RetryScheduleMs } from '../domain/webhook-delivery';
import { createStarter, type StartOptions } from './client';
import { ACCOUNT_ID, ENDPOINT_ID, MODE } from './search-attributes';

/** A delivery's workflow input, and what its page shows. */
export interface WebhookDeliveryStart extends Owner {
  deliveryId: string;
  eventType: string;
  objectId: string;
  endpointId: string;
  /** No attempt has been made yet. */
  isNew: boolean;
  /** Attempts at the endpoint time out, so its first attempts queue with the retries. */
  isSlow: boolean;
}

/**
 * Where the first attempt of a woken run queues: before the retries if an operator waits for this
 * delivery, with them if many deliveries are woken.
 */
export type Urgency = 'at once' | 'with the retries';

export interface WebhookDeliveryWorkflowOptions {
  schedule?: RetryScheduleMs;
  /**
   * Whether a new workflow runs in this process. The client has the connection of the process's
   * workers.
   */
  isEager?: boolean;
}

/**
 * The time is longer than an attempt. A worker that died during a first attempt is noticed after it.
 */
const WORKFLOW_TASK_TIMEOUT = '15 seconds';

export type WebhookDeliveryWorkflows = ReturnType<typeof createWebhookDeliveryWorkflows>;

export function createWebhookDeliveryWorkflows(
  client: Client,
  { schedule = RETRY_SCHEDULE_MS, isEager = false }: WebhookDeliveryWorkflowOptions = {},
) {
  const starter = createStarter(client, WORKFLOWS.webhookDelivery);
  return {
    /** Starts the workflow of a new delivery, and does nothing if one has completed already. */
    start: (delivery: WebhookDeliveryStart) =>
      starter.ensureRunning({
        ...startOptions(delivery, schedule, queueOf(delivery)),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        requestEagerStart: isEager,
      }),
    /** Starts a run unless one is open; it continues from the row. */
    resume: (delivery: WebhookDeliveryStart) =>
      starter.ensureRunning(startOptions(delivery, schedule, queueOf(delivery))),
    /**
     * Makes the workflow read its row now, and starts a run if there is none. @throws without an answer
     */
    wake: async (delivery: WebhookDeliveryStart, urgency: Urgency = 'with the retries') => {
      const firstQueue = urgency === 'at once' ? TASK_QUEUES.webhooks : queueOf(delivery);
      const sent = await starter.signal(startOptions(delivery, schedule, firstQueue), SIGNALS.wake);
      if (sent.kind === 'no_answer') throw sent.cause;
    },
  };
}

function queueOf({ isNew, isSlow }: WebhookDeliveryStart): string {
  return isNew && !isSlow ? TASK_QUEUES.webhooks : TASK_QUEUES.webhooksRetry;
}

/**
 * The input is copied field by field: histories are widely readable, so a whole row must not get into
 * them.
 */
function startOptions(
  delivery: WebhookDeliveryStart,
  schedule: RetryScheduleMs,
  firstQueue: string,
): StartOptions {
  const { deliveryId, eventType, objectId, endpointId, accountId, mode } = delivery;
  const input = { deliveryId, endpointId, eventType, objectId, schedule, firstQueue };
  return {
    workflowId: deliveryId,
    taskQueue: TASK_QUEUES.webhooks,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    args: [input] satisfies [WebhookDeliveryInput],
    staticSummary: `${eventType} of ${objectId} to ${endpointId}, ${mode} mode`,
    typedSearchAttributes: [
      { key: MODE, value: mode },
      { key: ACCOUNT_ID, value: accountId },
      { key: ENDPOINT_ID, value: endpointId },
    ],
  };
}
