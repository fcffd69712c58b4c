/** Attempts at a delivery: inserted before the request is sent, completed with its outcome. */
import { PING } from '../../domain/events';
import type { Mode, Owner } from '../../domain/mode';
import type { Db, Reader, SentWithNext, Tx } from '../transaction';

export interface AttemptTiming {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
}

/** The end of an attempt. */
export interface AttemptEnd {
  outcome: 'succeeded' | 'failed';
  status: number | null;
  errorCode: string | null;
  error: string | null;
  durationMs: number;
  timing: AttemptTiming;
  requestHeaders: Record<string, string>;
  responseHeaders: [name: string, value: string][];
  responseBody: Buffer;
  responseTruncated: boolean;
}

/** Identifies an attempt: the delivery and its number. */
export interface AttemptKey {
  deliveryId: string;
  number: number;
}

/** An order for an attempt, and the endpoint whose slot it takes. */
export interface SlotOrder {
  endpointId: string;
  key: string;
}

/**
 * Takes one of the endpoint's slots, which all workers share. A slot that was not released in 30 s,
 * which is the most that the activity may take, was held by a worker that died and whose attempt nobody
 * has counted as lost.
 * @returns whether one was free; wait for it only after the transaction's next statement
 */
export function takeSlot(tx: Tx, { endpointId, key }: SlotOrder): SentWithNext<boolean> {
  return tx.sendWithNext(
    `WITH free AS MATERIALIZED (
       SELECT slot FROM webhook_slots
        WHERE endpoint_id = ? AND (holder IS NULL OR holder = ?
              OR taken_at < clock_timestamp() - interval '30 seconds')
        ORDER BY holder = ? DESC NULLS LAST, slot LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
     )
     UPDATE webhook_slots s SET holder = ?, taken_at = clock_timestamp()
       FROM free WHERE s.endpoint_id = ? AND s.slot = free.slot RETURNING s.slot`,
    [endpointId, key, key, key, endpointId],
    ({ length }) => length > 0,
  );
}

/**
 * Releases the slots of attempts that are not made, or whose worker died. A slot that another
 * transaction has locked is being taken by it; waiting for it could be a deadlock.
 */
export function releaseSlots(tx: Tx, endpointId: string, keys: readonly string[]): void {
  tx.sendWithNext(
    `UPDATE webhook_slots SET holder = NULL
      WHERE endpoint_id = ? AND slot IN (
        SELECT slot FROM webhook_slots WHERE endpoint_id = ? AND holder = ANY (?::text[])
           FOR NO KEY UPDATE SKIP LOCKED)`,
    [endpointId, endpointId, [...keys]],
  );
}

export function insertAttempt(
  tx: Tx,
  attempt: AttemptKey & { manual: boolean; url: string; orderKey: string },
): void {
  tx.sendWithNext(
    `INSERT INTO webhook_attempts (delivery_id, number, manual, url, order_key)
     VALUES (?, ?, ?, ?, ?)`,
    [attempt.deliveryId, attempt.number, attempt.manual, attempt.url, attempt.orderKey],
  );
}

const COMPLETE = `WITH before AS (
    SELECT delivery_id, number, outcome IS NOT NULL AS was_lost FROM webhook_attempts
     WHERE delivery_id = ? AND number = ?
       AND (outcome IS NULL OR error_code = 'worker_lost') FOR UPDATE
  )
  UPDATE webhook_attempts a
     SET finished_at = clock_timestamp(), outcome = ?, status = ?, error_code = ?, error = ?,
         duration_ms = ?, timing = ?, request_headers = ?, response_headers = ?,
         response_body = ?, response_truncated = ?
    FROM before WHERE a.delivery_id = before.delivery_id AND a.number = before.number
  RETURNING a.manual, before.was_lost`;

function completeBindings({ deliveryId, number }: AttemptKey, end: AttemptEnd) {
  return [
    deliveryId,
    number,
    end.outcome,
    end.status,
    end.errorCode,
    end.error,
    end.durationMs,
    JSON.stringify(end.timing),
    JSON.stringify(end.requestHeaders),
    JSON.stringify(end.responseHeaders),
    end.responseBody,
    end.responseTruncated,
  ];
}

/**
 * Completes an attempt. An attempt that was recorded as `worker_lost` because its worker was slow
 * gets its actual outcome.
 * @returns whether it was manual; null when its outcome is already known
 */
export async function completeAttempt(
  tx: Tx,
  attempt: AttemptKey,
  end: AttemptEnd,
): Promise<{ manual: boolean; wasLost: boolean } | null> {
  const [completed] = await tx.prepared<{ manual: boolean; wasLost: boolean }>(
    COMPLETE,
    completeBindings(attempt, end),
  );
  return completed ?? null;
}

/** The same with the transaction's next statement or its commit, for callers who need no answer. */
export function completeAttemptLater(tx: Tx, attempt: AttemptKey, end: AttemptEnd): void {
  tx.sendWithNext(COMPLETE, completeBindings(attempt, end));
}

/** Ends an attempt whose worker did not report the outcome. @returns what made it */
export async function giveUpAttempt(
  tx: Tx,
  { deliveryId, number }: AttemptKey,
): Promise<{ manual: boolean; orderKey: string }> {
  const [lost] = await tx.query<{ manual: boolean; orderKey: string }>(
    `UPDATE webhook_attempts
        SET finished_at = clock_timestamp(), outcome = 'failed', error_code = 'worker_lost',
            error = 'The gateway stopped during this attempt; it may have reached the receiver.'
      WHERE delivery_id = ? AND number = ? AND outcome IS NULL RETURNING manual, order_key`,
    [deliveryId, number],
  );
  if (lost === undefined) throw new Error(`attempt ${number} of ${deliveryId} is not open`);
  return lost;
}

/** An attempt as stored. */
export interface StoredAttempt {
  number: number;
  manual: boolean;
  url: string;
  startedAt: Date;
  finishedAt: Date | null;
  outcome: 'succeeded' | 'failed' | null;
  status: number | null;
  errorCode: string | null;
  error: string | null;
  durationMs: number | null;
  timing: AttemptTiming | null;
  requestHeaders: Record<string, string> | null;
  responseHeaders: [name: string, value: string][] | null;
  responseBody: Buffer | null;
  responseTruncated: boolean | null;
}

/** The attempts of one delivery, in order. */
export async function listAttempts(db: Reader, deliveryId: string): Promise<StoredAttempt[]> {
  return db.query<StoredAttempt>(
    `SELECT number, manual, url, started_at, finished_at, outcome,
            status, error_code, error, duration_ms, timing,
            request_headers, response_headers,
            response_body, response_truncated
       FROM webhook_attempts WHERE delivery_id = ? ORDER BY number`,
    [deliveryId],
  );
}

/** The attempts of this many newest deliveries are counted. */
export const HEALTH_DELIVERIES_MAX = 1_000;

export interface AttemptCounts {
  /** The hour, where 0 is the last one; null means all of them. */
  hoursAgo: number | null;
  succeeded: number;
  failed: number;
  /** The median duration; null without an attempt that ended. */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** The attempts of the last 24 hours at an endpoint, by hour and in total. */
export async function countAttempts(db: Reader, endpointId: string): Promise<AttemptCounts[]> {
  return db.query<AttemptCounts>(
    `WITH latest AS MATERIALIZED (
       SELECT id FROM webhook_deliveries WHERE endpoint_id = ? ORDER BY id DESC LIMIT ?
     )
     SELECT hours_ago, count(*) FILTER (WHERE outcome = 'succeeded')::integer AS succeeded,
            count(*) FILTER (WHERE outcome = 'failed')::integer AS failed,
            round(percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms))::integer AS p50_ms,
            round(percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms))::integer AS p95_ms
       FROM latest JOIN webhook_attempts a ON a.delivery_id = latest.id
      CROSS JOIN LATERAL (SELECT floor(extract(epoch FROM now() - a.started_at) / 3600)::integer
                            AS hours_ago) AS age
      WHERE a.outcome IS NOT NULL AND a.started_at > now() - interval '24 hours'
      GROUP BY GROUPING SETS ((hours_ago), ())`,
    [endpointId, HEALTH_DELIVERIES_MAX],
  );
}

/**
 * The attempts of this many newest deliveries of each endpoint are counted, so that a list stays quick.
 */
const RECENT_DELIVERIES = 100;

export interface EndpointCounts {
  endpointId: string;
  url: string;
  succeeded: number;
  failed: number;
}

/**
 * Counts the recent attempts of the account's endpoints, in the last 24 hours. An endpoint without any
 * is left out.
 */
export async function countRecentAttempts(
  db: Reader,
  accountId: string,
  mode: Mode,
): Promise<EndpointCounts[]> {
  return db.query<EndpointCounts>(
    `SELECT p.id AS endpoint_id, p.url,
            count(*) FILTER (WHERE a.outcome = 'succeeded')::integer AS succeeded,
            count(*) FILTER (WHERE a.outcome = 'failed')::integer AS failed
       FROM webhook_endpoints p
      CROSS JOIN LATERAL (SELECT d.id FROM webhook_deliveries d WHERE d.endpoint_id = p.id
                           ORDER BY d.id DESC LIMIT ${RECENT_DELIVERIES}) AS latest
       JOIN webhook_attempts a ON a.delivery_id = latest.id
      WHERE p.account_id = ? AND p.mode = ? AND p.deleted_at IS NULL AND p.enabled
        AND a.outcome IS NOT NULL AND a.started_at > now() - interval '24 hours'
      GROUP BY p.id, p.url ORDER BY p.id`,
    [accountId, mode],
  );
}

/**
 * Inserts a ping: its event, its delivery and its only attempt, which has ended (decisions/webhooks#webhook-ping).
 */
export interface EndedPing extends Owner {
  eventId: string;
  deliveryId: string;
  endpointId: string;
  url: string;
  body: Buffer;
  sentAt: Date;
}

export async function insertPing(tx: Tx, ping: EndedPing, end: AttemptEnd): Promise<void> {
  await tx.query(
    `WITH event AS (
       INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, created_at)
       VALUES (?, ?, ?, '${PING}', ?, 1, ?, ?)
     ), delivery AS (
       INSERT INTO webhook_deliveries
              (id, event_id, endpoint_id, status, attempts, last_error, check_at, created_at,
               finished_at)
       VALUES (?, ?, ?, ?, 1, ?, clock_timestamp(), ?, clock_timestamp())
     )
     INSERT INTO webhook_attempts (delivery_id, number, manual, url, started_at)
     VALUES (?, 1, true, ?, ?)`,
    [
      ping.eventId,
      ping.accountId,
      ping.mode,
      // Each ping is an object of its own, so its sequence is 1.
      ping.eventId,
      ping.body,
      ping.sentAt,
      ping.deliveryId,
      ping.eventId,
      ping.endpointId,
      end.outcome,
      end.errorCode,
      ping.sentAt,
      ping.deliveryId,
      ping.url,
      ping.sentAt,
    ],
  );
  await completeAttempt(tx, { deliveryId: ping.deliveryId, number: 1 }, end);
}

const BODIES_KEPT_DAYS = 30;
const ATTEMPTS_KEPT_DAYS = 90;

/** Deletes old response bodies, skipping locked rows (decisions/webhooks#retention). @returns how many */
export async function forgetResponseBodies(db: Db, limit: number): Promise<number> {
  const changed = await db.query(
    `UPDATE webhook_attempts SET response_body = NULL
      WHERE (delivery_id, number) IN (
        SELECT delivery_id, number FROM webhook_attempts
         WHERE response_body IS NOT NULL AND started_at < now() - ? * interval '1 day'
         ORDER BY started_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING number`,
    [BODIES_KEPT_DAYS, limit],
  );
  return changed.length;
}

/** Deletes old attempts (decisions/webhooks#retention). @returns how many */
export async function deleteOldAttempts(db: Db, limit: number): Promise<number> {
  const deleted = await db.query(
    `DELETE FROM webhook_attempts
      WHERE (delivery_id, number) IN (
        SELECT delivery_id, number FROM webhook_attempts
         WHERE started_at < now() - ? * interval '1 day'
         ORDER BY started_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING number`,
    [ATTEMPTS_KEPT_DAYS, limit],
  );
  return deleted.length;
}
