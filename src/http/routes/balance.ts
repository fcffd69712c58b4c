/** /balance and /transactions (the specification). */
import type Router from '@koa/router';
import { presentBalance, presentTransaction } from '../../presenters/balance';
import { readTransactionQuery } from '../../schemas/transactions';
import type { Balances } from '../../services/services';
import type { GatewayState } from '../context';
import type { Auth } from '../middleware/auth';
import { noQuery } from '../middleware/query';
import { listPage, type Pagination } from '../pagination';

export function balanceRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  balances: Balances,
  pagination: Pagination,
): void {
  router.get('/balance', auth('balance:read'), noQuery, async (ctx) => {
    const { caller } = ctx.state;
    ctx.body = presentBalance(caller.mode, await balances.list(caller));
  });

  router.get(
    '/transactions',
    auth('payments:read'),
    listPage(
      pagination,
      readTransactionQuery,
      (caller, query) => balances.transactions(caller, query),
      presentTransaction,
    ),
  );
}
