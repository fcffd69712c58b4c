/** /transactions (the specification, "GET /transactions"). */
import type Router from '@koa/router';
import { presentTransaction } from '../../presenters/transaction';
import { readTransactionQuery } from '../../schemas/transaction-query';
import type { Transactions } from '../../services/services';
import type { GatewayMiddleware, GatewayState } from '../context';
import { requireScope } from '../middleware/scope';
import type { Pagination } from '../pagination';

const LIST_PATH = '/api/v1/transactions';

export function transactionRoutes(
  router: Router<GatewayState>,
  auth: GatewayMiddleware,
  transactions: Transactions,
  pagination: Pagination,
): void {
  router.get('/transactions', auth, requireScope('payments:read'), async (ctx) => {
    const { caller } = ctx.state;
    const { limit, filters, filterTexts, cursor } = readTransactionQuery(ctx.query);
    const list = { caller, path: LIST_PATH, filters: filterTexts, limit };
    const after = pagination.readCursor(list, cursor);
    const page = await transactions.list(caller, { limit, after, filters });
    ctx.body = pagination.present(list, page.items.map(presentTransaction), page.next);
  });
}
