/** The customer's transfers to a payment, as its pages list them. */
import type { CreditedTransfer } from '../../../db/payments/payments';
import { ZERO } from '../../../domain/money';
import type { Payment, StoredTransfer } from '../../../domain/payment';
import { Time } from '../../../kit/pages/components';

const STATES: Record<StoredTransfer['status'], string> = {
  seen: 'Seen, not confirmed',
  confirmed: 'Confirmed, not credited',
  dropped: 'Vanished from the network',
};

/** Those that were credited, then those that the provider has reported beside them. */
export function transfersOf({ transfers }: Payment, credits: readonly CreditedTransfer[]) {
  const credited = new Set(credits.map(({ providerTransferId }) => providerTransferId));
  return [
    ...credits.map(({ providerTransferId, creditedAt, ...credit }) => ({
      ...credit,
      what: 'Credited',
      id: providerTransferId,
      at: creditedAt,
    })),
    ...transfers
      .filter(({ id }) => !credited.has(id))
      .map(({ status, confirmedAt, seenAt, ...transfer }) => ({
        ...transfer,
        what: STATES[status],
        at: new Date(confirmedAt ?? seenAt),
        fee: ZERO,
      })),
  ];
}

/** What happened to a transfer or a refund, and when. */
export function Movement({ what, at }: { what: string; at: Date }) {
  return (
    <>
      {what}
      <small>
        <Time at={at} seconds />
      </small>
    </>
  );
}
