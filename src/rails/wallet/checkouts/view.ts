/** A checkout as the on-chain provider's API and the hosted page show it. */
import { getAddress } from 'viem';
import type { CheckoutView } from '../../onchain-api/present';
import { type CheckoutFacts, listEntries, protocolStateOf } from './checkout';

export function viewCheckout(facts: CheckoutFacts, url: string): CheckoutView {
  const { checkout, refunds } = facts;
  return {
    ...checkout,
    url,
    state: protocolStateOf(facts),
    address: getAddress(checkout.address),
    memo: null,
    deposits: listEntries(facts),
    refunds: refunds.map((refund) => ({
      ...refund,
      address: refund.address === null ? null : getAddress(refund.address),
    })),
    failureCode: checkout.state === 'failed' ? 'compliance_rejected' : null,
  };
}
