/** Supported currencies and fees: GET /currencies, /fees and /fees/quote. */
import { listRoutes } from '../db/repositories/currency-routes';
import { listFeeRules } from '../db/repositories/fee-rules';
import type { Db } from '../db/transaction';
import { validationFailed } from '../domain/errors';
import { type FeeRule, serviceFee } from '../domain/fees';
import type { ProviderRegistry } from '../providers/registry';
import type { Caller, Catalogue } from './services';

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
