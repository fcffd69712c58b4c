/** Whether a provider's answer to a submission is an answer to this order; shared by the adapters. */
import type { PayoutOrder, ProviderTransfer, SubmitResult } from './port';

/**
 * An answer about another order leaves ours in doubt. What the provider really holds under the
 * reference then comes from findPayout, which hands it over as it is.
 */
export function acceptIfSameOrder(order: PayoutOrder, transfer: ProviderTransfer): SubmitResult {
  const isSame =
    transfer.reference === order.reference &&
    transfer.amount === order.amount &&
    transfer.currency === order.currency;
  return isSame
    ? { kind: 'accepted', transfer }
    : { kind: 'unknown', reason: 'The provider answered about a different order.' };
}
