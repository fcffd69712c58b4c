/** How Exchange Pay shows an order, in its answers and in its callbacks. */
import type { Checkout } from '../checkouts/checkout';
import { shortenAmount } from '../decimal-text';

const STATES = {
  open: 'INITIAL',
  started: 'PAYING',
  cancelled: 'CLOSED',
  failed: 'ERROR',
} as const;

const PAYMENT_STATES = { seen: 'PENDING', confirmed: 'SUCCESS', dropped: 'VOID' } as const;

export function presentExchangePayOrder(checkout: Checkout, url: string): Record<string, unknown> {
  return {
    orderId: `8${BigInt(`0x${checkout.id.slice(0, 14)}`).toString()}`,
    merchantOrderId: checkout.reference,
    checkoutUrl: url,
    orderStatus: STATES[checkout.state],
    riskHold: checkout.onHold,
    // Unlike the other provider it writes amounts without trailing zeros.
    orderAmount: shortenAmount(checkout.amount),
    currency: checkout.currency,
    paymentCode: checkout.payTo,
    payments: checkout.transfers.map((transfer) => ({
      paymentId: transfer.id,
      payAmount: shortenAmount(transfer.amount),
      payStatus: PAYMENT_STATES[transfer.status],
      createTime: Date.parse(transfer.seenAt),
      successTime: transfer.confirmedAt === null ? null : Date.parse(transfer.confirmedAt),
    })),
    refunds: checkout.refunds.map((refund) => ({
      refundId: refund.id,
      merchantRefundId: refund.reference,
      refundAmount: shortenAmount(refund.amount),
      refundTime: Date.parse(refund.refundedAt),
    })),
    failCode: checkout.failureCode?.toUpperCase() ?? null,
    expireTime: Date.parse(checkout.expiresAt),
    createTime: Date.parse(checkout.createdAt),
    updateTime: Date.parse(checkout.updatedAt),
  };
}
