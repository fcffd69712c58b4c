/** The on-chain provider's callbacks. */
import { signCallback } from '../../onchain-api/callback-signature';
import { presentCheckout, presentTransfer } from '../../onchain-api/present';
import type { CallbackRequest } from '../callback-delivery';
import type { Checkout } from '../checkouts/checkout';
import type { Transfer } from '../transfers/book';
import { viewCheckout, viewTransfer } from './views';

export function buildOnchainTransferCallback(transfer: Transfer, secret: string): CallbackRequest {
  // The same id when it is sent again, so that a receiver can detect a repetition.
  const id = `oev_${transfer.id}_${transfer.status}`;
  return sign(
    { id, type: 'transfer.updated', data: presentTransfer(viewTransfer(transfer)) },
    secret,
  );
}

export function buildOnchainCheckoutCallback(
  checkout: Checkout,
  url: string,
  secret: string,
): CallbackRequest {
  const id = `oev_${checkout.id}_${checkout.version}`;
  return sign(
    { id, type: 'checkout.updated', data: presentCheckout(viewCheckout(checkout, url)) },
    secret,
  );
}

function sign(event: Record<string, unknown>, secret: string): CallbackRequest {
  const body = JSON.stringify(event);
  return { headers: signCallback(body, secret), body };
}
