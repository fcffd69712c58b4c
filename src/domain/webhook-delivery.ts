/**
 * The statuses, transitions and retry schedule of a webhook delivery (one event to one endpoint), and what
 * to do with it next. The database's guarded UPDATEs enforce the table; the workflow only waits.
 *
 * Source: the specification, "Delivery and retries"; decisions/webhooks#webhook-endpoints and
 * decisions/webhooks#webhook-retries.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The statuses of a delivery. */
export const WEBHOOK_DELIVERY_STATUSES = [
  'pending',
  'succeeded',
  'failed',
  'skipped',
  'abandoned',
] as const;
export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

/**
 * - `succeed`: a 2xx response, to a scheduled attempt or a manual retry
 * - `exhaust`: the last attempt of the schedule failed
 * - `skip`: the endpoint is deleted or disabled, or has too many open deliveries, or the event's body
 *   has been deleted
 * - `abandon`: an operator ended the schedule
 * - `recover`: a skipped delivery continues with its remaining attempts
 */
export type WebhookDeliveryTrigger = 'succeed' | 'exhaust' | 'skip' | 'abandon' | 'recover';

/** The table of transitions: from each status, the status after each trigger. */
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

/** The statuses in which `trigger` is allowed. */
export function webhookDeliveryStatusesBefore(
  trigger: WebhookDeliveryTrigger,
): WebhookDeliveryStatus[] {
  return WEBHOOK_DELIVERY_STATUSES.filter(
    (status) => trigger in WEBHOOK_DELIVERY_TRANSITIONS[status],
  );
}

/** The maximum of open deliveries per endpoint; further ones are `skipped`. */
export const OPEN_DELIVERIES_MAX = 10_000;

/** The part of OPEN_DELIVERIES_MAX that recovery and replay leave free for new events. */
export const OPEN_DELIVERIES_RESERVE = 1_000;

/** Endpoints per account and mode (decisions/webhooks#webhook-endpoints). */
export const ENDPOINTS_MAX = 16;

/** After this many timeouts in a row, an endpoint's first attempts use the retry queue. */
export const SLOW_AFTER_TIMEOUTS = 5;

/** The facts that decide the next move. */
export interface WebhookDeliveryFacts {
  status: WebhookDeliveryStatus;
  /** Scheduled attempts that were started. */
  attempts: number;
  /** Time until the next scheduled attempt; null if there is none. */
  dueInMs: number | null;
  /** An attempt outside the schedule was requested. */
  retryRequested: boolean;
  /** An attempt that was started and never ended: its worker died. */
  openAttempt: number | null;
  endpointTakes: boolean;
  bodyKept: boolean;
}

/** What to do with a delivery next. */
export type WebhookDeliveryMove =
  | { kind: 'attempt'; manual: boolean }
  | { kind: 'count_lost'; attempt: number }
  | { kind: 'skip'; why: 'endpoint_gone' | 'body_expired' }
  | { kind: 'exhaust' }
  | { kind: 'rest' };

/** The next move for a delivery. */
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
 * The delays between attempts (the specification, "Delivery and retries"), one fewer than there are
 * attempts. Each starts at the end of the failed attempt, so a slow receiver gets the full delay and
 * attempts never overlap.
 */
export type RetryScheduleMs = readonly number[];

/** The delays of the specification's schedule, in milliseconds. */
export const RETRY_SCHEDULE_MS: RetryScheduleMs = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
];

/** The number of attempts: 8, the first one and seven retries. */
export function attemptsOf(schedule: RetryScheduleMs): number {
  return schedule.length + 1;
}

/**
 * @param attempts the number of attempts made, including the failed one
 * @returns the delay until the next attempt, or null after the last one
 */
export function waitAfterMs(schedule: RetryScheduleMs, attempts: number): number | null {
  return schedule[attempts - 1] ?? null;
}
