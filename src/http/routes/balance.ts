/** /balance (the specification, "GET /balance"). */
import type Router from '@koa/router';
import { presentBalance } from '../../presenters/balance';
import type { Balances } from '../../services/services';
import type { GatewayMiddleware, GatewayState } from '../context';
import { requireScope } from '../middleware/scope';

export function balanceRoutes(
  router: Router<GatewayState>,
  auth: GatewayMiddleware,
  balances: Balances,
): void {
  router.get('/balance', auth, requireScope('balance:read'), async (ctx) => {
    const { caller } = ctx.state;
    ctx.body = presentBalance(caller.mode, await balances.list(caller));
  });
}
