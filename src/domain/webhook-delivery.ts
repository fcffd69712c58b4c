/**
 * The life of a webhook delivery, one event to one endpoint, as data, and what an attempt does to
 * it. The database's guarded UPDATEs hold the table; the workflow only waits.
 *
 * Source: the specification, "Delivery and retries"; decisions H4 and H5.
 */
import { attemptsOf, type RetryScheduleMs } from './webhook-delivery-schedule';

export const WEBHOOK_DELIVERY_STATUSES = [
  'pending',
  'succeeded',
  'failed',
  'skipped',
  'abandoned',
] as const;
export type WebhookStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

/**
 * - `succeed`: a 2xx, of the schedule or of a retry by hand
 * - `exhaust`: the schedule's last attempt failed
 * - `skip`: the endpoint is deleted or disabled, or has too many open deliveries, or the event's
 *   body is no longer kept
 * - `abandon`: an operator ends the schedule
 * - `recover`: what was skipped is taken up again, with the attempts that are left
 */
export type WebhookTrigger = 'succeed' | 'exhaust' | 'skip' | 'abandon' | 'recover';

export const WEBHOOK_DELIVERY_TRANSITIONS = {
  pending: { succeed: 'succeeded', exhaust: 'failed', skip: 'skipped', abandon: 'abandoned' },
  succeeded: {},
  failed: { succeed: 'succeeded' },
  skipped: { succeed: 'succeeded', recover: 'pending' },
  abandoned: { succeed: 'succeeded' },
} as const satisfies Record<WebhookStatus, Partial<Record<WebhookTrigger, WebhookStatus>>>;

/** The statuses from which `trigger` may be taken. */
export function webhookDeliveryStatusesBefore(trigger: WebhookTrigger): WebhookStatus[] {
  return WEBHOOK_DELIVERY_STATUSES.filter(
    (status) => trigger in WEBHOOK_DELIVERY_TRANSITIONS[status],
  );
}

/** An endpoint never has more deliveries open than this; what is over it is `skipped`. */
export const OPEN_DELIVERIES_MAX = 10_000;

/** Of these so many places are left to new events when an operator recovers or replays old ones. */
export const OPEN_DELIVERIES_RESERVE = 1_000;

/** Decision H8: endpoints of one account in one mode. */
export const ENDPOINTS_MAX = 16;

/** So many time-outs one after the other, and an endpoint's first attempts go with the retries. */
export const SLOW_AFTER_TIMEOUTS = 5;

/** What decides whether an attempt is made now. */
export interface WebhookFacts {
  status: WebhookStatus;
  /** Attempts of the schedule that were begun. */
  attempts: number;
  /** How long until the next one may be made; null when none is to come. */
  dueInMs: number | null;
  /** Somebody asked for an attempt outside the schedule. */
  retryRequested: boolean;
  /** An attempt that was begun and never ended: its worker is gone. */
  openAttempt: number | null;
  endpointTakes: boolean;
  bodyKept: boolean;
}

export type WebhookMove =
  | { kind: 'attempt'; manual: boolean }
  | { kind: 'count_lost'; attempt: number }
  | { kind: 'skip'; why: 'endpoint_gone' | 'body_expired' }
  | { kind: 'exhaust' }
  | { kind: 'rest' };

/** The one next thing to do with a delivery. */
export function nextWebhookDeliveryMove(
  facts: WebhookFacts,
  schedule: RetryScheduleMs,
): WebhookMove {
  const { status, openAttempt, endpointTakes, bodyKept, retryRequested } = facts;
  if (openAttempt !== null) return { kind: 'count_lost', attempt: openAttempt };
  if (status === 'pending') {
    if (!endpointTakes) return { kind: 'skip', why: 'endpoint_gone' };
    if (!bodyKept) return { kind: 'skip', why: 'body_expired' };
    if (facts.attempts >= attemptsOf(schedule)) return { kind: 'exhaust' };
  }
  const isDue = status === 'pending' && facts.dueInMs !== null && facts.dueInMs <= 0;
  if (!endpointTakes || !bodyKept || !(isDue || retryRequested)) return { kind: 'rest' };
  return { kind: 'attempt', manual: retryRequested };
}
