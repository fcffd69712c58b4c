/**
 * Exchange Pay's callbacks: the transfer or order is JSON text inside the JSON body, signed with
 * base64 of HMAC-SHA512 over `timestamp\nnonce\nbody\n`.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { CallbackRequest } from '../callback-delivery';
import type { Checkout } from '../checkouts/checkout';
import type { Transfer } from '../transfers/book';
import { presentExchangePayOrder, presentExchangePayTransfer } from './answers';
import { wallClockMs } from '../../../platform/lib/wall-clock';

export function buildExchangePayTransferCallback(
  transfer: Transfer,
  secret: string,
): CallbackRequest {
  const shown = presentExchangePayTransfer(transfer);
  const body = JSON.stringify({
    bizType: 'PAYOUT',
    bizId: `${String(shown.transferId)}-${transfer.status}`,
    bizStatus: shown.transferStatus,
    data: JSON.stringify(shown),
  });
  return sign(body, secret);
}

export function buildExchangePayOrderCallback(
  checkout: Checkout,
  url: string,
  secret: string,
): CallbackRequest {
  const shown = presentExchangePayOrder(checkout, url);
  const body = JSON.stringify({
    bizType: 'PAY',
    bizId: `${String(shown.orderId)}-${checkout.version}`,
    bizStatus: shown.orderStatus,
    data: JSON.stringify(shown),
  });
  return sign(body, secret);
}

function sign(body: string, secret: string): CallbackRequest {
  const timestamp = String(wallClockMs());
  const nonce = randomBytes(16).toString('hex');
  const signature = createHmac('sha512', secret)
    .update(`${timestamp}\n${nonce}\n${body}\n`)
    .digest('base64');
  return {
    headers: {
      'ExchangePay-Timestamp': timestamp,
      'ExchangePay-Nonce': nonce,
      'ExchangePay-Signature': signature,
    },
    body,
  };
}
