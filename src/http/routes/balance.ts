/** /balance and /transactions (the specification). */
import type Router from '@koa/router';
import { presentOne } from '../../presenters/envelope';
import { presentBalance, presentTransaction } from '../../presenters/balance';
import { readTransactionQuery } from '../../schemas/transactions';
import type { Balances } from '../../services/services';
import { type GatewayState, pathId } from '../context';
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

  router.get('/transactions/:id', auth('payments:read'), noQuery, async (ctx) => {
    const found = await balances.transaction(ctx.state.caller, pathId('transaction', ctx));
    ctx.body = presentOne(presentTransaction(found));
  });
}
