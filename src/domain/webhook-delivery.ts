/**
 * The life of a webhook delivery, one event to one endpoint, as data, and what an attempt does to
 * it. The database's guarded UPDATEs hold the table; the workflow only waits.
 *
 * Source: the specification, "Delivery and retries"; decisions H4 and H5.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const WEBHOOK_DELIVERY_STATUSES = [
  'pending',
  'succeeded',
  'failed',
  'skipped',
  'abandoned',
] as const;
export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

/**
 * - `succeed`: a 2xx, of the schedule or of a retry by hand
 * - `exhaust`: the schedule's last attempt failed
 * - `skip`: the endpoint is deleted or disabled, or has too many open deliveries, or the event's
 *   body is no longer kept
 * - `abandon`: an operator ends the schedule
 * - `recover`: what was skipped is taken up again, with the attempts that are left
 */
export type WebhookDeliveryTrigger = 'succeed' | 'exhaust' | 'skip' | 'abandon' | 'recover';

export const WEBHOOK_DELIVERY_TRANSITIONS = {
  pending: { succeed: 'succeeded', exhaust: 'failed', skip: 'skipped', abandon: 'abandoned' },
  succeeded: {},
  failed: { succeed: 'succeeded' },
  skipped: { succeed: 'succeeded', recover: 'pending' },
  abandoned: { succeed: 'succeeded' },
} as const satisfies Record<
  WebhookDeliveryStatus,
  Partial<Record<WebhookDeliveryTrigger, WebhookDeliveryStatus>>
>;

/** The statuses from which `trigger` may be taken. */
export function webhookDeliveryStatusesBefore(
  trigger: WebhookDeliveryTrigger,
): WebhookDeliveryStatus[] {
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
export interface WebhookDeliveryFacts {
  status: WebhookDeliveryStatus;
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

export type WebhookDeliveryMove =
  | { kind: 'attempt'; manual: boolean }
  | { kind: 'count_lost'; attempt: number }
  | { kind: 'skip'; why: 'endpoint_gone' | 'body_expired' }
  | { kind: 'exhaust' }
  | { kind: 'rest' };

/** The one next thing to do with a delivery. */
export function nextWebhookDeliveryMove(
  facts: WebhookDeliveryFacts,
  schedule: RetryScheduleMs,
): WebhookDeliveryMove {
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

/**
 * When a delivery is attempted (the specification, "Delivery and retries"). Each wait counts from
 * the end of the failed attempt before it: a receiver that answers after nine seconds has the
 * whole minute, and no attempt can overlap with the next.
 * The waits between attempts: there is one attempt more than there are waits.
 */
export type RetryScheduleMs = readonly number[];

export const RETRY_SCHEDULE_MS: RetryScheduleMs = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
];

/** 8: the first attempt and seven retries. */
export function attemptsOf(schedule: RetryScheduleMs): number {
  return schedule.length + 1;
}

/**
 * @param attempts how many attempts have been made, the failed one included
 * @returns the wait until the next attempt, or null after the last
 */
export function waitAfterMs(schedule: RetryScheduleMs, attempts: number): number | null {
  return schedule[attempts - 1] ?? null;
}
