/**
 * Deliveries, for whoever looks after an endpoint: what became of them, and another try (decision
 * H5). What is asked for stands in the row; Temporal is only told, so nothing is lost without it.
 */
import {
  endWebhookDelivery,
  findWebhookDelivery,
  listWebhookDeliveries as readWebhookDeliveries,
  readWebhookDeliveriesToStart,
  requestRetry,
  type WebhookDelivery,
} from '../../db/repositories/webhook-deliveries';
import {
  listAttempts as readAttempts,
  type StoredAttempt,
} from '../../db/repositories/webhook-attempts';
import type { Db, Tx } from '../../db/transaction';
import type { WebhookDeliveryStatus } from '../../domain/webhook-delivery';
import type { WebhookDeliveryWorkflows, Urgency } from '../../temporal/webhook-delivery-workflows';
import { makeChange, type AuditedObject, type ChangedBy } from './change';
import { AdminRefusal } from './refusal';
import { requireKnown, requireNotDeleted } from './webhooks';

/** Decision H8. */
export const BODIES_KEPT_DAYS = 30;
export function presentWebhookDelivery(delivery: WebhookDelivery) {
  return {
    id: delivery.id,
    object: 'webhook_delivery',
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    object_id: delivery.objectId,
    mode: delivery.mode,
    status: delivery.status,
    attempts: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    last_error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
  };
}

export type ShownWebhookDelivery = ReturnType<typeof presentWebhookDelivery>;

export function presentAttempt(attempt: StoredAttempt) {
  const { timing, responseBody } = attempt;
  return {
    object: 'webhook_attempt',
    number: attempt.number,
    manual: attempt.manual,
    url: attempt.url,
    outcome: attempt.outcome,
    status: attempt.status,
    error_code: attempt.errorCode,
    error: attempt.error,
    started_at: attempt.startedAt.toISOString(),
    finished_at: attempt.finishedAt?.toISOString() ?? null,
    duration_ms: attempt.durationMs,
    timing_ms:
      timing === null
        ? null
        : {
            dns: timing.dnsMs,
            connect: timing.connectMs,
            tls: timing.tlsMs,
            first_byte: timing.firstByteMs,
          },
    request_headers: attempt.requestHeaders,
    response_headers: attempt.responseHeaders,
    // Whatever the receiver wrote, as text a person can read; the bytes stay in the database.
    response_body: responseBody?.toString('utf8') ?? null,
    response_truncated: attempt.responseTruncated,
  };
}

export type ShownAttempt = ReturnType<typeof presentAttempt>;

/** Of one endpoint, newest first. @throws AdminRefusal */
export async function listWebhookDeliveries(
  db: Db,
  endpointId: string,
  status: WebhookDeliveryStatus | undefined,
  limit: number,
): Promise<ShownWebhookDelivery[]> {
  await requireKnown(db, endpointId);
  return (await readWebhookDeliveries(db, endpointId, status, limit)).map(presentWebhookDelivery);
}

/** In their order. @throws AdminRefusal */
export async function listAttempts(db: Db, deliveryId: string): Promise<ShownAttempt[]> {
  await requireWebhookDelivery(db, deliveryId);
  return (await readAttempts(db, deliveryId)).map(presentAttempt);
}

/** One attempt at once, whatever the status; a failure leaves all as it was. @throws AdminRefusal */
export async function retryWebhookDelivery(
  db: Db,
  by: ChangedBy,
  workflows: WebhookDeliveryWorkflows | null,
  id: string,
): Promise<ShownWebhookDelivery> {
  const delivery = await makeChange(db, by, async (tx) => {
    const before = await requireWebhookDelivery(tx, id);
    // Not locked: the end of an attempt locks the delivery first, then the endpoint. Whoever
    // disables the endpoint at this moment wins; the attempt looks again.
    refuseDisabled(requireNotDeleted(await requireKnown(tx, before.endpointId)));
    if (!before.bodyKept) {
      const why = `events are kept for ${BODIES_KEPT_DAYS} days`;
      throw new AdminRefusal(`${id} cannot be sent again: ${why}.`);
    }
    await requestRetry(tx, id);
    return changed('webhook_delivery.retry', before, before);
  });
  await wakeWebhookDeliveries(db, workflows, [id], 'at once');
  return delivery;
}

/** Ends the schedule. @throws AdminRefusal when it has ended */
export async function abandonWebhookDelivery(
  db: Db,
  by: ChangedBy,
  workflows: WebhookDeliveryWorkflows | null,
  id: string,
): Promise<ShownWebhookDelivery> {
  const delivery = await makeChange(db, by, async (tx) => {
    const before = await requireWebhookDelivery(tx, id);
    if (!(await endWebhookDelivery(tx, id, 'abandon', 'abandoned'))) {
      throw new AdminRefusal(`${id} is ${before.status}: there is nothing to abandon.`);
    }
    return changed('webhook_delivery.abandon', before, await requireWebhookDelivery(tx, id));
  });
  await wakeWebhookDeliveries(db, workflows, [id]);
  return delivery;
}

/** What cannot be told now the reconciler finds: the rows say that it is due. */
export async function wakeWebhookDeliveries(
  db: Db,
  workflows: WebhookDeliveryWorkflows | null,
  ids: readonly string[],
  urgency: Urgency = 'with the retries',
): Promise<void> {
  if (workflows === null || ids.length === 0) return;
  for (const delivery of await readWebhookDeliveriesToStart(db, ids)) {
    try {
      await workflows.wake(delivery, urgency);
    } catch {
      return;
    }
  }
}

/** @throws AdminRefusal */
export function refuseDisabled({ id, enabled }: { id: string; enabled: boolean }): void {
  if (!enabled) throw new AdminRefusal(`${id} is disabled: \`webhooks enable\` comes first.`);
}

async function requireWebhookDelivery(db: Db | Tx, id: string): Promise<WebhookDelivery> {
  const delivery = await findWebhookDelivery(db, id);
  if (delivery !== null) return delivery;
  throw new AdminRefusal(
    `The delivery ${id} does not exist: \`webhooks deliveries\` shows those that do.`,
  );
}

function changed(
  action: string,
  before: WebhookDelivery,
  after: WebhookDelivery,
): { result: ShownWebhookDelivery; audit: AuditedObject } {
  const result = presentWebhookDelivery(after);
  return {
    result,
    audit: {
      action,
      object: 'webhook_delivery',
      objectId: before.id,
      accountId: before.accountId,
      before: presentWebhookDelivery(before),
      after: result,
    },
  };
}
