/** Which provider and network take a payment (decisions P1 and M5). Pure, as for payouts. */
import type { FieldRule, Refusal } from './errors';
import { isLess } from './money';
import type { PaymentRequest } from './payment';
import { type ChosenRoute, type CurrencyRoute, INTERNAL_NETWORK } from './payout-route';

/**
 * The first enabled provider that takes the currency, on the network that was asked for or else
 * its first: a merchant need not know of networks to be paid.
 *
 * @param routes the enabled pay-in routes of the request's currency
 * @param providers codes of the enabled providers that take payments, the default first
 */
export function choosePaymentRoute(
  { amount, currency, network, provider }: PaymentRequest,
  routes: readonly CurrencyRoute[],
  providers: readonly string[],
): { route: ChosenRoute } | { refusal: Refusal } {
  const enabled = routes.filter((route) => providers.includes(route.provider));
  const asked = enabled.filter((route) => provider === null || route.provider === provider);
  if (asked.length === 0) {
    return enabled.length === 0
      ? refuse(
          'currency',
          'unsupported',
          `${currency} is not supported for payments. See GET /currencies.`,
        )
      : refuse(
          'provider',
          'unsupported',
          `This provider does not support ${currency}. See GET /currencies.`,
        );
  }
  const onNetwork = asked.filter((route) => network === null || route.network === network);
  const route = providers
    .map((code) => onNetwork.find((one) => one.provider === code))
    .find((one) => one !== undefined);
  if (route === undefined) {
    const networks = [...new Set(asked.map((one) => one.network))].join(', ');
    return refuse(
      'network',
      'unsupported',
      `This network is not supported for ${currency}. Use one of: ${networks}.`,
    );
  }
  const { minAmount, maxAmount } = route;
  if (isLess(amount, minAmount)) {
    return refuse('amount', 'min_amount', `The minimum amount is ${minAmount} ${currency}.`);
  }
  if (maxAmount !== null && isLess(maxAmount, amount)) {
    return refuse('amount', 'max_amount', `The maximum amount is ${maxAmount} ${currency}.`);
  }
  const inside = route.network === INTERNAL_NETWORK;
  return { route: { provider: route.provider, network: inside ? null : route.network } };
}

function refuse(field: string, rule: FieldRule, message: string): { refusal: Refusal } {
  return {
    refusal: { code: 'validation_failed', details: { fields: [{ field, rule, message }] } },
  };
}
