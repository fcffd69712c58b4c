/** /balance and /transactions (the specification). */
import { bind, type Route } from '../../kit/api/routes';
import { readTransactionQuery, TRANSACTION_OPERATIONS } from './transactions-contract';
import { BALANCE_OPERATIONS } from './balance-contract';
import { presentOne } from '../../kit/service/envelope';
import { presentBalance, presentTransaction } from './balance';
import type { Balances } from '../../kit/service/services';
import { pathId } from '../../kit/api/context';
import { listPage, type Pagination } from '../../kit/api/pagination';

export function balanceRoutes(balances: Balances, pagination: Pagination): Route[] {
  return bind([...BALANCE_OPERATIONS, ...TRANSACTION_OPERATIONS], {
    getBalance: async (ctx) => {
      const { caller } = ctx.state;
      ctx.body = presentBalance(caller.mode, await balances.list(caller));
    },

    listTransactions: listPage(
      pagination,
      readTransactionQuery,
      (caller, query) => balances.transactions(caller, query),
      presentTransaction,
    ),

    getTransaction: async (ctx) => {
      const found = await balances.transaction(ctx.state.caller, pathId('transaction', ctx));
      ctx.body = presentOne(presentTransaction(found));
    },
  });
}
