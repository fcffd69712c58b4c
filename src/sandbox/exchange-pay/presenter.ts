/** How Exchange Pay shows a transfer, in its answers and in its callbacks. */
import type { Transfer } from '../book';
import { shortenAmount } from '../decimal-text';

const STATUSES = { pending: 'PROCESSING', sent: 'SUCCESS', failed: 'FAILED', refused: 'FAILED' };

export function presentExchangePayTransfer(transfer: Transfer): Record<string, unknown> {
  return {
    transferId: `9${BigInt(`0x${transfer.id.slice(0, 14)}`).toString()}`,
    merchantTransferId: transfer.reference,
    transferStatus: STATUSES[transfer.status],
    // Unlike the other provider it writes amounts without trailing zeros.
    transferAmount: shortenAmount(transfer.amount),
    currency: transfer.currency,
    recipientType: transfer.destinationType,
    recipient: transfer.destination,
    failCode: transfer.failureCode?.toUpperCase() ?? null,
    createTime: Date.parse(transfer.createdAt),
    updateTime: Date.parse(transfer.updatedAt),
  };
}
