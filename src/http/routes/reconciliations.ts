/** /reconciliations, in addition to the specification (decisions/merchant-reconciliation). */
import type Router from '@koa/router';
import { presentOne } from '../../presenters/envelope';
import { presentReconciliation } from '../../presenters/reconciliation';
import { readReconciliationRequest } from '../../schemas/reconciliations';
import type { Balances } from '../../services/services';
import type { GatewayState } from '../context';
import { type Auth, requireScope } from '../middleware/auth';
import { readLargeJson, validate } from '../middleware/body';
import { noQuery } from '../middleware/query';

export function reconciliationRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  balances: Balances,
): void {
  router.post(
    '/reconciliations',
    auth('payments:read'),
    validate(readReconciliationRequest, readLargeJson),
    noQuery,
    async (ctx) => {
      const { caller, request } = ctx.state;
      if (request.kind === 'payout') requireScope(caller, 'payouts:read');
      ctx.body = presentOne(presentReconciliation(await balances.reconcile(caller, request)));
    },
  );
}
