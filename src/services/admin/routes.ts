/**
 * Which currencies and networks of a provider merchants can use (decisions/currencies), for an operator.
 */
import {
  lockRoutes,
  type RouteScope,
  type RouteSetting,
  setRoutesEnabled,
} from '../../db/repositories/currency-routes';
import { lockFeeScope } from '../../db/repositories/fee-rules';
import type { Db } from '../../db/transaction';
import { makeChange, type ChangedBy } from './audit';
import { AdminRefusal, InvalidInput } from './refusal';

export { listRouteSettings as listRoutes } from '../../db/repositories/currency-routes';
export type { RouteSetting } from '../../db/repositories/currency-routes';

/**
 * Payments and payouts that exist keep their route.
 * @returns the routes that changed. @throws InvalidInput without such a route; AdminRefusal when none
 * changes, and when one would have no default fee rule
 */
export async function switchRoutes(
  db: Db,
  by: ChangedBy,
  scope: RouteScope,
  enabled: boolean,
): Promise<RouteSetting[]> {
  return makeChange(db, by, async (tx) => {
    const found = await lockRoutes(tx, scope);
    if (found.length === 0) throw new InvalidInput('network', { code: 'no_such_route', scope });
    const changed = found.filter((route) => route.enabled !== enabled);
    if (changed.length === 0) throw new AdminRefusal({ code: 'nothing_to_change' });
    if (enabled) for (const route of changed) await lockFeeScope(tx, { ...route, accountId: null });
    const set = await setRoutesEnabled(tx, scope, enabled);
    const isSet = (one: RouteSetting): boolean =>
      set.some((each) => each.direction === one.direction && each.currency === one.currency);
    const unpriced = changed.find((one) => !isSet(one));
    if (unpriced !== undefined)
      throw new AdminRefusal({ code: 'route_without_fee', route: unpriced });
    const snapshot = (isEnabled: boolean): object => ({
      routes: changed.map(({ direction, currency }) => `${direction} ${currency}`),
      enabled: isEnabled,
    });
    return {
      result: changed.map((route) => ({ ...route, enabled })),
      audit: {
        action: enabled ? 'route.enable' : 'route.disable',
        object: 'currency_route',
        objectId: `${scope.provider}:${scope.network}`,
        accountId: null,
        before: snapshot(!enabled),
        after: snapshot(enabled),
      },
    };
  });
}
