/**
 * Which provider and network a payout or a payment takes (the specification, "Payout request fields" and
 * "Destinations per provider"; decisions/money#currencies, decisions/payouts#destinations and
 * decisions/payments#payment-request). Pure: the service brings the catalogue and the providers'
 * capabilities.
 */
import type { DestinationType } from './destination';
import type { FieldError, FieldRule, Refusal } from './errors';
import { type Amount, hasMoreDecimals, isLess } from './money';
import { byDefaultNetwork, memoFault, memoShape } from './networks';
import type { PaymentRequest } from './payment';
import type { PayoutRequest } from './payout';
import type { ProviderCode } from './provider-codes';

/** A row of the catalogue. */
export interface CurrencyRoute {
  provider: ProviderCode;
  currency: string;
  network: string;
  minAmount: Amount;
  maxAmount: Amount | null;
}

/** A provider with what it can do, for the choice of a route. */
export interface PayingProvider {
  code: ProviderCode;
  destinationTypes: readonly DestinationType[];
  networkRequired: boolean;
}

/** The provider and network of a payout or a payment. */
export interface ChosenRoute {
  provider: ProviderCode;
  /** Null when the provider moves funds between its own accounts. */
  network: string | null;
}

/** The catalogue's name for a transfer between a provider's own accounts. */
export const INTERNAL_NETWORK = 'internal';

/** The chosen route, or why there is none. */
export type RouteChoice = { route: ChosenRoute } | { refusal: Refusal };

/**
 * @param routes the enabled payout routes of the request's currency
 * @param providers the enabled providers, the default first
 */
export function choosePayoutRoute(
  request: PayoutRequest,
  routes: readonly CurrencyRoute[],
  providers: readonly PayingProvider[],
): RouteChoice {
  if (routes.length === 0) {
    return refuseField(
      'currency',
      'unsupported',
      `${request.currency} is not supported for payouts. See GET /currencies.`,
    );
  }
  if (request.provider !== null && !routes.some((route) => route.provider === request.provider)) {
    return refuseField(
      'provider',
      'unsupported',
      `${request.provider} does not support ${request.currency} for payouts. See GET /currencies.`,
    );
  }
  const provider = chooseProvider(request, routes, providers);
  if (provider === null) return { refusal: destinationNotSupported(request, routes, providers) };
  const own = routes.filter((route) => route.provider === provider.code);
  return provider.networkRequired
    ? onNetwork(request, provider.code, own)
    : inside(request, provider.code, own);
}

/**
 * Chooses the first enabled provider that takes the currency, on the network of the request or else on
 * the default one: a merchant does not have to name a network.
 * @param routes the enabled pay-in routes of the request's currency
 * @param providers codes of the enabled providers that take payments, the default first
 */
export function choosePaymentRoute(
  { amount, currency, network, provider }: PaymentRequest,
  routes: readonly CurrencyRoute[],
  providers: readonly string[],
): RouteChoice {
  const enabled = routes.filter((route) => providers.includes(route.provider));
  const asked = enabled.filter((route) => provider === null || route.provider === provider);
  if (asked.length === 0) {
    return enabled.length === 0
      ? refuseField(
          'currency',
          'unsupported',
          `${currency} is not supported for payments. See GET /currencies.`,
        )
      : refuseField(
          'provider',
          'unsupported',
          `This provider does not support ${currency}. See GET /currencies.`,
        );
  }
  const onNetwork = asked
    .filter((route) => network === null || route.network === network)
    .sort((one, other) => byDefaultNetwork(one.network, other.network));
  const route = providers
    .map((code) => onNetwork.find((one) => one.provider === code))
    .find((one) => one !== undefined);
  if (route === undefined) {
    const networks = [...new Set(asked.map((one) => one.network))].join(', ');
    return refuseField(
      'network',
      'unsupported',
      `This network is not supported for ${currency}. Use one of: ${networks}.`,
    );
  }
  const fields = amountErrors(amount, currency, route);
  if (fields.length > 0) return { refusal: { code: 'validation_failed', details: { fields } } };
  const inside = route.network === INTERNAL_NETWORK;
  return { route: { provider: route.provider, network: inside ? null : route.network } };
}

/** @param decimals of the currency on the network; null if not known, so the provider decides */
export function decimalsRefusal(
  { amount, currency, network }: { amount: Amount; currency: string; network: string | null },
  decimals: number | null,
): Refusal | null {
  if (decimals === null || !hasMoreDecimals(decimals, amount)) return null;
  const place = network === null ? '' : ` on ${network}`;
  const message = `${currency} has ${decimals} decimals${place}. Send an amount with at most ${decimals} decimals.`;
  const fields: FieldError[] = [{ field: 'amount', rule: 'format', message }];
  return { code: 'validation_failed', details: { fields } };
}

function chooseProvider(
  request: PayoutRequest,
  routes: readonly CurrencyRoute[],
  providers: readonly PayingProvider[],
): PayingProvider | null {
  const fits = (provider: PayingProvider): boolean =>
    provider.destinationTypes.includes(request.destination.type) &&
    routes.some((route) => route.provider === provider.code);
  const asked = providers.filter(
    (provider) => request.provider === null || provider.code === request.provider,
  );
  return asked.find(fits) ?? null;
}

function destinationNotSupported(
  request: PayoutRequest,
  routes: readonly CurrencyRoute[],
  providers: readonly PayingProvider[],
): Refusal {
  const paying = providers.filter((one) => routes.some((route) => route.provider === one.code));
  return {
    code: 'destination_not_supported',
    details: {
      currency: request.currency,
      provider: request.provider,
      destination_type: request.destination.type,
      supported: paying.map((one) => ({
        provider: one.code,
        destination_types: [...one.destinationTypes],
      })),
    },
  };
}

function onNetwork(
  request: PayoutRequest,
  provider: ProviderCode,
  routes: readonly CurrencyRoute[],
) {
  const networks = routes.map((route) => route.network);
  if (request.network === null) {
    const refusal: Refusal = {
      code: 'network_required',
      details: { provider, currency: request.currency, networks },
    };
    return { refusal };
  }
  const route = routes.find(({ network }) => network === request.network);
  if (route === undefined) {
    const message = `${provider} does not support this network for ${request.currency}. Use one of: ${networks.join(', ')}.`;
    return refuseField('network', 'unsupported', message);
  }
  return checkRoute(request, route, { provider, network: route.network });
}

function inside(request: PayoutRequest, provider: ProviderCode, routes: readonly CurrencyRoute[]) {
  if (request.network !== null && request.network !== INTERNAL_NETWORK) {
    const message = `${provider} does not use a network for this payout. Omit network.`;
    return refuseField('network', 'unsupported', message);
  }
  const [route] = routes;
  if (route === undefined) throw new Error('a chosen provider has a route');
  return checkRoute(request, route, { provider, network: null });
}

function checkRoute(
  { amount, destination }: PayoutRequest,
  { minAmount, maxAmount, currency }: CurrencyRoute,
  chosen: ChosenRoute,
): RouteChoice {
  const fields: FieldError[] = amountErrors(amount, currency, { minAmount, maxAmount });
  const fail = (field: string, rule: FieldRule, message: string) =>
    fields.push({ field, rule, message });
  const fault = memoFault(chosen.network, destination.memo);
  if (fault === 'memo_not_supported') {
    fail(
      'destination.memo',
      fault,
      'This destination does not support a memo. Omit destination.memo.',
    );
  } else if (fault !== null) {
    const shape = memoShape(chosen.network);
    fail(
      'destination.memo',
      fault,
      `This network may need a memo. Set destination.memo to ${shape}, or to null if the destination has none.`,
    );
  }
  return fields.length === 0
    ? { route: chosen }
    : { refusal: { code: 'validation_failed', details: { fields } } };
}

function amountErrors(
  amount: Amount,
  currency: string,
  { minAmount, maxAmount }: Pick<CurrencyRoute, 'minAmount' | 'maxAmount'>,
): FieldError[] {
  if (isLess(amount, minAmount)) {
    const message = `The minimum amount is ${minAmount} ${currency}.`;
    return [{ field: 'amount', rule: 'min_amount', message }];
  }
  if (maxAmount !== null && isLess(maxAmount, amount)) {
    const message = `The maximum amount is ${maxAmount} ${currency}.`;
    return [{ field: 'amount', rule: 'max_amount', message }];
  }
  return [];
}

function refuseField(field: string, rule: FieldRule, message: string): { refusal: Refusal } {
  return {
    refusal: { code: 'validation_failed', details: { fields: [{ field, rule, message }] } },
  };
}
