/** A payment in API responses and webhook events (decisions/payments#payment-object). */
import { ZERO } from '../domain/money';
import type { Payment } from '../domain/payment';
import { amountDue, feeKept, netAmount, overpaidAmount } from '../domain/payment-pricing';
import type { PaymentObject } from '../schemas/payments';

export function presentPayment(payment: Payment): PaymentObject {
  return {
    id: payment.id,
    object: 'payment',
    mode: payment.mode,
    status: payment.status,
    provider: payment.provider,
    network: payment.network,
    reference: payment.reference,
    amount: payment.amount,
    currency: payment.currency,
    received_amount: payment.receivedAmount,
    unconfirmed_amount: payment.unconfirmedAmount,
    amount_due: amountDue(payment),
    overpaid_amount: overpaidAmount(payment),
    refunded_amount: payment.refundedAmount,
    service_fee: feeKept(payment),
    net_amount: payment.creditedAmount === ZERO ? null : netAmount(payment),
    exceptions: payment.exceptions,
    tx_hash: payment.txHash,
    checkout_url: payment.checkoutUrl,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    description: payment.description,
    customer_email: payment.customerEmail,
    failure_reason: payment.failureReason,
    metadata: payment.metadata,
    created_at: payment.createdAt.toISOString(),
    expires_at: payment.expiresAt.toISOString(),
    completed_at: payment.completedAt?.toISOString() ?? null,
  };
}
