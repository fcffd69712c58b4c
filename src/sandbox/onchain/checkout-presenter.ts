/** How the on-chain provider shows a checkout, in its answers and in its callbacks. */
import type { Checkout } from '../checkouts/checkout';

const STATES = {
  open: 'open',
  started: 'customer_active',
  cancelled: 'cancelled',
  failed: 'failed',
} as const;

const DEPOSIT_STATES = { seen: 'detected', confirmed: 'final', dropped: 'vanished' } as const;

export function presentOnchainCheckout(checkout: Checkout, url: string): Record<string, unknown> {
  return {
    object: 'checkout',
    id: `och_${checkout.id}`,
    client_reference: checkout.reference,
    url,
    state: STATES[checkout.state],
    compliance: checkout.onHold ? 'held' : 'clear',
    amount: checkout.amount,
    asset: checkout.currency,
    network: checkout.network,
    deposit_address: { address: checkout.payTo, memo: checkout.payToMemo },
    deposits: checkout.transfers.map((transfer) => ({
      id: transfer.id,
      amount: transfer.amount,
      state: DEPOSIT_STATES[transfer.status],
      detected_at: transfer.seenAt,
      final_at: transfer.confirmedAt,
      tx_hash: transfer.txHash,
    })),
    refunds: checkout.refunds.map((refund) => ({
      id: refund.id,
      refund_reference: refund.reference,
      amount: refund.amount,
      refunded_at: refund.refundedAt,
    })),
    failure_code: checkout.failureCode,
    expires_at: checkout.expiresAt,
    created_at: checkout.createdAt,
    updated_at: checkout.updatedAt,
  };
}
