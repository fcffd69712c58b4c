/** Events: one per status change, with the webhook's exact bytes (decision H1). */
import type { EventType } from '../../domain/events';
import { ENDPOINTS_MAX, OPEN_DELIVERIES_MAX } from '../../domain/webhook-delivery';
import type { Mode } from '../../domain/mode';
import { newId } from '../../lib/new-id';
import { deferredRows, rows, type Db, type Reader, type Tx } from '../transaction';

export interface NewEvent {
  id: string;
  accountId: string;
  mode: Mode;
  type: EventType;
  objectId: string;
  sequence: number;
  body: Buffer;
  createdAt: Date;
  /** The operator, or the merchant's request, that decided it; null: the gateway. */
  actor?: string | null;
  /** The workflow run that records it; null outside of a workflow. */
  runId?: string | null;
}

/** The event and its deliveries, in the transaction of the status change (decision H4). */
export function appendEvent(tx: Tx, event: NewEvent): void {
  const inserted = deferredRows<NewDelivery>(
    tx,
    `WITH event AS (
       INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, actor, run_id,
                           created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       RETURNING id, account_id, mode, type
     )
     ${INSERT_DELIVERIES}`,
    [
      event.id,
      event.accountId,
      event.mode,
      event.type,
      event.objectId,
      event.sequence,
      event.body,
      event.actor ?? null,
      event.runId ?? null,
      event.createdAt,
      ...newWebhookDeliveryBindings(),
    ],
  );
  noteDeliveries(
    tx,
    inserted.then((deliveries) => deliveries.some(({ isOpen }) => isOpen)),
  );
}

/** What `INSERT_DELIVERIES` returns. */
export interface NewDelivery {
  /** It was not skipped. */
  isOpen: boolean;
}

/** Whether an event of the transaction got a delivery, known at the commit. */
const openDeliveries = new WeakMap<Tx, Promise<boolean>[]>();

export function noteDeliveries(tx: Tx, haveOpen: Promise<boolean>): void {
  // It is read only after the commit.
  haveOpen.catch(() => undefined);
  let outermost = tx;
  while (outermost.parentTransaction !== undefined) outermost = outermost.parentTransaction;
  openDeliveries.set(outermost, [...(openDeliveries.get(outermost) ?? []), haveOpen]);
}

/** Call it after the commit. */
export async function hasOpenDeliveries(tx: Tx): Promise<boolean> {
  return (await Promise.all(openDeliveries.get(tx) ?? [])).includes(true);
}

/** The worker that created the delivery starts its workflow; restart-missing waits this long. */
const START_GRACE = `interval '30 seconds'`;

/**
 * Inserts a delivery for each endpoint that is subscribed to the events of the relation `event`.
 * The count of open deliveries stops at the maximum, so a healthy endpoint costs one index lookup;
 * OFFSET 0 prevents PostgreSQL from repeating the lookup wherever its result is used. Bindings:
 * `newWebhookDeliveryBindings()`.
 */
export const INSERT_DELIVERIES = `
  INSERT INTO webhook_deliveries
              (id, event_id, endpoint_id, status, next_attempt_at, check_at, last_error, finished_at)
  SELECT (?::text[])[row_number() OVER ()], event.id, endpoint.id,
         CASE WHEN full_up THEN 'skipped' ELSE 'pending' END,
         CASE WHEN NOT full_up THEN clock_timestamp() END,
         clock_timestamp() + ${START_GRACE},
         CASE WHEN full_up THEN 'too_many_open' END,
         CASE WHEN full_up THEN clock_timestamp() END
    FROM event
    JOIN webhook_endpoints endpoint
      ON endpoint.account_id = event.account_id AND endpoint.mode = event.mode
     AND endpoint.deleted_at IS NULL AND endpoint.enabled
     AND (endpoint.events IS NULL OR event.type = ANY (endpoint.events))
   CROSS JOIN LATERAL (
     SELECT EXISTS (SELECT FROM webhook_deliveries
                     WHERE endpoint_id = endpoint.id AND status = 'pending'
                    OFFSET ${OPEN_DELIVERIES_MAX - 1} LIMIT 1)
     OFFSET 0) AS bound(full_up)
   LIMIT ${ENDPOINTS_MAX}
  RETURNING status = 'pending' AS is_open`;

/**
 * Only the statement knows how many deliveries it inserts, so it gets the maximum number of ids.
 */
export function newWebhookDeliveryBindings(): [string[]] {
  return [Array.from({ length: ENDPOINTS_MAX }, () => newId('delivery'))];
}

/** Deletes the bodies of old events (decision H8). @returns how many */
export async function forgetEventBodies(db: Db, limit: number): Promise<number> {
  const [row] = await rows<{ n: number }>(db, 'SELECT forget_event_bodies(?) AS n', [limit]);
  return row?.n ?? 0;
}

/** What was sent; null if the event is not of this account and mode, or its body is forgotten. */
export async function findEventBody(
  db: Reader,
  { accountId, mode }: { accountId: string; mode: Mode },
  id: string,
): Promise<Buffer | null> {
  const [event] = await rows<{ body: Buffer | null }>(
    db,
    'SELECT body FROM events WHERE id = ? AND account_id = ? AND mode = ?',
    [id, accountId, mode],
  );
  return event?.body ?? null;
}
