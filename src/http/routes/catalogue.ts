/** /fees, /fees/quote and /currencies: for any valid key. */
import type Router from '@koa/router';
import { presentCurrencies, presentFeeQuote, presentFeeRule } from '../../presenters/catalogue';
import { readFeeQuoteQuery } from '../../schemas/fee-quote-query';
import type { Catalogue } from '../../services/services';
import type { GatewayMiddleware, GatewayState } from '../context';

export function catalogueRoutes(
  router: Router<GatewayState>,
  auth: GatewayMiddleware,
  catalogue: Catalogue,
): void {
  router.get('/fees', auth, async (ctx) => {
    const rules = await catalogue.feeRules(ctx.state.caller);
    ctx.body = { object: 'list', data: rules.map(presentFeeRule) };
  });

  router.get('/fees/quote', auth, async (ctx) => {
    const request = readFeeQuoteQuery(ctx.query);
    ctx.body = presentFeeQuote(await catalogue.quoteFee(ctx.state.caller, request));
  });

  router.get('/currencies', auth, async (ctx) => {
    const { providers, routes } = await catalogue.currencies(ctx.state.caller);
    ctx.body = presentCurrencies(providers, routes);
  });
}
