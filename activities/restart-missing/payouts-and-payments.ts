/**
 * Finds payouts and payments that need a workflow and have none, and starts one. A workflow can be
 * missing when somebody terminated it, or when Temporal's database was restored from a backup.
 */
import {
  findPaymentsNeedingWorkflow,
  takeUncheckedDecisions,
  takeUncheckedLatePayments,
  takeUncheckedPayments,
} from '../../src/db/repositories/payments-needing-workflow';
import {
  findPayoutsNeedingWorkflow,
  takeUncheckedPayouts,
} from '../../src/db/repositories/payouts-needing-workflow';
import type { Db } from '../../src/db/transaction';
import type { ClosedWorkflows } from '../../src/temporal/visibility';
import { paymentStart, type PaymentWorkflows } from '../../src/temporal/payment-workflows';
import { payoutStart, type PayoutWorkflows } from '../../src/temporal/payout-workflows';

export interface RestartDeps {
  db: Db;
  payoutWorkflows: PayoutWorkflows;
  paymentWorkflows: PaymentWorkflows;
  closedWorkflows: ClosedWorkflows;
}

/** So many are looked at in one run, the ones not looked at for longest first. */
const BATCH = 200;

/** Late money is waited for over a month: a smaller share of each run is enough. */
const LATE_BATCH = 50;

export async function restartPayouts(deps: RestartDeps): Promise<{ ensured: number }> {
  const ended = await deps.closedWorkflows.listUnfinished('payout');
  const payouts = [
    ...(await takeUncheckedPayouts(deps.db, BATCH)),
    ...(await findPayoutsNeedingWorkflow(deps.db, ended)),
  ];
  // Does nothing where a workflow runs.
  for (const payout of payouts) await deps.payoutWorkflows.ensureRunning(payoutStart(payout));
  return { ensured: payouts.length };
}

export async function restartPayments(deps: RestartDeps): Promise<{ ensured: number }> {
  const ended = await deps.closedWorkflows.listUnfinished('payment');
  const payments = [
    ...(await takeUncheckedPayments(deps.db, BATCH)),
    ...(await takeUncheckedDecisions(deps.db, BATCH)),
    ...(await takeUncheckedLatePayments(deps.db, LATE_BATCH)),
    ...(await findPaymentsNeedingWorkflow(deps.db, ended)),
  ];
  for (const payment of payments) {
    await deps.paymentWorkflows.ensureRunning(paymentStart(payment));
  }
  return { ensured: payments.length };
}
