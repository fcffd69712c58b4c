/** Whether a provider's answer is about the checkout that was asked for; shared by the adapters. */
import type { Checkout, CheckoutOrder, CheckoutResult } from './port';

export function foundIfSameOrder(
  order: Pick<CheckoutOrder, 'reference' | 'amount' | 'currency' | 'network'>,
  checkout: Checkout,
): CheckoutResult {
  const isSame =
    checkout.reference === order.reference &&
    checkout.amount === order.amount &&
    checkout.currency === order.currency &&
    checkout.network === order.network;
  return isSame
    ? { kind: 'found', checkout }
    : { kind: 'unknown', reason: 'The provider answered about a different checkout.' };
}

export function foundIfSameReference(
  reference: string,
  checkout: Checkout | undefined,
): CheckoutResult | undefined {
  return checkout?.reference === reference ? { kind: 'found', checkout } : undefined;
}
