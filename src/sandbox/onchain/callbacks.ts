/**
 * The on-chain provider's callbacks, signed with
 * `Onchain-Signature: t=<seconds>,s=<hex HMAC-SHA256 of t.body>`.
 */
import { createHmac } from 'node:crypto';
import type { CallbackRequest } from '../callback-delivery';
import type { Checkout } from '../checkouts/checkout';
import type { Transfer } from '../transfers/book';
import { presentOnchainCheckout, presentOnchainTransfer } from './answers';
import { wallClockMs } from '../../lib/wall-clock';

export function buildOnchainTransferCallback(transfer: Transfer, secret: string): CallbackRequest {
  // The same id when it is sent again, so that a receiver can detect a repetition.
  const id = `oev_${transfer.id}_${transfer.status}`;
  return sign({ id, type: 'transfer.updated', data: presentOnchainTransfer(transfer) }, secret);
}

export function buildOnchainCheckoutCallback(
  checkout: Checkout,
  url: string,
  secret: string,
): CallbackRequest {
  const id = `oev_${checkout.id}_${checkout.version}`;
  return sign(
    { id, type: 'checkout.updated', data: presentOnchainCheckout(checkout, url) },
    secret,
  );
}

function sign(event: Record<string, unknown>, secret: string): CallbackRequest {
  const body = JSON.stringify(event);
  const seconds = String(Math.floor(wallClockMs() / 1000));
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { headers: { 'Onchain-Signature': `t=${seconds},s=${signature}` }, body };
}
