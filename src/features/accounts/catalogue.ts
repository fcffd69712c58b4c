/** Fee rules, fee quotes and currencies (the specification, "Resources and their fields"). */
import { type Direction, type FeeQuote, type FeeRule, serviceFee } from '../../domain/fees';
import { type Amount, subtract } from '../../domain/money';
import type { CurrencyList } from './currencies-contract';
import type { FeeList, FeeQuoteObject } from './fees-contract';
import { listRoutes } from '../../db/accounts/currency-routes';
import { listFeeRules } from '../../db/accounts/fee-rules';
import type { Db } from '../../db/transaction';
import { validationFailed } from '../../domain/errors';
import type { ProviderRegistry } from '../../adapters/providers/registry';
import type { Caller, Catalogue } from '../../kit/service/services';

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

/** Supported currencies and fees: GET /currencies, /fees and /fees/quote. */

export interface CatalogueDeps {
  db: Db;
  providers: ProviderRegistry;
}

export function createCatalogue({ db, providers }: CatalogueDeps): Catalogue {
  const isEnabled = (caller: Caller, code: string): boolean =>
    providers.list(caller.mode).some((provider) => provider.code === code);

  async function feeRules(caller: Caller): Promise<FeeRule[]> {
    const rules = await listFeeRules(db, caller.accountId);
    return rules.filter((rule) => isEnabled(caller, rule.provider));
  }

  return {
    feeRules,

    async quoteFee(caller, request) {
      const rule = (await feeRules(caller)).find(
        ({ direction, provider, currency }) =>
          direction === request.direction &&
          provider === request.provider &&
          currency === request.currency,
      );
      if (rule === undefined) {
        const message = `${request.provider} does not support ${request.currency} for ${request.direction}. See GET /currencies.`;
        throw validationFailed([{ field: 'currency', rule: 'unsupported', message }]);
      }
      return { ...request, serviceFee: serviceFee(request.direction, request.amount, rule) };
    },

    async currencies(caller) {
      const routes = await listRoutes(db);
      return {
        providers: providers.list(caller.mode),
        routes: routes.filter((route) => isEnabled(caller, route.provider)),
      };
    },
  };
}
