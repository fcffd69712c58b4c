/** /fees, /fees/quote and /currencies: for any valid key. */
import type Router from '@koa/router';
import { presentCurrencies, presentFeeQuote, presentFees } from './catalogue';
import { readFeeQuoteQuery } from './fees-contract';
import type { Catalogue } from '../../kit/service/services';
import type { GatewayState } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { noQuery } from '../../kit/api/no-query';

export function catalogueRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  catalogue: Catalogue,
): void {
  router.get('/fees', auth(), noQuery, async (ctx) => {
    ctx.body = presentFees(await catalogue.feeRules(ctx.state.caller));
  });

  router.get('/fees/quote', auth(), async (ctx) => {
    const request = readFeeQuoteQuery(ctx.query);
    ctx.body = presentFeeQuote(await catalogue.quoteFee(ctx.state.caller, request));
  });

  router.get('/currencies', auth(), noQuery, async (ctx) => {
    const { providers, routes } = await catalogue.currencies(ctx.state.caller);
    ctx.body = presentCurrencies(providers, routes);
  });
}
