/** A checkout in the form of the on-chain provider's protocol, for answers, lists and callbacks. */
import { getAddress } from 'viem';
import { type CheckoutFacts, listEntries, protocolStateOf } from './checkout';

export function presentCheckout(facts: CheckoutFacts, url: string): Record<string, unknown> {
  const { checkout, refunds } = facts;
  return {
    object: 'checkout',
    id: `och_${checkout.id}`,
    client_reference: checkout.reference,
    url,
    state: protocolStateOf(facts),
    compliance: checkout.isHeld ? 'held' : 'clear',
    amount: checkout.amount,
    asset: checkout.asset,
    network: checkout.network,
    deposit_address: { address: getAddress(checkout.address), memo: null },
    deposits: listEntries(facts).map((entry) => ({
      id: entry.id,
      amount: entry.amount,
      state: entry.state,
      detected_at: entry.seenAt.toISOString(),
      final_at: entry.finalAt?.toISOString() ?? null,
      tx_hash: entry.txHash,
    })),
    // Only what the chain has: a refund that is not final is not a refund yet.
    refunds: refunds.flatMap(({ id, reference, amount, refundedAt }) =>
      refundedAt === null
        ? []
        : [{ id, refund_reference: reference, amount, refunded_at: refundedAt.toISOString() }],
    ),
    pending_refunds: refunds
      .filter(({ state }) => state !== 'sent')
      .map(({ id, reference, amount, state }) => ({
        ...{ id, refund_reference: reference, amount, state },
      })),
    failure_code: checkout.state === 'failed' ? 'compliance_rejected' : null,
    expires_at: checkout.expiresAt.toISOString(),
    created_at: checkout.createdAt.toISOString(),
    updated_at: checkout.updatedAt.toISOString(),
  };
}
