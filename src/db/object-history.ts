/**
 * The history that the pages show beside an object: its events, their deliveries, and what needs
 * attention.
 */
import type { EventType } from '../domain/events';
import type { Mode } from '../domain/mode';
import type { WebhookDeliveryStatus } from '../domain/webhook-delivery';
import type { Reader } from './transaction';
import { SECOND_PERSON_APPROVED } from './payout-batches/payout-batches';

/** An event of an object with its deliveries. */
export interface HistoryEvent {
  id: string;
  type: EventType;
  /** The operator or request that decided it; null means the gateway. */
  actor: string | null;
  createdAt: Date;
  /** The webhook's bytes as text; null if they are forgotten. */
  body: string | null;
  deliveries: HistoryDelivery[];
}

/** The delivery of an event to one endpoint. */
export interface HistoryDelivery {
  id: string;
  url: string;
  status: WebhookDeliveryStatus;
  attempts: number;
  nextAttemptAt: string | null;
  /** The last attempt; null if there was none. */
  last: {
    startedAt: string;
    /** The status of the answer; null if there was none. */
    status: number | null;
    error: string | null;
    durationMs: number | null;
  } | null;
}

export async function listHistory(db: Reader, objectId: string): Promise<HistoryEvent[]> {
  return db.query<HistoryEvent>(
    `SELECT e.id, e.type, e.actor, e.created_at, convert_from(e.body, 'UTF8') AS body, coalesce((
              SELECT jsonb_agg(jsonb_build_object('id', d.id, 'url', p.url, 'status', d.status,
                       'attempts', d.attempts, 'nextAttemptAt', d.next_attempt_at,
                       'last', (SELECT jsonb_build_object('startedAt', a.started_at,
                                         'status', a.status, 'error', a.error, 'durationMs', a.duration_ms)
                                  FROM webhook_attempts a WHERE a.delivery_id = d.id
                                 ORDER BY a.number DESC LIMIT 1)) ORDER BY d.id)
                FROM webhook_deliveries d JOIN webhook_endpoints p ON p.id = d.endpoint_id
               WHERE d.event_id = e.id), '[]') AS deliveries
       FROM events e WHERE e.object_id = ? ORDER BY e.sequence DESC LIMIT 100`,
    [objectId],
  );
}

/** Counts stop here: a page says "100 or more". */
export const ATTENTION_MAX = 100;

/** What needs a merchant's attention. */
export interface Attention {
  payoutsUnderReview: number;
  /** The number of batches under review, without those that first wait for a second person of the merchant. */
  batchesUnderReview: number;
  payoutsInDoubt: number;
  paymentsOnHold: number;
  paymentsUnderpaid: number;
  /** Refunds whose customer has not named an address yet. */
  refundsAwaitingAddress: number;
  /** Deliveries that failed in the last day, of endpoints that are not deleted. */
  deliveriesFailed: number;
  endpointsDisabled: number;
  payoutsPaused: boolean;
}

export async function readAttention(db: Reader, accountId: string, mode: Mode): Promise<Attention> {
  const count = (sql: string) =>
    `(SELECT count(*)::integer FROM (SELECT ${sql} LIMIT ${ATTENTION_MAX}) AS found)`;
  const [attention] = await db.query<Attention>(
    `WITH q (account_id, mode) AS MATERIALIZED (VALUES (?::text, ?::text))
     SELECT ${count(`FROM payouts JOIN q USING (account_id, mode)
                      WHERE status_group = 'open' AND status = 'under_review' AND NOT awaits_batch`)}
              AS payouts_under_review,
            ${count(`FROM payout_batches JOIN q USING (account_id, mode)
                      WHERE closed_at IS NULL AND ending IS NULL AND status = 'under_review'
                        AND ${SECOND_PERSON_APPROVED}`)}
              AS batches_under_review,
            ${count(`FROM payouts JOIN q USING (account_id, mode)
                      WHERE status_group = 'open' AND in_doubt_since IS NOT NULL`)}
              AS payouts_in_doubt,
            ${count(`FROM payments JOIN q USING (account_id, mode) WHERE status = 'on_hold'`)}
              AS payments_on_hold,
            ${count(`FROM payments JOIN q USING (account_id, mode) WHERE status = 'underpaid'`)}
              AS payments_underpaid,
            ${count(`FROM payment_refunds JOIN q USING (account_id, mode)
                      WHERE created_at > now() - interval '31 days' AND state = 'ordered'
                        AND address_until IS NOT NULL AND payout_id IS NULL`)}
              AS refunds_awaiting_address,
            ${count(`FROM webhook_endpoints p JOIN q USING (account_id, mode) CROSS JOIN LATERAL (
                       SELECT finished_at, status FROM webhook_deliveries d
                        WHERE d.endpoint_id = p.id AND status IN ('failed', 'skipped', 'abandoned')
                        ORDER BY id DESC LIMIT ${ATTENTION_MAX}) AS latest
                      WHERE p.deleted_at IS NULL AND latest.status = 'failed'
                        AND latest.finished_at > now() - interval '1 day'`)}
              AS deliveries_failed,
            ${count(`FROM webhook_endpoints p JOIN q USING (account_id, mode)
                      WHERE p.deleted_at IS NULL AND NOT p.enabled`)}
              AS endpoints_disabled,
            EXISTS (SELECT FROM payout_pauses x, q
                     WHERE (x.scope = 'global' OR (x.scope = 'account' AND x.target = q.account_id))
                       AND (x.mode IS NULL OR x.mode = q.mode))
              AS payouts_paused`,
    [accountId, mode],
  );
  if (attention === undefined) throw new Error('the query returned no row');
  return attention;
}
