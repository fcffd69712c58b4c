/** The on-chain provider's checkouts: REST calls, one deposit address per checkout. */
import { foundIfSameOrder, foundIfSameReference } from '../answer-reader';
import type { CheckoutOrder, CheckoutResult, Provider } from '../port';
import { type CallProvider, OPENING_MS_MAX } from '../provider-http';
import {
  NOT_UNDERSTOOD,
  readOnchainCheckout,
  readOnchainCheckoutRefusal,
  readOnchainErrorCode,
  unclear,
} from './answers';

type CheckoutCalls = Pick<
  Provider,
  'openCheckout' | 'findCheckout' | 'cancelCheckout' | 'releaseHold' | 'refundCheckout'
>;

interface Step {
  method: 'GET' | 'POST';
  path: string;
  members?: Record<string, unknown>;
  atMostMs?: number;
}

const NOT_KNOWN_WHO_PAID =
  'The network does not say who paid. Ask for the refund again: the customer then names an address.';

export function createOnchainCheckouts(
  base: string,
  headers: Record<string, string>,
  call: CallProvider,
): CheckoutCalls {
  /** One call about one checkout; every answer is read in the same way. */
  const ask = async (
    reference: string,
    { method, path, members, ...limit }: Step,
  ): Promise<CheckoutResult> => {
    const url = `${base}/checkouts${path}`;
    const body = members === undefined ? {} : { body: JSON.stringify(members) };
    const answer = await call({ method, url, headers, ...body, ...limit });
    if (answer.kind !== 'answer') return answer;
    const refusal = readOnchainCheckoutRefusal(answer.status, answer.body);
    if (refusal !== undefined) return { kind: 'refused', ...refusal };
    // A 404 alone may come from a proxy or a wrong URL; only the code comes from the provider.
    const code = readOnchainErrorCode(answer.body);
    if (answer.status === 404 && code === 'checkout_not_found') return { kind: 'not_found' };
    if (answer.status !== 200 && answer.status !== 201) return unclear(answer.status, answer.body);
    return foundIfSameReference(reference, readOnchainCheckout(answer.body)) ?? NOT_UNDERSTOOD;
  };
  const pathOf = (reference: string): string => `/${encodeURIComponent(reference)}`;
  return {
    async openCheckout(order) {
      const members = presentCheckoutOrder(order);
      const result = await ask(order.reference, {
        method: 'POST',
        path: '',
        members,
        atMostMs: OPENING_MS_MAX,
      });
      if (result.kind === 'found') return foundIfSameOrder(order, result.checkout);
      return result.kind === 'not_found' ? NOT_UNDERSTOOD : result;
    },

    findCheckout: (reference) => ask(reference, { method: 'GET', path: pathOf(reference) }),

    cancelCheckout: (reference) =>
      ask(reference, { method: 'POST', path: `${pathOf(reference)}/cancel`, members: {} }),

    releaseHold: (reference, decision) =>
      ask(reference, {
        method: 'POST',
        path: `${pathOf(reference)}/compliance`,
        members: { decision },
      }),

    // The chain does not say who paid: an exchange that sent a deposit would not credit the customer.
    refundCheckout: () => Promise.resolve({ kind: 'refused', reason: NOT_KNOWN_WHO_PAID }),
  };
}

function presentCheckoutOrder(order: CheckoutOrder): Record<string, unknown> {
  return {
    client_reference: order.reference,
    asset: order.currency,
    network: order.network,
    amount: order.amount,
    expires_at: order.expiresAt.toISOString(),
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
    description: order.description,
    merchant_name: order.merchantName ?? null,
    // Without a logo the member is absent.
    merchant_logo_url: order.merchantLogoUrl,
    scenario: order.scenario,
  };
}
