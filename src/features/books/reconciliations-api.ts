/** /reconciliations, in addition to the specification (decisions/books#merchant-reconciliation). */
import { bind, type Route, withBody } from '../../kit/api/routes';
import { presentReconciliation, RECONCILIATION_OPERATIONS } from './reconciliations-contract';
import { presentOne } from '../../kit/service/envelope';
import type { Balances } from '../../kit/service/services';
import { requireScope } from '../../kit/api/auth';
import type { ValidateLarge } from '../../kit/api/large-bodies/large-body';

/** The longest body, as for batches; ten thousand rows are shorter. */
const MEBIBYTES_MAX = 8;

export function reconciliationRoutes(balances: Balances, validateLarge: ValidateLarge): Route[] {
  return bind(RECONCILIATION_OPERATIONS, {
    createReconciliation: withBody(validateLarge('reconciliation', MEBIBYTES_MAX), async (ctx) => {
      const { caller, request } = ctx.state;
      if (request.kind === 'payout') requireScope(caller, 'payouts:read');
      ctx.body = presentOne(presentReconciliation(await balances.reconcile(caller, request)));
    }),
  });
}
