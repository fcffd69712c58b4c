/** Fee rules, fee quotes and currencies (the specification, "Resources and their fields"). */
import type { FeeQuote, FeeRule } from '../domain/fees';
import { type Amount, subtract } from '../domain/money';

export function presentFeeRule(rule: FeeRule) {
  return {
    direction: rule.direction,
    provider: rule.provider,
    currency: rule.currency,
    percentage: rule.percentage,
    fixed_amount: rule.fixedAmount,
    min_fee: rule.minFee,
    max_fee: rule.maxFee,
  };
}

const PAYOUT_NOTE =
  'The fee is added on top of the amount. A provider network fee may be added when the payout is created.';

export function presentFeeQuote({ direction, provider, currency, amount, serviceFee }: FeeQuote) {
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

export interface ShownProvider {
  code: string;
  name: string;
  capabilities: { pay_in: boolean; pay_out: boolean };
}

export interface ShownRoute {
  provider: string;
  direction: string;
  currency: string;
  network: string;
  minAmount: Amount;
  maxAmount: Amount | null;
}

export function presentCurrencies(
  providers: readonly ShownProvider[],
  routes: readonly ShownRoute[],
) {
  return {
    object: 'list',
    providers: providers.map(({ code, name, capabilities }) => ({
      code,
      name,
      pay_in: capabilities.pay_in,
      pay_out: capabilities.pay_out,
      capabilities,
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
