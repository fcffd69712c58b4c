/** A payout in API responses and webhook events (the specification; decisions/payouts#payout-object). */
import type { Beneficiary } from '../domain/beneficiary';
import type { Payout } from '../domain/payout';
import type { Condition } from '../domain/payout-condition';
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
    ...(payout.awaitsRelease === null ? {} : { release: presentRelease(payout) }),
    created_at: payout.createdAt.toISOString(),
    updated_at: payout.updatedAt.toISOString(),
  };
}

/** @param beneficiary null if it was erased; undefined if the payout has none, or the reader may not see it */
export function presentRetrievedPayout(
  payout: Payout,
  beneficiary: Beneficiary | null | undefined,
): PayoutObject {
  return { ...presentPayout(payout), ...(beneficiary === undefined ? {} : { beneficiary }) };
}

type PresentedRelease = NonNullable<PayoutObject['release']>;

function presentRelease(payout: Payout): PresentedRelease {
  return {
    conditions: (payout.conditions ?? []).map(presentCondition),
    expires_at: payout.releaseExpiresAt?.toISOString() ?? null,
    released_at: payout.releasedAt?.toISOString() ?? null,
    expired_at: payout.releaseExpiredAt?.toISOString() ?? null,
  };
}

function presentCondition({
  metAt,
  ...condition
}: Condition): PresentedRelease['conditions'][number] {
  const met_at = metAt === null ? null : new Date(metAt).toISOString();
  switch (condition.kind) {
    case 'time':
      return { type: 'time', ...condition.parameters, met_at };
    case 'payment':
      return { type: 'payment', ...condition.parameters, met_at };
    case 'approval':
      return { type: 'approval', ...condition.parameters, met_at };
    case 'recipient': {
      const { recipient, at } = condition.parameters;
      return { type: 'recipient', recipient, at, met_at };
    }
    case 'second_person':
      return { type: 'second_person', met_at };
  }
}
