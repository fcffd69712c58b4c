/** A payout in API responses and webhook events (the specification; decisions/payout-object). */
import type { Payout } from '../domain/payout';
import type { PayoutObject } from '../schemas/payouts';

export function presentPayout(payout: Payout): PayoutObject {
  return {
    id: payout.id,
    object: 'payout',
    mode: payout.mode,
    status: payout.status,
    provider: payout.provider,
    reference: payout.reference,
    amount: payout.amount,
    currency: payout.currency,
    network: payout.network,
    destination: {
      type: payout.destinationType,
      value: payout.destinationValue,
      memo: payout.destinationMemo,
    },
    ...(payout.recipientId === null ? {} : { recipient: payout.recipientId }),
    service_fee: payout.serviceFee,
    network_fee: payout.networkFee,
    total_debit: payout.totalDebit,
    tx_hash: payout.txHash,
    failure_reason: payout.failureReason,
    rejection_reason: payout.rejectionReason,
    description: payout.description,
    metadata: payout.metadata,
    created_at: payout.createdAt.toISOString(),
    updated_at: payout.updatedAt.toISOString(),
  };
}
