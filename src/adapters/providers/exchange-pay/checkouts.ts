/** Exchange Pay's orders, which the port calls checkouts: signed POST calls. */
import { foundIfSameOrder, foundIfSameReference } from '../answer-reader';
import type { CheckoutOrder, CheckoutResult, Provider } from '../port';
import { OPENING_MS_MAX, type ProviderAnswer, type ProviderCall } from '../provider-http';
import {
  describeUnclear,
  ORDER_NOT_FOUND_CODE,
  readExchangePayOrder,
  readFailureCode,
  readOrderRefusal,
  readSuccess,
} from './answers';

type CheckoutCalls = Pick<
  Provider,
  'openCheckout' | 'findCheckout' | 'cancelCheckout' | 'releaseHold' | 'refundCheckout'
>;

/** Sends a signed call to a path below `/openapi/v1`. */
export type PostToExchangePay = (
  path: string,
  members: Record<string, unknown>,
  limit?: Pick<ProviderCall, 'atMostMs'>,
) => Promise<ProviderAnswer>;

export function createExchangePayCheckouts(post: PostToExchangePay): CheckoutCalls {
  /** One call about one order; every answer is read in the same way. */
  const ask = async (
    verb: string,
    members: { merchantOrderId: string } & Record<string, unknown>,
    limit?: Pick<ProviderCall, 'atMostMs'>,
  ): Promise<CheckoutResult> => {
    const answer = await post(`order/${verb}`, members, limit);
    if (answer.kind !== 'answer') return answer;
    const refusal = readOrderRefusal(answer.status, answer.body);
    if (refusal !== undefined) return { kind: 'refused', ...refusal };
    const failure = readFailureCode(answer.status, answer.body);
    if (failure === ORDER_NOT_FOUND_CODE) return { kind: 'not_found' };
    const order = readExchangePayOrder(readSuccess(answer.status, answer.body));
    return (
      foundIfSameReference(members.merchantOrderId, order) ?? {
        kind: 'unknown',
        reason: describeUnclear(answer.status, answer.body),
      }
    );
  };
  return {
    async openCheckout(order) {
      const result = await ask('create', presentCheckoutOrder(order), {
        atMostMs: OPENING_MS_MAX,
      });
      // Money moves inside the exchange: no network, whatever the gateway calls it.
      if (result.kind === 'found') {
        return foundIfSameOrder({ ...order, network: null }, result.checkout);
      }
      return result.kind === 'not_found'
        ? { kind: 'unknown', reason: 'The provider does not know the order just opened.' }
        : result;
    },

    findCheckout: (reference) => ask('query', { merchantOrderId: reference }),

    cancelCheckout: (reference) => ask('close', { merchantOrderId: reference }),

    releaseHold: (reference, decision) =>
      ask('risk', { merchantOrderId: reference, riskDecision: decision.toUpperCase() }),

    refundCheckout: (reference, refundReference, amount) =>
      ask('refund', {
        merchantOrderId: reference,
        merchantRefundId: refundReference,
        refundAmount: amount,
      }),
  };
}

function presentCheckoutOrder(
  order: CheckoutOrder,
): { merchantOrderId: string } & Record<string, unknown> {
  return {
    merchantOrderId: order.reference,
    currency: order.currency,
    orderAmount: order.amount,
    expireTime: order.expiresAt.getTime(),
    returnUrl: order.successUrl,
    cancelUrl: order.cancelUrl,
    orderDescription: order.description,
    scenario: order.scenario,
  };
}
