/** The event types of status changes (the specification, "Event kinds"; decisions/payouts#payout-statuses). */
import { PAYMENT_STATUSES, type PaymentStatus } from './payment';
import { PAYOUT_STATUSES, type PayoutStatus } from './payout';
import type { PayoutBatchStatus } from './payout-batch';
import { REFUND_STATUSES, type RefundStatus } from './refund';

type PaymentEvent = `payment.${PaymentStatus}`;
type PayoutEvent = `payout.${Exclude<PayoutStatus, 'under_review'>}`;

/**
 * More money was credited to a payment that keeps its status. The specification has one event for each
 * status change, so only endpoints that name this one get it (decisions/payments#late-payments).
 */
export const PAYMENT_RECEIVED = 'payment.received' as const;

/** The types that an endpoint for all events does not get. */
export const EVENTS_BY_NAME_ONLY: readonly EventType[] = [PAYMENT_RECEIVED];

/** The event of a payment that enters a status. */
export function paymentEvent(status: PaymentStatus): PaymentEvent {
  return `payment.${status}`;
}

/**
 * The event of a payout that enters a status. `under_review` has none of its own: a new payout
 * always emits `payout.requested`, whatever its first status.
 */
export function payoutEvent(status: PayoutStatus): PayoutEvent {
  return status === 'under_review' ? 'payout.requested' : `payout.${status}`;
}

/** The events of a batch. Its creation has none, because the response to the request reports it. */
export const PAYOUT_BATCH_EVENTS = {
  processing: 'payout_batch.approved',
  completed: 'payout_batch.completed',
  partially_completed: 'payout_batch.completed',
  stopped: 'payout_batch.stopped',
  rejected: 'payout_batch.rejected',
} as const satisfies Partial<Record<PayoutBatchStatus, string>>;
type PayoutBatchEvent = (typeof PAYOUT_BATCH_EVENTS)[keyof typeof PAYOUT_BATCH_EVENTS];

/**
 * The events of what a schedule does by itself. A merchant's own changes have none, because the response
 * reports them.
 */
export const PAYOUT_SCHEDULE_EVENTS = [
  'payout_schedule.run_created',
  'payout_schedule.run_failed',
  'payout_schedule.ended',
] as const;
export type PayoutScheduleEvent = (typeof PAYOUT_SCHEDULE_EVENTS)[number];

/** The events of a merchant's changes of a recipient. */
export const RECIPIENT_EVENTS = [
  'recipient.created',
  'recipient.updated',
  'recipient.deleted',
] as const;
export type RecipientEvent = (typeof RECIPIENT_EVENTS)[number];

type RefundEvent = `refund.${Exclude<RefundStatus, 'pending'> | 'created'}`;

/** The event of a refund that enters a status. */
export function refundEvent(status: RefundStatus): RefundEvent {
  return status === 'pending' ? 'refund.created' : `refund.${status}`;
}

/** Sent to test an endpoint, without a status change (decisions/webhooks#webhook-ping). */
export const PING = 'webhook.ping' as const;

/** The type of an event, such as `payout.completed`. */
export type EventType =
  | PaymentEvent
  | typeof PAYMENT_RECEIVED
  | PayoutEvent
  | PayoutBatchEvent
  | PayoutScheduleEvent
  | RecipientEvent
  | RefundEvent
  | typeof PING;

/** The events that an endpoint can subscribe to. A ping is sent on request only. */
export const SUBSCRIBABLE_EVENTS: readonly EventType[] = [
  ...PAYMENT_STATUSES.map(paymentEvent),
  PAYMENT_RECEIVED,
  ...new Set(PAYOUT_STATUSES.map(payoutEvent)),
  ...new Set(Object.values(PAYOUT_BATCH_EVENTS)),
  ...PAYOUT_SCHEDULE_EVENTS,
  ...RECIPIENT_EVENTS,
  ...REFUND_STATUSES.map(refundEvent),
];

/** The types that an endpoint for all events gets. */
export const EVENTS_OF_ALL = SUBSCRIBABLE_EVENTS.filter(
  (type) => !EVENTS_BY_NAME_ONLY.includes(type),
);

/** All types, with the ping. */
export const EVENT_TYPES: readonly EventType[] = [...SUBSCRIBABLE_EVENTS, PING];
