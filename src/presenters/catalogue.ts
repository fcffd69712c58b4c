/** Fee rules, fee quotes and currencies (the specification, "Resources and their fields"). */
import type { Direction, FeeQuote, FeeRule } from '../domain/fees';
import { type Amount, subtract } from '../domain/money';
import type { CurrencyList } from '../schemas/currencies';
import type { FeeList, FeeQuoteObject } from '../schemas/fees';

export function presentFees(rules: readonly FeeRule[]): FeeList {
  return {
    object: 'list',
    data: rules.map((rule) => ({
      direction: rule.direction,
      provider: rule.provider,
      currency: rule.currency,
      percentage: rule.percentage,
      fixed_amount: rule.fixedAmount,
      min_fee: rule.minFee,
      max_fee: rule.maxFee,
    })),
  };
}

const PAYOUT_NOTE =
  'The fee is added on top of the amount. A provider network fee may be added when the payout is created.';

export function presentFeeQuote(quote: FeeQuote): FeeQuoteObject {
  const { direction, provider, currency, amount, serviceFee } = quote;
  return {
    object: 'fee_quote',
    direction,
    provider,
    currency,
    amount,
    service_fee: serviceFee,
    net_amount: direction === 'payin' ? subtract(amount, serviceFee) : null,
    note: direction === 'payout' ? PAYOUT_NOTE : null,
  };
}

type PresentedProvider = CurrencyList['providers'][number];
type PresentedRoute = CurrencyList['data'][number];

type DestinationLists = 'destination_types' | 'refund_destination_types';

export interface ShownProvider {
  code: PresentedProvider['code'];
  name: string;
  capabilities: Omit<PresentedProvider['capabilities'], DestinationLists> & {
    readonly [list in DestinationLists]: readonly string[];
  };
}

export interface ShownRoute {
  provider: PresentedRoute['provider'];
  direction: Direction;
  currency: string;
  network: string;
  minAmount: Amount;
  maxAmount: Amount | null;
}

export function presentCurrencies(
  providers: readonly ShownProvider[],
  routes: readonly ShownRoute[],
): CurrencyList {
  return {
    object: 'list',
    providers: providers.map(({ code, name, capabilities }) => ({
      code,
      name,
      pay_in: capabilities.pay_in,
      pay_out: capabilities.pay_out,
      capabilities: {
        ...capabilities,
        destination_types: [...capabilities.destination_types],
        refund_destination_types: [...capabilities.refund_destination_types],
      },
    })),
    data: routes.map((route) => ({
      provider: route.provider,
      direction: route.direction,
      currency: route.currency,
      network: route.network,
      min_amount: route.minAmount,
      max_amount: route.maxAmount,
    })),
  };
}
