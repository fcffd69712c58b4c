/**
 * Which provider and network a payout takes (the specification, "Payout request fields" and
 * "Destinations per provider"; decisions M5, O10). Pure: the service brings the catalogue and the
 * providers' capabilities.
 */
import type { DestinationType } from './destination';
import type { FieldError, FieldRule, Refusal } from './errors';
import { type Amount, isLess } from './money';
import { memoFault, memoShape } from './networks';
import type { PayoutRequest } from './payout';

/** A row of the catalogue, direction payout. */
export interface CurrencyRoute {
  provider: string;
  currency: string;
  network: string;
  minAmount: Amount;
  maxAmount: Amount | null;
}

export interface PayingProvider {
  code: string;
  destinationTypes: readonly DestinationType[];
  networkRequired: boolean;
}

export interface ChosenRoute {
  provider: string;
  /** Null where the provider moves funds inside its own books. */
  network: string | null;
}

/** What the catalogue calls the network of a transfer inside a provider's own books. */
export const INTERNAL_NETWORK = 'internal';

/**
 * @param routes the enabled routes of the request's currency
 * @param providers the enabled providers, the default first
 */
export function chooseRoute(
  request: PayoutRequest,
  routes: readonly CurrencyRoute[],
  providers: readonly PayingProvider[],
): { route: ChosenRoute } | { refusal: Refusal } {
  if (routes.length === 0) {
    return refuseField(
      'currency',
      'unsupported',
      `${request.currency} is not supported for payouts. See GET /currencies.`,
    );
  }
  const provider = chooseProvider(request, routes, providers);
  if (provider === null) return { refusal: destinationNotSupported(request, routes, providers) };
  const own = routes.filter((route) => route.provider === provider.code);
  return provider.networkRequired
    ? onNetwork(request, provider.code, own)
    : inside(request, provider.code, own);
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
        destination_types: one.destinationTypes,
      })),
    },
  };
}

function onNetwork(request: PayoutRequest, provider: string, routes: readonly CurrencyRoute[]) {
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

function inside(request: PayoutRequest, provider: string, routes: readonly CurrencyRoute[]) {
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
): { route: ChosenRoute } | { refusal: Refusal } {
  const fields: FieldError[] = [];
  const fail = (field: string, rule: FieldRule, message: string) =>
    fields.push({ field, rule, message });
  if (isLess(amount, minAmount)) {
    fail('amount', 'min_amount', `The minimum amount is ${minAmount} ${currency}.`);
  }
  if (maxAmount !== null && isLess(maxAmount, amount)) {
    fail('amount', 'max_amount', `The maximum amount is ${maxAmount} ${currency}.`);
  }
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
      `This network requires a memo. Set destination.memo to ${shape}.`,
    );
  }
  return fields.length === 0
    ? { route: chosen }
    : { refusal: { code: 'validation_failed', details: { fields } } };
}

function refuseField(field: string, rule: FieldRule, message: string): { refusal: Refusal } {
  return {
    refusal: { code: 'validation_failed', details: { fields: [{ field, rule, message }] } },
  };
}
