/**
 * Deliveries, for whoever looks after an endpoint: what became of them, and another try (decision
 * H5). What is asked for stands in the row; Temporal is only told, so nothing is lost without it.
 */
import {
  endDelivery,
  findDelivery,
  insertMissingDeliveries,
  listDeliveries as readDeliveries,
  readDeliveriesToStart,
  recoverSkipped,
  requestFailedRetries,
  requestRetry,
  type Delivery,
} from '../../db/repositories/webhook-deliveries';
import {
  listAttempts as readAttempts,
  type StoredAttempt,
} from '../../db/repositories/webhook-attempts';
import type { Db, Tx } from '../../db/transaction';
import type { DeliveryStatus } from '../../domain/delivery';
import type { DeliveryWorkflows } from '../../temporal/delivery-workflows';
import { makeChange, type AuditedObject, type ChangedBy } from './change';
import { AdminRefusal, InvalidInput } from './refusal';
import { requireEndpoint, requireKnown } from './webhooks';

/** Decision H8. */
const BODIES_KEPT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Small enough that no statement holds its rows for long. */
const BATCH = 500;
/** So many are told at once; what is more the reconciler tells, some seconds later. */
const WOKEN_MAX = 100;

export function presentDelivery(delivery: Delivery) {
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

export type ShownDelivery = ReturnType<typeof presentDelivery>;

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
export async function listDeliveries(
  db: Db,
  endpointId: string,
  status: DeliveryStatus | undefined,
  limit: number,
): Promise<ShownDelivery[]> {
  await requireKnown(db, endpointId);
  return (await readDeliveries(db, endpointId, status, limit)).map(presentDelivery);
}

/** In their order. @throws AdminRefusal */
export async function listAttempts(db: Db, deliveryId: string): Promise<ShownAttempt[]> {
  await requireDelivery(db, deliveryId);
  return (await readAttempts(db, deliveryId)).map(presentAttempt);
}

/** One attempt at once, whatever the status; a failure leaves all as it was. @throws AdminRefusal */
export async function retryDelivery(
  db: Db,
  by: ChangedBy,
  workflows: DeliveryWorkflows | null,
  id: string,
): Promise<ShownDelivery> {
  const delivery = await makeChange(db, by, async (tx) => {
    const before = await requireDelivery(tx, id);
    const endpoint = await requireEndpoint(tx, before.endpointId);
    if (!endpoint.enabled) {
      throw new AdminRefusal(`${endpoint.id} is disabled: \`webhooks enable\` comes first.`);
    }
    refuseOlderThanBodies(before.createdAt, `${id} cannot be sent again`);
    await requestRetry(tx, id);
    return changed('webhook_delivery.retry', before, before);
  });
  await wake(db, workflows, [id]);
  return delivery;
}

/** Ends the schedule. @throws AdminRefusal when it has ended */
export async function abandonDelivery(
  db: Db,
  by: ChangedBy,
  workflows: DeliveryWorkflows | null,
  id: string,
): Promise<ShownDelivery> {
  const delivery = await makeChange(db, by, async (tx) => {
    const before = await requireDelivery(tx, id);
    if (!(await endDelivery(tx, id, 'abandon', 'abandoned'))) {
      throw new AdminRefusal(`${id} is ${before.status}: there is nothing to abandon.`);
    }
    return changed('webhook_delivery.abandon', before, await requireDelivery(tx, id));
  });
  await wake(db, workflows, [id]);
  return delivery;
}

interface Batch {
  endpointId: string;
  since: Date;
}

/**
 * Another attempt for each delivery that failed since then; those that were skipped begin or go on
 * with their schedule. @throws AdminRefusal, InvalidInput
 */
export function recoverDeliveries(
  db: Db,
  by: ChangedBy,
  workflows: DeliveryWorkflows | null,
  batch: Batch,
) {
  return inBatches(db, by, workflows, batch, 'webhook_endpoint.recover', {
    retried: requestFailedRetries,
    resumed: recoverSkipped,
  });
}

/** A delivery for each event since then that the endpoint takes and never had. @throws as above */
export function replayMissing(
  db: Db,
  by: ChangedBy,
  workflows: DeliveryWorkflows | null,
  batch: Batch,
) {
  return inBatches(db, by, workflows, batch, 'webhook_endpoint.replay', {
    created: insertMissingDeliveries,
  });
}

type Step = (tx: Tx, batch: Batch & { limit: number }) => Promise<string[]>;

/** Each batch is a transaction with its audit row: a crash in between leaves what was done, told. */
async function inBatches<Count extends string>(
  db: Db,
  by: ChangedBy,
  workflows: DeliveryWorkflows | null,
  batch: Batch,
  action: string,
  steps: Record<Count, Step>,
) {
  refuseOlderThanBodies(batch.since, undefined);
  const counts = Object.fromEntries(Object.keys(steps).map((name) => [name, 0])) as Record<
    Count,
    number
  >;
  const woken: string[] = [];
  for (const [name, step] of Object.entries(steps) as [Count, Step][]) {
    for (;;) {
      const ids = await oneBatch(db, by, batch, action, name, step);
      counts[name] += ids.length;
      woken.push(...ids.slice(0, WOKEN_MAX - woken.length));
      if (ids.length < BATCH) break;
    }
  }
  await wake(db, workflows, woken);
  return {
    object: 'webhook_recovery',
    endpoint_id: batch.endpointId,
    since: batch.since.toISOString(),
    ...counts,
  };
}

async function oneBatch(
  db: Db,
  by: ChangedBy,
  batch: Batch,
  action: string,
  name: string,
  step: Step,
): Promise<string[]> {
  return makeChange(db, by, async (tx) => {
    const endpoint = await requireEndpoint(tx, batch.endpointId);
    if (!endpoint.enabled) {
      throw new AdminRefusal(`${endpoint.id} is disabled: \`webhooks enable\` comes first.`);
    }
    const ids = await step(tx, { ...batch, limit: BATCH });
    const after = { since: batch.since.toISOString(), [name]: ids.length };
    const audit: AuditedObject = {
      action,
      object: 'webhook_endpoint',
      objectId: endpoint.id,
      accountId: endpoint.accountId,
      before: null,
      after,
    };
    return { result: ids, audit };
  });
}

/** What cannot be told now the reconciler finds: the rows say that it is due. */
async function wake(
  db: Db,
  workflows: DeliveryWorkflows | null,
  ids: readonly string[],
): Promise<void> {
  if (workflows === null || ids.length === 0) return;
  for (const delivery of await readDeliveriesToStart(db, ids)) {
    try {
      await workflows.wake(delivery);
    } catch {
      return;
    }
  }
}

function refuseOlderThanBodies(time: Date, what: string | undefined): void {
  if (Date.now() - time.getTime() <= BODIES_KEPT_DAYS * DAY_MS) return;
  const why = `events are kept for ${BODIES_KEPT_DAYS} days`;
  if (what !== undefined) throw new AdminRefusal(`${what}: ${why}.`);
  throw new InvalidInput('since', `${time.toISOString()} is too long ago: ${why}.`);
}

async function requireDelivery(db: Db | Tx, id: string): Promise<Delivery> {
  const delivery = await findDelivery(db, id);
  if (delivery !== null) return delivery;
  throw new AdminRefusal(
    `The delivery ${id} does not exist: \`webhooks deliveries\` shows those that do.`,
  );
}

function changed(
  action: string,
  before: Delivery,
  after: Delivery,
): { result: ShownDelivery; audit: AuditedObject } {
  const result = presentDelivery(after);
  return {
    result,
    audit: {
      action,
      object: 'webhook_delivery',
      objectId: before.id,
      accountId: before.accountId,
      before: presentDelivery(before),
      after: result,
    },
  };
}
