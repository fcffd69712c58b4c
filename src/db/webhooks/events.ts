/** Events: one per change, with the webhook's exact bytes (decisions/webhooks#webhook-bodies). */
import { type EventType, EVENTS_BY_NAME_ONLY } from '../../domain/events';
import {
  ENDPOINTS_MAX,
  OPEN_DELIVERIES_MAX,
  SLOW_AFTER_TIMEOUTS,
} from '../../domain/webhook-delivery';
import type { Owner } from '../../domain/mode';
import { newId } from '../../platform/lib/new-id';
import { type Db, type Reader, sqlList, type Tx } from '../transaction';
import type { WebhookDeliveryToStart } from './webhook-deliveries';

/** An event to append. */
export interface NewEvent extends Owner {
  id: string;
  type: EventType;
  objectId: string;
  sequence: number;
  body: Buffer;
  createdAt: Date;
  /** The operator or the merchant's request that decided it; null means the gateway. */
  actor?: string | null;
  /** The workflow run that records it; null outside of a workflow. */
  runId?: string | null;
}

/** A delivery of a transaction, to be started after the commit. */
type NewDelivery = Omit<WebhookDeliveryToStart, 'retryRequested'>;

/** A transaction that can append events. Their deliveries are known after its commit. */
export type EventTx = Tx & { readonly deliveries: Promise<NewDelivery[]>[] };

export function withEvents(tx: Tx): EventTx {
  return Object.assign(tx, { deliveries: [] });
}

/** @returns the result of the work, and the deliveries that the caller starts */
export async function transactionOfEvents<T>(
  db: Db,
  work: (tx: EventTx) => Promise<T>,
): Promise<{ result: T; deliveries: NewDelivery[] }> {
  const { result, inserted } = await db.transaction(async (tx) => {
    const events = withEvents(tx);
    return { result: await work(events), inserted: events.deliveries };
  });
  return { result, deliveries: (await Promise.all(inserted)).flat() };
}

/** A part that can fail by itself: its events go with it. */
export async function savepointOfEvents<T>(tx: EventTx, work: () => Promise<T>): Promise<T> {
  const before = tx.deliveries.length;
  try {
    return await tx.savepoint(work);
  } catch (error) {
    tx.deliveries.length = before;
    throw error;
  }
}

/**
 * Appends the event and its deliveries, in the transaction of the status change
 * (decisions/webhooks#webhook-endpoints).
 */
export function appendEvent(tx: EventTx, event: NewEvent): void {
  const inserted = tx.sendWithNext<InsertedDelivery>(
    `WITH event AS (
       INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, actor, run_id,
                           created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       RETURNING id, account_id, mode, type
     ), ${INSERT_DELIVERIES}
     SELECT id, endpoint_id, is_slow FROM chosen WHERE NOT is_full`,
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
  tx.deliveries.push(deliveriesOf(event, inserted));
}

/** A delivery that was not skipped. */
export interface InsertedDelivery {
  id: string;
  endpointId: string;
  isSlow: boolean;
}

/** The deliveries that a transaction has inserted, after its commit. */
export function deliveriesOf(
  { type: eventType, objectId, accountId, mode }: Omit<NewEvent, 'sequence' | 'createdAt'>,
  inserted: Promise<InsertedDelivery[]>,
): Promise<NewDelivery[]> {
  const event = { eventType, objectId, accountId, mode, isNew: true };
  const deliveries = inserted.then((all) =>
    all.map(({ id, ...endpoint }) => ({ ...event, deliveryId: id, ...endpoint })),
  );
  // The deliveries are read only after the commit, so an error is no unhandled rejection before.
  deliveries.catch(() => undefined);
  return deliveries;
}

/** The worker that created the delivery starts its workflow, so restart-missing waits this long. */
const START_GRACE = `interval '30 seconds'`;

/**
 * Inserts a delivery for each endpoint that is subscribed to the events of the relation `event`, and
 * leaves them in the relation `chosen`. The count of open deliveries stops at the maximum, so a healthy
 * endpoint costs one index lookup. Bindings: `newWebhookDeliveryBindings()`.
 */
export const INSERT_DELIVERIES = `
  chosen AS MATERIALIZED (
    SELECT (?::text[])[row_number() OVER ()] AS id, event.id AS event_id,
           endpoint.id AS endpoint_id,
           endpoint.timeouts_in_a_row >= ${SLOW_AFTER_TIMEOUTS} AS is_slow,
           EXISTS (SELECT FROM webhook_deliveries
                    WHERE endpoint_id = endpoint.id AND status = 'pending'
                   OFFSET ${OPEN_DELIVERIES_MAX - 1} LIMIT 1) AS is_full
      FROM event
      JOIN webhook_endpoints endpoint
        ON endpoint.account_id = event.account_id AND endpoint.mode = event.mode
       AND endpoint.deleted_at IS NULL AND endpoint.enabled
       AND (endpoint.events IS NULL AND event.type NOT IN (${sqlList(EVENTS_BY_NAME_ONLY)})
            OR event.type = ANY (endpoint.events))
     LIMIT ${ENDPOINTS_MAX}
  ), inserted AS (
    INSERT INTO webhook_deliveries
                (id, event_id, endpoint_id, status, next_attempt_at, check_at, last_error, finished_at)
    SELECT id, event_id, endpoint_id,
           CASE WHEN is_full THEN 'skipped' ELSE 'pending' END,
           CASE WHEN NOT is_full THEN clock_timestamp() END,
           clock_timestamp() + ${START_GRACE},
           CASE WHEN is_full THEN 'too_many_open' END,
           CASE WHEN is_full THEN clock_timestamp() END
      FROM chosen
  )`;

/**
 * Only the statement knows how many deliveries it inserts, so it gets the maximum number of ids.
 */
export function newWebhookDeliveryBindings(): [string[]] {
  return [Array.from({ length: ENDPOINTS_MAX }, () => newId('webhookDelivery'))];
}

/** Deletes the bodies of old events (decisions/webhooks#retention). @returns how many */
export async function forgetEventBodies(db: Db, limit: number): Promise<number> {
  const [row] = await db.query<{ n: number }>('SELECT forget_event_bodies(?) AS n', [limit]);
  return row?.n ?? 0;
}

/**
 * The body that was sent; null if the event is not of this account and mode, or its body is deleted.
 */
export async function findEventBody(
  db: Reader,
  { accountId, mode }: Owner,
  id: string,
): Promise<Buffer | null> {
  const [event] = await db.query<{ body: Buffer | null }>(
    'SELECT body FROM events WHERE id = ? AND account_id = ? AND mode = ?',
    [id, accountId, mode],
  );
  return event?.body ?? null;
}
