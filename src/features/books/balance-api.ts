/** /balance and /transactions (the specification). */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import { presentBalance, presentTransaction } from './balance';
import { readTransactionQuery } from './transactions-contract';
import type { Balances } from '../../kit/service/services';
import { type GatewayState, pathId } from '../../kit/api/context';
import type { Auth } from '../../kit/api/auth';
import { noQuery } from '../../kit/api/no-query';
import { listPage, type Pagination } from '../../kit/api/pagination';

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
