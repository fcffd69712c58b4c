/** The event types of status changes (the specification, "Event kinds"; decision O4). */
import { PAYMENT_STATUSES, type PaymentStatus } from './payment';
import type { PayoutStatus } from './payout';

/**
 * The event of a payout that enters a status. `under_review` has none of its own: a new payout always
 * emits `payout.requested`, whatever its first status.
 */
export const PAYOUT_EVENTS = {
  requested: 'payout.requested',
  under_review: 'payout.requested',
  approved: 'payout.approved',
  processing: 'payout.processing',
  completed: 'payout.completed',
  rejected: 'payout.rejected',
  failed: 'payout.failed',
  cancelled: 'payout.cancelled',
} as const satisfies Record<PayoutStatus, string>;

/** The event of a payment that enters a status. */
export function paymentEvent<Status extends PaymentStatus>(status: Status): `payment.${Status}` {
  return `payment.${status}`;
}

/** Sent to test an endpoint, without a status change (decision H6). */
export const PING = 'webhook.ping' as const;

/** The events that an endpoint can subscribe to. A ping is sent on request only. */
export const SUBSCRIBABLE_EVENTS: readonly StatusEventType[] = [
  ...PAYMENT_STATUSES.map((status) => paymentEvent(status)),
  ...new Set(Object.values(PAYOUT_EVENTS)),
];

/** The event of a status change. */
export type StatusEventType = `payment.${PaymentStatus}` | (typeof PAYOUT_EVENTS)[PayoutStatus];
export type EventType = StatusEventType | typeof PING;
