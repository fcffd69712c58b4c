/** The on-chain provider's callback about a checkout. */
import type { CallbackRequest } from '../callback-delivery';
import type { Checkout } from '../checkouts/checkout';
import { presentOnchainCheckout } from './checkout-presenter';
import { signOnchainCallback } from './sign';

export function buildOnchainCheckoutCallback(
  checkout: Checkout,
  url: string,
  secret: string,
): CallbackRequest {
  const body = JSON.stringify({
    // The same event when it is sent again, so that a receiver can tell a repetition.
    id: `oev_${checkout.id}_${checkout.version}`,
    type: 'checkout.updated',
    data: presentOnchainCheckout(checkout, url),
  });
  return signOnchainCallback(body, secret);
}
