/** Exchange Pay's callback about an order, which stands as JSON text inside the JSON body. */
import type { CallbackRequest } from '../callback-delivery';
import type { Checkout } from '../checkouts/checkout';
import { presentExchangePayOrder } from './order-presenter';
import { signExchangePayCallback } from './sign';

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
  return signExchangePayCallback(body, secret);
}
