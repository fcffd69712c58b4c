/**
 * Finds payouts that are not final and have no workflow, and starts one. A workflow can be
 * missing when somebody terminated it, or when Temporal's database was restored from a backup.
 */
import { findPayout } from '../src/db/repositories/payouts';
import { takeUncheckedPayouts } from '../src/db/repositories/payout-drivers';
import type { Db } from '../src/db/transaction';
import { isFinalPayout } from '../src/domain/payout';
import { startOf, type PayoutWorkflows } from '../src/temporal/payout-workflows';
import type { ClosedWorkflows } from '../src/temporal/closed-workflows';

export interface RestartDeps {
  db: Db;
  payoutWorkflows: PayoutWorkflows;
  closedWorkflows: ClosedWorkflows;
}

/** So many payouts are looked at in one run, the ones not looked at for longest first. */
const BATCH = 200;

export async function restartPayouts(deps: RestartDeps): Promise<{ ensured: number }> {
  const payouts = await takeUncheckedPayouts(deps.db, BATCH);
  for (const id of await deps.closedWorkflows.listUnfinishedPayouts()) {
    const payout = await findPayout(deps.db, id);
    if (payout !== null && !isFinalPayout(payout.status)) payouts.push(payout);
  }
  // Does nothing where a workflow runs.
  for (const payout of payouts) await deps.payoutWorkflows.ensureRunning(startOf(payout));
  return { ensured: payouts.length };
}
