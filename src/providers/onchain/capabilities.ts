/** What the on-chain provider can do. Specification, "Destinations per provider"; decision M6. */
import type { ProviderCapabilities } from '../port';

export const ONCHAIN_CAPABILITIES = {
  pay_in: true,
  pay_out: true,
  destination_types: ['crypto_address'],
  network_required: true,
  memo_supported: true,
  network_fee_estimate: true,
  tx_hash: true,
  refunds: true,
  // Whoever has the address can send any amount, and more than once.
  partial_payments: true,
  // The provider watches a checkout's address for this long unless it is told a shorter time.
  checkout_ttl_seconds: 3_600,
} as const satisfies ProviderCapabilities;
