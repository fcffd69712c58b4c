/** What the payout routes do. Reads never touch Temporal; writes go through the payout's workflow. */
import { listPayouts } from '../db/repositories/payout-list';
import { findPayout } from '../db/repositories/payouts';
import type { Db } from '../db/transaction';
import { ApiError } from '../domain/errors';
import type { Payout, PayoutStatus } from '../domain/payout';
import { payoutStatusesBefore } from '../domain/payout';
import { newId } from '../lib/new-id';
import { payoutStart, type PayoutWorkflows } from '../temporal/payout-workflows';
import { createPayout, type CreatePayoutDeps } from './create-payout';
import type { Caller, Payouts } from './services';

export interface PayoutsDeps extends CreatePayoutDeps {
  db: Db;
  payoutWorkflows: PayoutWorkflows;
}

const CANCEL_DEADLINE_MS = 10_000;

export function createPayouts(deps: PayoutsDeps): Payouts {
  return {
    create: (caller, input) => createPayout(deps, caller, input),
    list: (caller, query) => listPayouts(deps.db, { ...caller, ...query }),
    get: (caller, id) => getOwn(deps.db, caller, id),
    cancel: (caller, id) => cancel(deps, caller, id),
  };
}

/** Another account's and the other mode's payout are as unknown as one that does not exist. */
async function getOwn(db: Db, { accountId, mode }: Caller, id: string): Promise<Payout> {
  const payout = await findPayout(db, id);
  if (payout?.accountId !== accountId || payout.mode !== mode) {
    throw new ApiError('not_found', { resource: 'payout' });
  }
  return payout;
}

async function cancel(deps: PayoutsDeps, caller: Caller, id: string): Promise<Payout> {
  const payout = await getOwn(deps.db, caller, id);
  if (!payoutStatusesBefore('cancel').includes(payout.status)) throw invalidState(payout.status);
  const by = newId('request');
  const outcome = await deps.payoutWorkflows.cancel(payoutStart(payout), by, CANCEL_DEADLINE_MS);
  const now = await getOwn(deps.db, caller, id);
  // The row tells whether it was this request that cancelled, whatever became of the answer.
  if (now.status === 'cancelled' && now.decidedBy === by) return now;
  if (outcome.kind !== 'no_answer') throw invalidState(now.status);
  throw new ApiError('service_unavailable', { reason: 'workflow_engine_unavailable' });
}

function invalidState(status: PayoutStatus): ApiError {
  return new ApiError(
    'invalid_state',
    { status },
    {
      message: `This payout is ${status}. Only a requested or under_review payout can be cancelled.`,
    },
  );
}
