/**
 * Webhook deliveries: attempts, retries and abandoning (decisions/webhooks#webhook-retries), and what the pages read. A
 * request is recorded in the row and Temporal is only notified, so nothing is lost without Temporal.
 */
import type { Owner } from '../../domain/mode';
import { findEventBody } from '../../db/webhooks/events';
import {
  endWebhookDelivery,
  findWebhookDelivery,
  listWebhookDeliveries as readWebhookDeliveries,
  readWebhookDeliveriesToStart,
  requestRetry,
  type WebhookDelivery,
} from '../../db/webhooks/webhook-deliveries';
import {
  listAttempts as readAttempts,
  type StoredAttempt,
} from '../../db/webhooks/webhook-attempts';
import type { Db, Reader } from '../../db/transaction';
import type { WebhookDeliveryStatus } from '../../domain/webhook-delivery';
import type { WebhookDeliveryWorkflows, Urgency } from '../../temporal/webhook-delivery-workflows';
import { presentDelivery } from './webhooks-contract';
import { AdminRefusal } from '../../kit/service/refusal';
import { auditOf, defineChange } from '../../kit/service/change';
import { findOwn, readAs } from '../../kit/service/own';
import { requireKnown, requireNotDeleted } from './webhook-endpoints';

/** Event bodies are deleted after this (decisions/webhooks#retention). */
export const BODIES_KEPT_DAYS = 30;

/** Lists the deliveries of an endpoint, newest first. @throws AdminRefusal */
export async function listWebhookDeliveries(
  db: Reader,
  endpointId: string,
  status: WebhookDeliveryStatus | undefined,
  limit: number,
): Promise<WebhookDelivery[]> {
  await requireKnown(db, endpointId);
  return readWebhookDeliveries(db, endpointId, status, limit, null);
}

/** Oldest first. @throws AdminRefusal */
export async function listAttempts(db: Reader, deliveryId: string): Promise<StoredAttempt[]> {
  await requireWebhookDelivery(db, deliveryId);
  return readAttempts(db, deliveryId);
}

/** A merchant's deliveries of an own endpoint, newest first. */
export function listOwnDeliveries(
  db: Db,
  owner: Owner,
  ...query: [
    endpointId: string,
    status: WebhookDeliveryStatus | undefined,
    limit: number,
    before: string | null,
  ]
): Promise<WebhookDelivery[]> {
  return readWebhookDeliveries(readAs(db, owner), ...query);
}

/** @throws AdminRefusal */
export function findOwnDelivery(db: Db, owner: Owner, id: string): Promise<WebhookDelivery> {
  return findOwn(db, owner, 'webhook_delivery', id, findWebhookDelivery);
}

/** The attempts, oldest first, and what is sent; a null body is no longer stored. @throws AdminRefusal */
export async function readOwnDelivery(db: Db, owner: Owner, id: string) {
  const delivery = await findOwnDelivery(db, owner, id);
  const [attempts, body] = await Promise.all([
    readAttempts(readAs(db, owner), id),
    findEventBody(readAs(db, owner), owner, delivery.eventId),
  ]);
  return { delivery, attempts, body };
}

interface OneDelivery {
  id: string;
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows | null;
}

const access = { needs: 'resend' } as const;

/** One attempt at once, whatever the status; a failure changes nothing. @throws AdminRefusal */
export const retryDelivery = defineChange({
  action: 'webhook_delivery.retry',
  access,
  fields: {},
  run: async (tx, { id }: OneDelivery) => {
    const delivery = await requireWebhookDelivery(tx, id);
    // Not locked: the end of an attempt locks the delivery first, then the endpoint. If the
    // endpoint is disabled at this moment, the attempt notices it.
    refuseDisabled(requireNotDeleted(await requireKnown(tx, delivery.endpointId)));
    if (!delivery.bodyKept) {
      throw new AdminRefusal({ code: 'delivery_body_deleted', id, keptDays: BODIES_KEPT_DAYS });
    }
    await requestRetry(tx, id);
    return { result: delivery, audit: auditOf(presentDelivery, delivery, delivery) };
  },
  after: (db, { id, webhookDeliveryWorkflows }) =>
    wakeWebhookDeliveries(db, webhookDeliveryWorkflows, [id], 'at once'),
});

/** Ends the schedule. @throws AdminRefusal when it has ended */
export const abandonDelivery = defineChange({
  action: 'webhook_delivery.abandon',
  access,
  fields: {},
  run: async (tx, { id }: OneDelivery) => {
    const before = await requireWebhookDelivery(tx, id);
    const isEnded = endWebhookDelivery(tx, id, 'abandon', 'abandoned');
    const after = await requireWebhookDelivery(tx, id);
    if (!(await isEnded)) {
      throw new AdminRefusal({ code: 'delivery_already_ended', id, status: before.status });
    }
    return { result: after, audit: auditOf(presentDelivery, before, after) };
  },
  after: (db, { id, webhookDeliveryWorkflows }) =>
    wakeWebhookDeliveries(db, webhookDeliveryWorkflows, [id]),
});

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
