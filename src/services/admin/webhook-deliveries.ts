/**
 * Webhook deliveries, for an operator: attempts, retries and abandoning (decisions/webhook-retries). A
 * request is recorded in the row and Temporal is only notified, so nothing is lost without Temporal.
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
import type { Db, Reader } from '../../db/transaction';
import type { WebhookDeliveryStatus } from '../../domain/webhook-delivery';
import type { WebhookDeliveryWorkflows, Urgency } from '../../temporal/webhook-delivery-workflows';
import { presentWebhookDelivery } from '../../presenters/admin';
import { makeChange, type AuditedObject, type ChangedBy } from './audit';
import { AdminRefusal } from './refusal';
import { requireKnown, requireNotDeleted } from './webhooks';

/** Event bodies are deleted after this (decisions/retention). */
export const BODIES_KEPT_DAYS = 30;

/** Of one endpoint, newest first. @throws AdminRefusal */
export async function listWebhookDeliveries(
  db: Reader,
  endpointId: string,
  status: WebhookDeliveryStatus | undefined,
  limit: number,
  before: string | null = null,
): Promise<WebhookDelivery[]> {
  await requireKnown(db, endpointId);
  return readWebhookDeliveries(db, endpointId, status, limit, before);
}

/** Oldest first. @throws AdminRefusal */
export async function listAttempts(db: Reader, deliveryId: string): Promise<StoredAttempt[]> {
  await requireWebhookDelivery(db, deliveryId);
  return readAttempts(db, deliveryId);
}

/** One attempt at once, whatever the status; a failure changes nothing. @throws AdminRefusal */
export async function retryWebhookDelivery(
  db: Db,
  by: ChangedBy,
  workflows: WebhookDeliveryWorkflows | null,
  id: string,
): Promise<WebhookDelivery> {
  const delivery = await makeChange(db, by, async (tx) => {
    const before = await requireWebhookDelivery(tx, id);
    // Not locked: the end of an attempt locks the delivery first, then the endpoint. If the
    // endpoint is disabled at this moment, the attempt notices it.
    refuseDisabled(requireNotDeleted(await requireKnown(tx, before.endpointId)));
    if (!before.bodyKept) {
      throw new AdminRefusal({ code: 'delivery_body_deleted', id, keptDays: BODIES_KEPT_DAYS });
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
): Promise<WebhookDelivery> {
  const delivery = await makeChange(db, by, async (tx) => {
    const before = await requireWebhookDelivery(tx, id);
    const isEnded = endWebhookDelivery(tx, id, 'abandon', 'abandoned');
    const after = await requireWebhookDelivery(tx, id);
    if (!(await isEnded)) {
      throw new AdminRefusal({ code: 'delivery_already_ended', id, status: before.status });
    }
    return changed('webhook_delivery.abandon', before, after);
  });
  await wakeWebhookDeliveries(db, workflows, [id]);
  return delivery;
}

/** Best effort: the schedule restart-missing finds due deliveries in the rows. */
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
  if (!enabled) throw new AdminRefusal({ code: 'endpoint_disabled', id });
}

async function requireWebhookDelivery(db: Reader, id: string): Promise<WebhookDelivery> {
  const delivery = await findWebhookDelivery(db, id);
  if (delivery !== null) return delivery;
  throw new AdminRefusal({ code: 'not_found', object: 'webhook_delivery', id });
}

function changed(
  action: string,
  before: WebhookDelivery,
  after: WebhookDelivery,
): { result: WebhookDelivery; audit: AuditedObject } {
  return {
    result: after,
    audit: {
      action,
      object: 'webhook_delivery',
      objectId: before.id,
      accountId: before.accountId,
      before: presentWebhookDelivery(before),
      after: presentWebhookDelivery(after),
    },
  };
}
