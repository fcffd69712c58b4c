/**
 * Finds payouts, payments and webhook deliveries that need a workflow and have none, and starts one. It
 * also wakes the payouts that a lifted pause held, and those that wait for what has come. A workflow can be missing when its start was lost,
 * when somebody terminated it, or when Temporal's database was restored from a backup.
 */
import {
  findPaymentsNeedingWorkflow,
  findPayoutsNeedingWorkflow,
  takeUncheckedDecisions,
  takeUncheckedLatePayments,
  takeUncheckedPayments,
  takeUncheckedPayouts,
} from '../src/db/operations/needing-workflow';
import { takeUncheckedBatches } from '../src/db/payout-batches/payout-batches';
import { takePayoutsToRelease } from '../src/db/payouts/payout-conditions';
import { takeReleasedPayouts } from '../src/db/payouts/payout-submissions';
import {
  noteEnsured,
  takeOverdueWebhookDeliveries,
  type WebhookDeliveryToStart,
} from '../src/db/webhooks/webhook-deliveries';
import type { Db } from '../src/db/transaction';
import type { Payment } from '../src/domain/payment';
import type { Payout } from '../src/domain/payout';
import type { PayoutBatch } from '../src/domain/payout-batch';
import type { ClosedWorkflows } from '../src/temporal/visibility';
import { paymentStart, type PaymentWorkflows } from '../src/temporal/payment-workflows';
import type { PayoutBatchWorkflows } from '../src/temporal/payout-batch-workflows';
import { payoutStart, type PayoutWorkflows } from '../src/temporal/payout-workflows';
import type { WebhookDeliveryWorkflows } from '../src/temporal/webhook-delivery-workflows';

export interface RestartDeps {
  db: Db;
  payoutWorkflows: PayoutWorkflows;
  payoutBatchWorkflows: Pick<PayoutBatchWorkflows, 'ensureRunning' | 'wake'>;
  paymentWorkflows: PaymentWorkflows;
  closedWorkflows: ClosedWorkflows;
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows;
}

/** Rows per statement, least recently checked first. */
const BATCH = 500;
/** A run takes batches for this long; the schedule runs again soon. */
const RUN_MS = 20_000;
/** A signal is rarely lost, so looking at the conditions of all that waits takes a small part of a run. */
const LOOK_MS = 2_000;
/** Payments wait for late funds for a month, so a smaller batch is enough. */
const LATE_BATCH = 50;

/** Deliveries per run, longest overdue first. */
const DELIVERY_BATCH = 500;
const CONCURRENT_DELIVERIES = 10;
/**
 * The number of requests to Temporal at the same time. The maximum is enough for 100 000 starts in ten
 * minutes. When a start takes longer than `quickMs` and twice the fastest one, Temporal is busy and
 * gets fewer, so that merchants' requests do not wait behind them.
 */
const STARTS_AT_ONCE = { least: 2, first: 5, most: 50, quickMs: 50 };

/** Wakes the payouts whose pause was lifted; also starts a missing workflow. */
export async function resumeHeldPayouts({
  db,
  payoutWorkflows,
}: Pick<RestartDeps, 'db' | 'payoutWorkflows'>): Promise<{ ensured: number }> {
  const wake = (payout: Payout) => payoutWorkflows.wake(payoutStart(payout));
  return { ensured: await inBatches(() => takeReleasedPayouts(db, BATCH), wake) };
}

/** Wakes the payouts of which a condition is met without that their workflow was told. */
export async function wakeWaitingPayouts({
  db,
  payoutWorkflows,
}: Pick<RestartDeps, 'db' | 'payoutWorkflows'>): Promise<{ ensured: number }> {
  const endAt = performance.now() + LOOK_MS;
  let ensured = 0;
  for (;;) {
    const { looked, payouts } = await takePayoutsToRelease(db, BATCH);
    await eachOf(payouts, (payout) => payoutWorkflows.wake(payoutStart(payout)));
    ensured += payouts.length;
    if (looked < BATCH || performance.now() >= endAt) return { ensured };
  }
}

/** Takes batches until one is empty or the run has lasted long enough. @returns how many */
async function inBatches<T>(
  take: () => Promise<T[]>,
  work: (item: T) => Promise<void>,
): Promise<number> {
  const endAt = performance.now() + RUN_MS;
  let done = 0;
  while (performance.now() < endAt) {
    const items = await take();
    if (items.length === 0) break;
    await eachOf(items, work);
    done += items.length;
  }
  return done;
}

/** Works on all items, and adapts how many at a time to how long each takes. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const { least, first, most, quickMs } = STARTS_AT_ONCE;
  const running = new Set<Promise<void>>();
  let atOnce = first;
  let fastestMs = Infinity;
  const adjust = (tookMs: number) => {
    fastestMs = Math.min(fastestMs, tookMs);
    // The number grows by up to a tenth after a quick start, and shrinks by up to a twentieth after a
    // slow one.
    const speed = Math.max(quickMs, 2 * fastestMs) / Math.max(tookMs, 1);
    const wanted = atOnce * (0.9 + 0.1 * Math.min(2, Math.max(0.5, speed)));
    atOnce = Math.min(most, Math.max(least, wanted));
  };
  for (const item of items) {
    const startedAt = performance.now();
    const run = work(item).then(() => {
      running.delete(run);
      adjust(performance.now() - startedAt);
    });
    running.add(run);
    while (running.size >= Math.floor(atOnce)) await Promise.race(running);
  }
  await Promise.all(running);
}

/** Starts missing workflows, and does nothing for a payout or a batch whose workflow is running. */
export async function restartPayouts(deps: RestartDeps): Promise<{ ensured: number }> {
  const ensure = (payout: Payout) => deps.payoutWorkflows.ensureRunning(payoutStart(payout));
  const ids = await deps.closedWorkflows.listUnfinished('payout');
  const ended = await findPayoutsNeedingWorkflow(deps.db, ids);
  await eachOf(ended, ensure);
  const swept = await inBatches(() => takeUncheckedPayouts(deps.db, BATCH), ensure);
  const batches = await takeUncheckedBatches(deps.db, BATCH);
  const { payoutBatchWorkflows } = deps;
  // The message that a second person has approved may be lost.
  const mayWait = ({ secondPerson, status, awaitsSecondPerson }: PayoutBatch) =>
    secondPerson !== null && !awaitsSecondPerson && status !== 'processing';
  await eachOf(batches, (batch) =>
    mayWait(batch) ? payoutBatchWorkflows.wake(batch) : payoutBatchWorkflows.ensureRunning(batch),
  );
  return { ensured: ended.length + swept + batches.length };
}

export async function restartPayments(deps: RestartDeps): Promise<{ ensured: number }> {
  const ensure = (payment: Payment) => deps.paymentWorkflows.ensureRunning(paymentStart(payment));
  const ids = await deps.closedWorkflows.listUnfinished('payment');
  const some = [
    ...(await findPaymentsNeedingWorkflow(deps.db, ids)),
    ...(await takeUncheckedDecisions(deps.db, BATCH)),
    ...(await takeUncheckedLatePayments(deps.db, LATE_BATCH)),
  ];
  await eachOf(some, ensure);
  const swept = await inBatches(() => takeUncheckedPayments(deps.db, BATCH), ensure);
  return { ensured: some.length + swept };
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
  for (let first = 0; first < overdue.length; first += CONCURRENT_DELIVERIES) {
    const some = overdue.slice(first, first + CONCURRENT_DELIVERIES);
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
