/** /fees, /fees/quote and /currencies: for any valid key. */
import { bind, type Route } from '../../kit/api/routes';
import { CURRENCY_OPERATIONS } from './currencies-contract';
import { FEE_OPERATIONS, readFeeQuoteQuery } from './fees-contract';
import { presentCurrencies, presentFeeQuote, presentFees } from './catalogue';
import type { Catalogue } from '../../kit/service/services';

export function catalogueRoutes(catalogue: Catalogue): Route[] {
  return bind([...FEE_OPERATIONS, ...CURRENCY_OPERATIONS], {
    listFees: async (ctx) => {
      ctx.body = presentFees(await catalogue.feeRules(ctx.state.caller));
    },

    quoteFee: async (ctx) => {
      const request = readFeeQuoteQuery(ctx.query);
      ctx.body = presentFeeQuote(await catalogue.quoteFee(ctx.state.caller, request));
    },

    listCurrencies: async (ctx) => {
      const { providers, routes } = await catalogue.currencies(ctx.state.caller);
      ctx.body = presentCurrencies(providers, routes);
    },
  });
}
