/** The event kinds a status change makes (the specification, "Event kinds"; decision O4). */
import type { PaymentStatus } from './payment';
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
