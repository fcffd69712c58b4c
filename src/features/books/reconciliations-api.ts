/** /reconciliations, in addition to the specification (decisions/books#merchant-reconciliation). */
import type Router from '@koa/router';
import { presentOne } from '../../kit/service/envelope';
import { presentReconciliation } from './reconciliations-contract';
import type { Balances } from '../../kit/service/services';
import type { GatewayState } from '../../kit/api/context';
import { type Auth, requireScope } from '../../kit/api/auth';
import type { ValidateLarge } from '../../kit/api/large-bodies/large-body';
import { noQuery } from '../../kit/api/no-query';

/** The longest body, as for batches; ten thousand rows are shorter. */
const MEBIBYTES_MAX = 8;

export function reconciliationRoutes(
  router: Router<GatewayState>,
  auth: Auth,
  balances: Balances,
  validateLarge: ValidateLarge,
): void {
  router.post(
    '/reconciliations',
    auth('payments:read'),
    validateLarge('reconciliation', MEBIBYTES_MAX),
    noQuery,
    async (ctx) => {
      const { caller, request } = ctx.state;
      if (request.kind === 'payout') requireScope(caller, 'payouts:read');
      ctx.body = presentOne(presentReconciliation(await balances.reconcile(caller, request)));
    },
  );
}
