/**
 * Bulk operations on the deliveries of one endpoint, in batches. The caller holds the endpoint's
 * lock; rows that are locked by others are skipped.
 */
import type { Owner } from '../../domain/mode';
import {
  webhookDeliveryStatusesBefore,
  type WebhookDeliveryStatus,
  OPEN_DELIVERIES_MAX,
} from '../../domain/webhook-delivery';
import { EVENTS_OF_ALL, PING } from '../../domain/events';
import { newId } from '../../platform/lib/new-id';
import type { Db, Tx } from '../transaction';
import type { WebhookEndpoint } from './webhook-endpoints';

/** The deliveries or events to process. */
export interface RecoveryRange {
  endpoint: Owner & Pick<WebhookEndpoint, 'id' | 'events'>;
  since: Date;
}

/** A part of a recovery, which one transaction makes. */
export interface RecoveryBatch extends RecoveryRange {
  /** The `last` of the previous batch; '' for the first one. */
  after: string;
  limit: number;
}

/** What one transaction has recovered. */
export interface RecoveredBatch {
  deliveryIds: string[];
  /**
   * The position where the next batch continues, so that nothing is processed twice; null at the end.
   */
  last: string | null;
}

/** The number of open deliveries; the count stops at the maximum. */
export async function countOpenWebhookDeliveries(tx: Tx, endpointId: string): Promise<number> {
  return count(
    await tx.query(
      `SELECT count(*)::int AS n FROM (
         SELECT FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'pending'
          LIMIT ${OPEN_DELIVERIES_MAX}) AS open`,
      [endpointId],
    ),
  );
}

type Bindings = readonly (string | Date | WebhookDeliveryStatus[])[];

/**
 * Applies `set` to the next deliveries where `where` holds, and makes restart-missing check them.
 */
async function changeNext(
  tx: Tx,
  { after, limit }: RecoveryBatch,
  set: string,
  { where, bindings }: { where: string; bindings: Bindings },
): Promise<RecoveredBatch> {
  const changed = await tx.query<{ id: string }>(
    `WITH changed AS (
       UPDATE webhook_deliveries SET ${set}, check_at = clock_timestamp()
        WHERE id IN (
          SELECT id FROM webhook_deliveries WHERE ${where} AND id > ?
           ORDER BY id LIMIT ? FOR UPDATE SKIP LOCKED)
       RETURNING id)
     SELECT id FROM changed ORDER BY id`,
    [...bindings, after, limit],
  );
  const deliveryIds = changed.map(({ id }) => id);
  return { deliveryIds, last: changed.length < limit ? null : (deliveryIds.at(-1) ?? null) };
}

/** Requests one attempt for each delivery that has failed since and can still be sent. */
export function requestFailedRetries(tx: Tx, batch: RecoveryBatch): Promise<RecoveredBatch> {
  return changeNext(tx, batch, 'retry_requested_at = clock_timestamp()', {
    where: `endpoint_id = ? AND status = 'failed' AND finished_at >= ?
      AND retry_requested_at IS NULL AND EXISTS (
        SELECT FROM events e
         WHERE e.id = event_id AND e.type <> '${PING}' AND e.body IS NOT NULL OFFSET 0)`,
    bindings: [batch.endpoint.id, batch.since],
  });
}

const SKIPPED = `endpoint_id = ? AND status = ANY (?::text[]) AND finished_at >= ?
  AND last_error IS DISTINCT FROM 'body_expired'`;

function skippedBindings({ endpoint, since }: RecoveryRange): Bindings {
  return [endpoint.id, webhookDeliveryStatusesBefore('recover'), since];
}

/** Resumes deliveries that were skipped since, with their remaining attempts. */
export function recoverSkipped(tx: Tx, batch: RecoveryBatch): Promise<RecoveredBatch> {
  const set = `status = 'pending', next_attempt_at = clock_timestamp(), finished_at = NULL`;
  return changeNext(tx, batch, set, { where: SKIPPED, bindings: skippedBindings(batch) });
}

export async function countSkipped(db: Db, range: RecoveryRange): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM webhook_deliveries WHERE ${SKIPPED}`;
  return count(await db.query(sql, skippedBindings(range)));
}

/** The number of events that one statement reads, however few of them are missing. */
const LOOK = 10_000;

/**
 * The cursor includes the account, because otherwise the events of all accounts would be read. The
 * endpoint is an expression, because with old statistics PostgreSQL would read all deliveries of the
 * endpoint for each event.
 */
const MISSING = `looked AS (
    SELECT id, type, created_at FROM events
     WHERE account_id = ? AND mode = ? AND body IS NOT NULL
       AND (account_id, mode, created_at, id) > (?, ?, greatest(?::timestamptz,
           (SELECT created_at FROM events WHERE id = ?)), ?)
     ORDER BY created_at, id LIMIT ${LOOK}
  ), missing AS (
    SELECT id, created_at FROM looked
     WHERE type = ANY (?::text[])
       AND NOT EXISTS (
         SELECT FROM webhook_deliveries d
          WHERE d.event_id = looked.id AND d.endpoint_id || '' = ? OFFSET 0)
     ORDER BY created_at, id LIMIT ?
  )`;
const LOOKED_UP_TO = `(SELECT id FROM looked ORDER BY created_at, id OFFSET ${LOOK - 1})`;

function missingBindings({ endpoint, since }: RecoveryRange, after: string, limit: number) {
  const { id, accountId, mode } = endpoint;
  const types = endpoint.events ?? EVENTS_OF_ALL;
  return [accountId, mode, accountId, mode, since, after, after, types, id, limit] as const;
}

/**
 * Inserts a delivery for each event since then that the endpoint is subscribed to and has no
 * delivery for. Fewer than `limit` does not mean that none remain.
 */
export async function insertMissingWebhookDeliveries(
  tx: Tx,
  batch: RecoveryBatch,
): Promise<RecoveredBatch> {
  const { endpoint, after, limit } = batch;
  const ids = Array.from({ length: limit }, () => newId('webhookDelivery'));
  const [found] = await tx.query<{ deliveryIds: string[]; last: string | null }>(
    `WITH ${MISSING}, inserted AS (
       INSERT INTO webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, check_at)
       SELECT (?::text[])[row_number() OVER ()], id, ?, clock_timestamp(), clock_timestamp()
         FROM missing
       ON CONFLICT (event_id, endpoint_id) DO NOTHING
       RETURNING id)
     SELECT array(SELECT id FROM inserted) AS delivery_ids,
            coalesce((SELECT id FROM missing ORDER BY created_at, id OFFSET ? - 1 LIMIT 1),
                     ${LOOKED_UP_TO}) AS last`,
    [...missingBindings(batch, after, limit), ids, endpoint.id, limit],
  );
  return found ?? { deliveryIds: [], last: null };
}

export async function countMissing(db: Db, range: RecoveryRange): Promise<number> {
  let missing = 0;
  for (let after: string | null = ''; after !== null;) {
    const [found]: { n: number; last: string | null }[] = await db.query(
      `WITH ${MISSING} SELECT (SELECT count(*)::int FROM missing) AS n, ${LOOKED_UP_TO} AS last`,
      missingBindings(range, after, LOOK),
    );
    missing += found?.n ?? 0;
    after = found?.last ?? null;
  }
  return missing;
}

function count([row]: { n: number }[]): number {
  return row?.n ?? 0;
}
