/**
 * Which currencies and networks of a provider merchants can use (decisions/money#currencies), for an operator.
 */
import {
  lockRoutes,
  type RouteScope,
  type RouteSetting,
  setRoutesEnabled,
} from '../../db/accounts/currency-routes';
import { lockFeeScope } from '../../db/accounts/fee-rules';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';
import { defineChange } from '../../kit/service/change';

export { listRouteSettings as listRoutes } from '../../db/accounts/currency-routes';
export type { RouteSetting } from '../../db/accounts/currency-routes';

/**
 * Payments and payouts that exist keep their route. The result is the routes that changed.
 * @throws InvalidInput without such a route; AdminRefusal when none changes, and when one would have no
 *   default fee rule
 */
export const enableRoutes = switchTo(true, 'route.enable');
export const disableRoutes = switchTo(false, 'route.disable');

function switchTo(enabled: boolean, action: string) {
  return defineChange({
    action,
    access: { needs: 'administer' },
    fields: {},
    run: async (tx, scope: RouteScope) => {
      const found = await lockRoutes(tx, scope);
      if (found.length === 0) throw new InvalidInput('network', { code: 'no_such_route', scope });
      const changed = found.filter((route) => route.enabled !== enabled);
      if (changed.length === 0) throw new AdminRefusal({ code: 'nothing_to_change' });
      if (enabled) {
        for (const route of changed) await lockFeeScope(tx, { ...route, accountId: null });
      }
      const set = await setRoutesEnabled(tx, scope, enabled);
      const isSet = (one: RouteSetting): boolean =>
        set.some((each) => each.direction === one.direction && each.currency === one.currency);
      const unpriced = changed.find((one) => !isSet(one));
      if (unpriced !== undefined) {
        throw new AdminRefusal({ code: 'route_without_fee', route: unpriced });
      }
      const routes = changed.map(({ direction, currency }) => `${direction} ${currency}`);
      return {
        result: changed.map((route) => ({ ...route, enabled })),
        audit: {
          object: 'currency_route',
          objectId: `${scope.provider}:${scope.network}`,
          accountId: null,
          before: { routes, enabled: !enabled },
          after: { routes, enabled },
        },
      };
    },
  });
}
