/** Starts the workflows of deliveries and wakes them. The workflow's id is the delivery's id. */
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { WebhookInput } from '../../workflows/messages';
import { SIGNALS, TASK_QUEUES, WORKFLOWS } from '../../workflows/names';
import { RETRY_SCHEDULE_MS, type RetryScheduleMs } from '../domain/webhook-delivery-schedule';
import type { Mode } from '../domain/mode';
import { ACCOUNT_ID, MODE } from './payout-workflows';

/** What a delivery's workflow is started with, and what its page shows of it. */
export interface WebhookStart {
  deliveryId: string;
  eventType: string;
  objectId: string;
  endpointId: string;
  accountId: string;
  mode: Mode;
  /** Nothing was attempted yet. */
  isNew: boolean;
  /** The endpoint lets attempts run out of time: it waits with the retries. */
  isSlow: boolean;
}

/**
 * Where the first attempt of a run that is started by waking stands: before the retries when a
 * person waits for this very one, with them when many are woken.
 */
export type Urgency = 'at once' | 'with the retries';

export interface WebhookWorkflows {
  /** For a new delivery: does nothing when it had a workflow that completed. */
  start(delivery: WebhookStart): Promise<void>;
  /** Starts a run unless one is there: the row says what is left to do. */
  resume(delivery: WebhookStart): Promise<void>;
  /** Has it look at its row now; starts a run when there is none. */
  wake(delivery: WebhookStart, urgency?: Urgency): Promise<void>;
}

const ENDPOINT_ID = defineSearchAttributeKey('EndpointId', 'KEYWORD');

const DEADLINE_MS = 5_000;

export function createWebhookDeliveryWorkflows(
  client: Client,
  schedule: RetryScheduleMs = RETRY_SCHEDULE_MS,
): WebhookWorkflows {
  const start = async (
    delivery: WebhookStart,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY',
  ): Promise<void> => {
    const options = {
      ...startOptions(delivery, schedule, queueOf(delivery)),
      workflowIdReusePolicy,
      workflowIdConflictPolicy: 'USE_EXISTING' as const,
    };
    try {
      await client.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflow.start(WORKFLOWS.webhookDelivery, options),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
  return {
    start: (delivery) => start(delivery, 'ALLOW_DUPLICATE_FAILED_ONLY'),
    resume: (delivery) => start(delivery, 'ALLOW_DUPLICATE'),
    wake: async (delivery, urgency = 'with the retries') => {
      const firstQueue = urgency === 'at once' ? TASK_QUEUES.webhooks : queueOf(delivery);
      await client.withDeadline(Date.now() + DEADLINE_MS, () =>
        client.workflow.signalWithStart(WORKFLOWS.webhookDelivery, {
          ...startOptions(delivery, schedule, firstQueue),
          signal: SIGNALS.wake,
        }),
      );
    },
  };
}

function queueOf({ isNew, isSlow }: WebhookStart): string {
  return isNew && !isSlow ? TASK_QUEUES.webhooks : TASK_QUEUES.webhooksRetry;
}

/** Field by field: histories are readable by many, so nothing may slip in with a whole row. */
function startOptions(delivery: WebhookStart, schedule: RetryScheduleMs, firstQueue: string) {
  const { deliveryId, eventType, objectId, endpointId, accountId, mode } = delivery;
  const input = { deliveryId, endpointId, eventType, objectId, schedule, firstQueue };
  return {
    workflowId: deliveryId,
    taskQueue: TASK_QUEUES.webhooks,
    args: [input] satisfies [WebhookInput],
    staticSummary: `${eventType} of ${objectId} to ${endpointId}, ${mode} mode`,
    typedSearchAttributes: [
      { key: MODE, value: mode },
      { key: ACCOUNT_ID, value: accountId },
      { key: ENDPOINT_ID, value: endpointId },
    ],
  };
}
