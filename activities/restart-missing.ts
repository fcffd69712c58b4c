/**
 * Finds payouts, payments and webhook deliveries that need a workflow and have none, and starts
 * one; wakes the payouts that a lifted pause held. A workflow can be missing when its start was lost, when somebody terminated it, or when
 * Temporal's database was restored from a backup.
 */
import {
  findPaymentsNeedingWorkflow,
  findPayoutsNeedingWorkflow,
  takeUncheckedDecisions,
  takeUncheckedLatePayments,
  takeUncheckedPayments,
  takeUncheckedPayouts,
} from '../src/db/repositories/needing-workflow';
import { takeReleasedPayouts } from '../src/db/repositories/payout-pauses';
import {
  noteEnsured,
  takeOverdueWebhookDeliveries,
  type WebhookDeliveryToStart,
} from '../src/db/repositories/webhook-deliveries';
import type { Db } from '../src/db/transaction';
import type { ClosedWorkflows } from '../src/temporal/visibility';
import { paymentStart, type PaymentWorkflows } from '../src/temporal/payment-workflows';
import { payoutStart, type PayoutWorkflows } from '../src/temporal/payout-workflows';
import type { WebhookDeliveryWorkflows } from '../src/temporal/webhook-delivery-workflows';

export interface RestartDeps {
  db: Db;
  payoutWorkflows: PayoutWorkflows;
  paymentWorkflows: PaymentWorkflows;
  closedWorkflows: ClosedWorkflows;
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows;
}

/** Rows per statement, least recently checked first. */
const BATCH = 200;

/** Payments wait for late funds for a month, so a smaller batch is enough. */
const LATE_BATCH = 50;

/** Deliveries per run, longest overdue first. */
const DELIVERY_BATCH = 500;
const CONCURRENT_STARTS = 10;

/** Wakes the payouts whose pause was lifted; also starts a missing workflow. */
export async function resumeHeldPayouts({
  db,
  payoutWorkflows,
}: Pick<RestartDeps, 'db' | 'payoutWorkflows'>): Promise<{ ensured: number }> {
  let ensured = 0;
  for (;;) {
    const payouts = await takeReleasedPayouts(db, BATCH);
    await eachOf(payouts, (payout) => payoutWorkflows.wake(payoutStart(payout)));
    ensured += payouts.length;
    if (payouts.length < BATCH) return { ensured };
  }
}

/** With bounded concurrency. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const workers = Array.from({ length: CONCURRENT_STARTS }, async () => {
    for (const item of waiting) await work(item);
  });
  await Promise.all(workers);
}

export async function restartPayouts(deps: RestartDeps): Promise<{ ensured: number }> {
  const ended = await deps.closedWorkflows.listUnfinished('payout');
  const payouts = [
    ...(await takeUncheckedPayouts(deps.db, BATCH)),
    ...(await findPayoutsNeedingWorkflow(deps.db, ended)),
  ];
  // Does nothing if a workflow is running.
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

/**
 * Restarts overdue deliveries, and retries that were requested while Temporal was unavailable. If a
 * run ends early, the deliveries that it has not reached can be taken again after half a minute.
 */
export async function restartWebhookDeliveries({
  db,
  webhookDeliveryWorkflows,
}: Pick<RestartDeps, 'db' | 'webhookDeliveryWorkflows'>): Promise<{ ensured: number }> {
  const overdue = await takeOverdueWebhookDeliveries(db, DELIVERY_BATCH);
  for (let first = 0; first < overdue.length; first += CONCURRENT_STARTS) {
    const some = overdue.slice(first, first + CONCURRENT_STARTS);
    await Promise.all(some.map((delivery) => ensure(webhookDeliveryWorkflows, delivery)));
    await noteEnsured(
      db,
      some.map(({ deliveryId }) => deliveryId),
    );
  }
  return { ensured: overdue.length };
}

/** A running workflow needs a signal only for a requested retry. */
function ensure(
  workflows: WebhookDeliveryWorkflows,
  delivery: WebhookDeliveryToStart,
): Promise<void> {
  return delivery.retryRequested ? workflows.wake(delivery) : workflows.resume(delivery);
}
