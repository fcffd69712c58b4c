/**
 * One step of a batch: releases the next rows to their own workflows, returns the rows of a batch
 * that was ended early, and closes the batch when its last row has ended. Safe to run twice: each
 * row is released or returned once.
 */
import { activityInfo } from '@temporalio/activity';
import { openCase } from '../../src/db/repositories/cases';
import { appendEvent, type NewDeliveries } from '../../src/db/repositories/events';
import {
  countSubmitting,
  endBatchEarly,
  listBatchRows,
  listOpenReleasedRows,
  lockPayoutBatch,
  readBatchProgress,
  releaseRows,
  takeBatchTransition,
  takeRowsToReturn,
} from '../../src/db/repositories/payout-batches';
import { inTransaction, type Tx } from '../../src/db/transaction';
import { releasePosting } from '../../src/domain/ledger';
import { DEFAULT_REJECTION_REASON, type Payout } from '../../src/domain/payout';
import {
  isFinalPayoutBatch,
  type PayoutBatch,
  type PayoutBatchProgress,
  type PayoutBatchTrigger,
} from '../../src/domain/payout-batch';
import { manifestSha256 } from '../../src/presenters/payout-batch';
import { type PayoutWorkflows, payoutStart } from '../../src/temporal/payout-workflows';
import type { PayoutBatchState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayoutBatch } from '../events';
import { transitionIn } from '../payout/transition';
import { getBatch } from './decide';
import { reportBatch } from './report';

/**
 * Released rows that the provider has not accepted yet: enough to keep a provider busy, and few enough
 * that the payouts of other merchants do not wait behind them.
 */
const SUBMITTED_AT_ONCE = 32;
/**
 * Rows are released only when at least this many places are free, because the manifest is proven at
 * each release.
 */
const RELEASED_AT_LEAST = 8;
/** The number of rows that one transaction returns, which holds the balance to its end. */
const RETURNED_AT_ONCE = 50;
/** An activity ends well before its timeout; the workflow then calls it again. */
const RETURN_MS_MAX = 5_000;

type BatchDeps = Deps & { payoutWorkflows: PayoutWorkflows };

/** @param approved the manifest that was approved; null while the batch waits for a decision */
export async function advancePayoutBatch(
  deps: BatchDeps,
  batchId: string,
  approved: string | null,
): Promise<PayoutBatchState> {
  const batch = await getBatch(deps.db, batchId);
  if (!isFinalPayoutBatch(batch.status)) {
    if (batch.ending !== null) await returnRows(deps, batch);
    else if (batch.status === 'processing') await release(deps, batch, approved);
    await close(deps, batchId);
  }
  return reportBatch(deps.db, await getBatch(deps.db, batchId));
}

async function release(
  deps: BatchDeps,
  batch: PayoutBatch,
  approved: string | null,
): Promise<void> {
  const { waiting } = await readBatchProgress(deps.db, batch.id);
  // An earlier attempt may have released rows and died before it started their workflows.
  if (activityInfo().attempt > 1) {
    await start(deps, await listOpenReleasedRows(deps.db, batch.id));
  }
  const free = SUBMITTED_AT_ONCE - (await countSubmitting(deps.db, batch.id));
  if (waiting === 0 || free < Math.min(waiting, RELEASED_AT_LEAST)) return;
  if (manifestSha256(await listBatchRows(deps.db, batch.id)) !== approved) {
    await stopChanged(deps, batch);
    return;
  }
  const released = await inEventTransaction(deps, batch.id, (tx, deliveries) =>
    releaseIn(tx, batch, free, deliveries),
  );
  await start(deps, released);
}

/**
 * Releases rows. Each is approved as the batch was, and is a payout like any other from here on.
 */
async function releaseIn(
  tx: Tx,
  batch: PayoutBatch,
  limit: number,
  deliveries: NewDeliveries,
): Promise<Payout[]> {
  const payouts: Payout[] = [];
  for (const id of await releaseRows(tx, batch.id, limit)) {
    const change = { decidedBy: batch.approvedBy };
    const payout = await transitionIn(tx, id, { trigger: 'approve', change }, deliveries);
    if (payout === null) throw new Error(`${id} was released and cannot be approved`);
    payouts.push(payout);
  }
  return payouts;
}

async function start({ payoutWorkflows }: BatchDeps, payouts: readonly Payout[]): Promise<void> {
  await Promise.all(payouts.map((payout) => payoutWorkflows.ensureRunning(payoutStart(payout))));
}

/**
 * Stops a batch whose rows somebody changed in the database: nothing that was not approved may be sent.
 */
async function stopChanged(deps: BatchDeps, batch: PayoutBatch): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    await lockPayoutBatch(tx, batch.id);
    await openCase(tx, 'batch_changed', batch.id, { approved_sha256: batch.manifestSha256 });
    const reason = 'The rows differ from the manifest that was approved.';
    await endBatchEarly(tx, batch.id, { ending: 'stop', by: null, reason });
  });
}

async function returnRows(deps: BatchDeps, batch: PayoutBatch): Promise<void> {
  const startedAt = performance.now();
  let returned: number;
  do {
    returned = await inEventTransaction(deps, batch.id, (tx, deliveries) =>
      returnIn(tx, batch, deliveries),
    );
  } while (returned > 0 && performance.now() - startedAt < RETURN_MS_MAX);
}

async function returnIn(tx: Tx, batch: PayoutBatch, deliveries: NewDeliveries): Promise<number> {
  const rows = await takeRowsToReturn(tx, batch.id, RETURNED_AT_ONCE);
  const { endedBy: decidedBy, endingReason } = batch;
  for (const { id } of rows) {
    const isRejected = batch.ending === 'reject';
    const change = isRejected
      ? { decidedBy, rejectionReason: endingReason ?? DEFAULT_REJECTION_REASON }
      : { decidedBy };
    const trigger = isRejected ? 'reject' : 'cancel';
    const transition = { trigger, change, posting: releasePosting } as const;
    const returned = await transitionIn(tx, id, transition, deliveries);
    if (returned === null) throw new Error(`${id} cannot be returned`);
  }
  return rows.length;
}

/** Closes the batch when every row has ended. The guard looks at the rows again. */
async function close(deps: BatchDeps, batchId: string): Promise<void> {
  await inEventTransaction(deps, batchId, async (tx, deliveries) => {
    const batch = await lockPayoutBatch(tx, batchId);
    const progress = await readBatchProgress(tx, batchId);
    const trigger = closingTrigger(batch, progress);
    if (trigger === null) return;
    const change = { closedProgress: progress };
    const closed = await takeBatchTransition(tx, batchId, trigger, change, 'true');
    if (closed !== null) appendEvent(tx, eventOfPayoutBatch(closed, progress), deliveries);
  });
}

function closingTrigger(
  { status, ending, rowCount }: PayoutBatch,
  { waiting, processing, sent }: PayoutBatchProgress,
): PayoutBatchTrigger | null {
  if (waiting + processing > 0) return null;
  if (ending !== null) return ending;
  if (status !== 'processing') return null;
  return sent === rowCount ? 'complete' : 'complete_partially';
}
