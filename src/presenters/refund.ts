/** A refund in API responses and webhook events (decisions/payments#refunds). */
import { ZERO } from '../domain/money';
import { awaitsAddress, type Refund, refundStatus } from '../domain/refund';
import type { RefundObject } from '../schemas/refunds';

export function presentRefund(refund: Refund): RefundObject {
  const status = refundStatus(refund.state);
  const isBack = status === 'failed';
  return {
    id: refund.id,
    object: 'refund',
    mode: refund.mode,
    status,
    payment_id: refund.paymentId,
    reference: refund.merchantReference,
    requested_by: refund.requestedBy,
    amount: refund.amount,
    currency: refund.currency,
    balance_debit: isBack ? ZERO : refund.taken,
    fee_returned: isBack ? ZERO : refund.fee,
    awaits_second_person: refund.awaitsPerson,
    awaits_address: awaitsAddress(refund),
    address_until: refund.addressUntil?.toISOString() ?? null,
    payout_id: refund.payoutId,
    destination: refund.destination,
    reason: refund.requestedBy === 'merchant' ? refund.reason : null,
    failure_reason: refund.refusal,
    created_at: refund.createdAt.toISOString(),
    completed_at:
      status === 'completed' ? (refund.endedAt ?? refund.updatedAt).toISOString() : null,
  };
}
