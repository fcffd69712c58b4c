/** What Exchange Pay can do. Specification, "Destinations per provider"; decisions M5 and M6. */
import type { ProviderCapabilities } from '../port';

export const EXCHANGE_PAY_CAPABILITIES = {
  pay_in: true,
  pay_out: true,
  // Internal transfers between exchange accounts: no chain, so no network, memo, fee or hash.
  destination_types: ['exchange_id', 'email'],
  network_required: false,
  memo_supported: false,
  network_fee_estimate: false,
  tx_hash: false,
  refunds: true,
  // The customer confirms an order of one exact amount, or none.
  partial_payments: false,
  // An order here has no time limit of the provider's own: it lasts as long as the payment's own
  // window, with which it is opened.
  checkout_ttl_seconds: null,
} as const satisfies ProviderCapabilities;
