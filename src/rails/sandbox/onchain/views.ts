/** Transfers and checkouts of the book as the on-chain provider's API and the hosted page show them. */
import { amount } from '../../../domain/money';
import type { CheckoutView, TransferView } from '../../onchain-api/present';
import type { Checkout } from '../checkouts/checkout';
import type { Transfer } from '../transfers/book';

const TRANSFER_STATUSES = {
  pending: 'queued',
  sent: 'confirmed',
  failed: 'failed',
  refused: 'failed',
} as const;

export function viewTransfer(transfer: Transfer): TransferView {
  return {
    ...transfer,
    id: `${TRANSFER_ID_PREFIX}${transfer.id}`,
    status: TRANSFER_STATUSES[transfer.status],
    asset: transfer.currency,
    createdAt: new Date(transfer.createdAt),
    updatedAt: new Date(transfer.updatedAt),
  };
}

export const TRANSFER_ID_PREFIX = 'otr_';

const CHECKOUT_STATES = {
  open: 'open',
  started: 'customer_active',
  cancelled: 'cancelled',
  failed: 'failed',
} as const;

const DEPOSIT_STATES = { seen: 'detected', confirmed: 'final', dropped: 'vanished' } as const;

export function viewCheckout(checkout: Checkout, url: string): CheckoutView {
  return {
    ...checkout,
    url,
    state: CHECKOUT_STATES[checkout.state],
    isHeld: checkout.onHold,
    amount: amount(checkout.amount),
    asset: checkout.currency,
    address: checkout.payTo,
    memo: checkout.payToMemo,
    deposits: checkout.transfers.map(({ status, seenAt, confirmedAt, ...transfer }) => ({
      ...transfer,
      state: DEPOSIT_STATES[status],
      seenAt: new Date(seenAt),
      finalAt: confirmedAt === null ? null : new Date(confirmedAt),
    })),
    // The sandbox refunds at once.
    refunds: checkout.refunds.map((refund) => ({
      ...refund,
      amount: amount(refund.amount),
      state: 'sent',
      refundedAt: new Date(refund.refundedAt),
      address: null,
      txHash: null,
    })),
    expiresAt: new Date(checkout.expiresAt),
    createdAt: new Date(checkout.createdAt),
    updatedAt: new Date(checkout.updatedAt),
  };
}
