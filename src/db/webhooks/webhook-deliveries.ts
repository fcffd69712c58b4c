/** Deliveries: one event to one endpoint. Each status change is a guarded UPDATE. */
import type {
  WebhookDeliveryFacts,
  WebhookDeliveryStatus,
  WebhookDeliveryTrigger,
} from '../../domain/webhook-delivery';
import { webhookDeliveryStatusesBefore, SLOW_AFTER_TIMEOUTS } from '../../domain/webhook-delivery';
import type { EventType } from '../../domain/events';
import type { Signature } from '../../domain/webhook-endpoint';
import type { Mode, Owner } from '../../domain/mode';
import type { SealedSecret } from '../../platform/lib/secret-box';
import type { Db, Reader, SentWithNext, Tx } from '../transaction';

/** The input of a delivery's workflow: only ids and types. */
export interface WebhookDeliveryToStart extends Owner {
  deliveryId: string;
  eventType: EventType;
  objectId: string;
  endpointId: string;
  /** No attempt has been made yet. */
  isNew: boolean;
  /** Attempts at the endpoint time out. */
  isSlow: boolean;
  /** An operator requested an attempt outside the schedule. */
  retryRequested: boolean;
}

const TO_START = `d.id AS delivery_id, e.type AS event_type, e.object_id,
  p.id AS endpoint_id, p.account_id, p.mode, d.attempts = 0 AS is_new,
  p.timeouts_in_a_row >= ${SLOW_AFTER_TIMEOUTS} AS is_slow,
  d.retry_requested_at IS NOT NULL AS retry_requested
  FROM webhook_deliveries d JOIN events e ON e.id = d.event_id
  JOIN webhook_endpoints p ON p.id = d.endpoint_id`;

/** The deliveries of an object's events that were not started yet, oldest event first. */
export async function listUnstarted(db: Db, objectId: string): Promise<WebhookDeliveryToStart[]> {
  return db.prepared<WebhookDeliveryToStart>(
    `SELECT ${TO_START}
      WHERE e.object_id = ? AND d.status = 'pending' AND d.attempts = 0 ORDER BY e.sequence, d.id`,
    [objectId],
  );
}

export async function readWebhookDeliveriesToStart(
  db: Db,
  ids: readonly string[],
): Promise<WebhookDeliveryToStart[]> {
  return db.query<WebhookDeliveryToStart>(`SELECT ${TO_START} WHERE d.id = ANY (?::text[])`, [
    [...ids],
  ]);
}

/** A delivery is checked this long after it was due without progress. */
export const OVERDUE = `interval '2 minutes'`;
/** A run that takes a delivery has this long to ensure its workflow; then it can be taken again. */
const TAKEN_FOR = `interval '30 seconds'`;
/**
 * Older deliveries are checked less often, so that a backlog of one endpoint does not delay others.
 */
const CHECK_AGAIN = `greatest(interval '5 minutes',
  least(interval '1 hour', (clock_timestamp() - created_at) / 2))`;

/** Takes overdue open deliveries: they may have no workflow. */
export async function takeOverdueWebhookDeliveries(
  db: Db,
  limit: number,
): Promise<WebhookDeliveryToStart[]> {
  const taken = await db.query<{ id: string }>(
    `UPDATE webhook_deliveries SET check_at = clock_timestamp() + ${TAKEN_FOR}
      WHERE id IN (
        SELECT id FROM webhook_deliveries
         WHERE (status = 'pending' OR retry_requested_at IS NOT NULL) AND check_at <= now()
         ORDER BY check_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [limit],
  );
  return taken.length === 0
    ? []
    : readWebhookDeliveriesToStart(
        db,
        taken.map(({ id }) => id),
      );
}

/**
 * Notes that these deliveries have a workflow. A check time that an attempt has set since they were
 * taken is kept.
 */
export async function noteEnsured(db: Db, ids: readonly string[]): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries SET check_at = clock_timestamp() + ${CHECK_AGAIN}
      WHERE id = ANY (?::text[]) AND check_at < clock_timestamp() + ${TAKEN_FOR}`,
    [[...ids]],
  );
}

/**
 * Locks a delivery with the next statement, so that its snapshot is taken after the wait for the lock.
 */
export function lockWebhookDelivery(tx: Tx, id: string): void {
  tx.sendWithNext('SELECT FROM webhook_deliveries WHERE id = ? FOR NO KEY UPDATE', [id]);
}

/** The parts of a delivery that an attempt needs. */
export interface LockedWebhookDelivery extends WebhookDeliveryFacts {
  id: string;
  eventId: string;
  eventType: EventType;
  body: Buffer | null;
  endpointId: string;
  mode: Mode;
  url: string;
  signature: Signature;
  lastError: string | null;
  secret: SealedSecret;
  /** The number of the latest attempt; 0 before the first. */
  lastAttempt: number;
  /** The `key` of the order that made it. */
  lastOrder: string | null;
}

/** Reads the URL and the subscription from the database, never from a cache (decisions/webhooks#webhook-bodies). */
export async function readLockedWebhookDelivery(
  tx: Tx,
  id: string,
): Promise<LockedWebhookDelivery | null> {
  const [found] = await tx.prepared<Omit<LockedWebhookDelivery, 'secret'> & SealedSecret>(
    `SELECT d.id, d.status, d.attempts, d.event_id, e.type AS event_type, e.body,
            d.endpoint_id, p.mode, p.url, p.signature, p.secret_sealed AS sealed,
            p.secret_key_id AS key_id, d.last_error,
            ceil(extract(epoch FROM d.next_attempt_at - clock_timestamp()) * 1000)::float8
              AS due_in_ms,
            d.retry_requested_at IS NOT NULL AS retry_requested,
            p.enabled AND p.deleted_at IS NULL AS endpoint_takes, e.body IS NOT NULL AS body_kept,
            coalesce(a.number, 0) AS last_attempt, a.order_key AS last_order,
            CASE WHEN a.outcome IS NULL THEN a.number END AS open_attempt
       FROM webhook_deliveries d
       JOIN events e ON e.id = d.event_id
       JOIN webhook_endpoints p ON p.id = d.endpoint_id
       LEFT JOIN LATERAL (
        SELECT number, outcome, order_key FROM webhook_attempts
         WHERE delivery_id = d.id ORDER BY number DESC LIMIT 1) AS a ON true
      WHERE d.id = ?`,
    [id],
  );
  if (found === undefined) return null;
  const { sealed, keyId, ...delivery } = found;
  return { ...delivery, secret: { sealed, keyId } };
}

/** Counts an attempt. A scheduled one uses up one of the eight; a manual one does not. */
export function noteAttemptBegun(tx: Tx, id: string, manual: boolean): void {
  tx.sendWithNext(
    `UPDATE webhook_deliveries
        SET attempts = attempts + ?, retry_requested_at = NULL,
            check_at = clock_timestamp() + ${OVERDUE}
      WHERE id = ?`,
    [manual ? 0 : 1, id],
  );
}

/**
 * Ends the schedule. A trigger without a transition from this status changes nothing.
 * @returns whether it did; wait for it only after the transaction's next statement
 */
export function endWebhookDelivery(
  tx: Tx,
  id: string,
  trigger: Exclude<WebhookDeliveryTrigger, 'recover'>,
  lastError: string | null,
): SentWithNext<boolean> {
  const targets = {
    succeed: 'succeeded',
    exhaust: 'failed',
    skip: 'skipped',
    abandon: 'abandoned',
  } as const satisfies Record<typeof trigger, WebhookDeliveryStatus>;
  return tx.sendWithNext(
    `UPDATE webhook_deliveries
        SET status = ?, next_attempt_at = NULL, retry_requested_at = NULL, last_error = ?,
            finished_at = clock_timestamp()
      WHERE id = ? AND status = ANY (?::text[]) RETURNING id`,
    [targets[trigger], lastError, id, webhookDeliveryStatusesBefore(trigger)],
    ({ length }) => length > 0,
  );
}

/** Plans the next attempt. The delay starts now, at the end of the failed attempt. */
export async function planNextAttempt(
  tx: Tx,
  id: string,
  waitMs: number,
  lastError: string | null,
): Promise<void> {
  await tx.query(
    `UPDATE webhook_deliveries
        SET next_attempt_at = clock_timestamp() + ? * interval '1 millisecond', last_error = ?,
            check_at = clock_timestamp() + ? * interval '1 millisecond' + ${OVERDUE}
      WHERE id = ? AND status = 'pending'`,
    [waitMs, lastError, waitMs, id],
  );
}

/** Records a failure outside the schedule; the schedule does not change (decisions/webhooks#webhook-retries). */
export async function noteFailure(tx: Tx, id: string, lastError: string | null): Promise<void> {
  await tx.query('UPDATE webhook_deliveries SET last_error = ? WHERE id = ?', [lastError, id]);
}

export async function forgetRetryRequest(tx: Tx, id: string): Promise<void> {
  await tx.query('UPDATE webhook_deliveries SET retry_requested_at = NULL WHERE id = ?', [id]);
}

/** A delivery as an operator sees it. */
export interface WebhookDelivery extends Owner {
  id: string;
  eventId: string;
  eventType: EventType;
  objectId: string;
  endpointId: string;
  status: WebhookDeliveryStatus;
  attempts: number;
  nextAttemptAt: Date | null;
  lastError: string | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Whether the event can still be sent. */
  bodyKept: boolean;
}

const COLUMNS = `d.id, d.event_id, e.type AS event_type, e.object_id,
  d.endpoint_id, e.account_id, e.mode, d.status, d.attempts,
  d.next_attempt_at, d.last_error, d.created_at,
  d.finished_at, e.body IS NOT NULL AS body_kept`;
const FROM = 'FROM webhook_deliveries d JOIN events e ON e.id = d.event_id';

export async function findWebhookDelivery(db: Reader, id: string): Promise<WebhookDelivery | null> {
  const [delivery] = await db.query<WebhookDelivery>(`SELECT ${COLUMNS} ${FROM} WHERE d.id = ?`, [
    id,
  ]);
  return delivery ?? null;
}

/** The deliveries of one endpoint, newest first. */
export async function listWebhookDeliveries(
  db: Reader,
  endpointId: string,
  status: WebhookDeliveryStatus | undefined,
  limit: number,
  before: string | null = null,
): Promise<WebhookDelivery[]> {
  const ofStatus = status === undefined ? '' : 'AND status = ?';
  const older = before === null ? '' : 'AND id < ?';
  return db.query<WebhookDelivery>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM webhook_deliveries WHERE endpoint_id = ? ${ofStatus} ${older}
        ORDER BY id DESC LIMIT ?)
     SELECT ${COLUMNS} FROM page d JOIN events e ON e.id = d.event_id ORDER BY d.id DESC`,
    [
      endpointId,
      ...(status === undefined ? [] : [status]),
      ...(before === null ? [] : [before]),
      limit,
    ],
  );
}

/** @returns false when the delivery does not exist */
export async function requestRetry(tx: Tx, id: string): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE webhook_deliveries
        SET retry_requested_at = clock_timestamp(), check_at = clock_timestamp()
      WHERE id = ? RETURNING id`,
    [id],
  );
  return changed.length > 0;
}

/** The input of a delivery's workflow. */
export interface WebhookDeliveryReport {
  status: WebhookDeliveryStatus;
  attempts: number;
  nextAttemptAt: Date | null;
  dueInMs: number | null;
  lastError: string | null;
  lastHttpStatus: number | null;
}

export async function readWebhookDeliveryReport(
  id: string,
  send: Reader['prepared'],
): Promise<WebhookDeliveryReport | null> {
  const [report] = await send<WebhookDeliveryReport>(
    `SELECT d.status, d.attempts, d.next_attempt_at, d.last_error,
            greatest(0, ceil(extract(epoch FROM d.next_attempt_at - clock_timestamp()) * 1000)
              )::float8 AS due_in_ms,
            (SELECT a.status FROM webhook_attempts a WHERE a.delivery_id = d.id
              ORDER BY a.number DESC LIMIT 1) AS last_http_status
       FROM webhook_deliveries d WHERE d.id = ?`,
    [id],
  );
  return report ?? null;
}
