/** The event kinds a status change makes (the specification, "Event kinds"; decision O4). */
import { PAYMENT_STATUSES, type PaymentStatus } from './payment';
import type { PayoutStatus } from './payout';

/**
 * The event of a payout's arrival in a status. `under_review` has none: a payout makes
 * `payout.requested` when it is created, whatever its first status.
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

/** The event of a payment's arrival in a status. */
export function paymentEvent(status: PaymentStatus): string {
  return `payment.${status}`;
}

/** Sent when somebody tries an endpoint; no status change makes it (decision H6). */
export const PING = 'webhook.ping';

/** What an endpoint can subscribe to. A ping is not among them: it comes to those who ask for it. */
export const SUBSCRIBABLE_EVENTS: readonly string[] = [
  ...PAYMENT_STATUSES.map(paymentEvent),
  ...new Set(Object.values(PAYOUT_EVENTS)),
];
