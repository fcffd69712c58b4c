/**
 * One step of a batch: releases the next rows to their own workflows, returns the rows of a batch
 * that was ended early, and closes the batch when its last row has ended. Safe to run twice: each
 * row is released or returned once.
 */
import { activityInfo } from '@temporalio/activity';
import { appendEvent, type EventTx } from '../../src/db/webhooks/events';
import {
  countHeldRows,
  countRows,
  listOpenReleasedRows,
  readBatchProgress,
  releaseRows,
  takeRowsToReturn,
} from '../../src/db/payout-batches/payout-batch-rows';
import {
  countBatchesInProcess,
  getPayoutBatch,
  lockPayoutBatch,
  takeBatchTransition,
} from '../../src/db/payout-batches/payout-batches';
import { getPayout } from '../../src/db/payouts/payouts';
import type { Payout } from '../../src/domain/payout';
import {
  isFinalPayoutBatch,
  type PayoutBatch,
  type PayoutBatchProgress,
  type PayoutBatchTrigger,
} from '../../src/domain/payout-batch';
import { type PayoutWorkflows, payoutStart } from '../../src/temporal/payout-workflows';
import type { PayoutBatchState } from '../../workflows/messages';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayoutBatch } from '../events';
import { transitionIn } from '../payout/transition';
import { isOfManifest, proveManifest } from './manifest-proof';
import { reportBatch } from './report';
import { returnRows, stopChanged } from './return-rows';

/**
 * Released rows of an account that the provider has not accepted yet: enough to keep a provider busy. The
 * account's batches share them, so that accounts have equal parts of the queue of rows, however many
 * batches each of them has.
 */
const SUBMITTED_AT_ONCE = 32;
/** Rows are released only when at least this many places are free: each release is a transaction. */
const RELEASED_AT_LEAST = 8;
/**
 * Rows of a batch that wait for a person take no places from the others, up to this number: a provider that
 * leaves every row in doubt gets no more.
 */
const HELD_AT_ONCE = 256;
/** Few, so that a merchant's request to Temporal does not wait behind all of them. */
const STARTS_AT_ONCE = 4;
/** The number of rows that one transaction returns, which holds the balance to its end. */
const RETURNED_AT_ONCE = 50;
/** An activity ends well before its timeout; the workflow then calls it again. */
const RETURN_MS_MAX = 5_000;

type BatchDeps = Deps & { payoutWorkflows: PayoutWorkflows };

/** Rows differ from the manifest that was approved; the transaction that released them is rolled back. */
class ChangedRows extends Error {}

/** @param approved the manifest that was approved; null while the batch waits for a decision */
export async function advancePayoutBatch(
  deps: BatchDeps,
  batchId: string,
  approved: string | null,
): Promise<PayoutBatchState> {
  const batch = await getPayoutBatch(deps.db, batchId);
  if (isFinalPayoutBatch(batch.status)) return reportBatch(deps.db, batch);
  if (batch.ending !== null) await returnWaiting(deps, batch);
  const { progress, submitting } = await countRows(deps.db, batchId);
  if (batch.ending === null && batch.status === 'processing') {
    const released = await release(deps, batch, approved, { ...progress, submitting });
    progress.waiting -= released;
    progress.processing += released;
  }
  if (progress.waiting + progress.processing === 0) await close(deps, batchId);
  return reportBatch(deps.db, await getPayoutBatch(deps.db, batchId), progress);
}

/** @returns the number of rows that were released */
async function release(
  deps: BatchDeps,
  batch: PayoutBatch,
  approved: string | null,
  { waiting, submitting }: PayoutBatchProgress & { submitting: number },
): Promise<number> {
  // An earlier attempt may have released rows and died before it started their workflows.
  if (activityInfo().attempt > 1) {
    await start(deps, await listOpenReleasedRows(deps.db, batch.id));
  }
  if (waiting === 0) return 0;
  const places = Math.ceil(SUBMITTED_AT_ONCE / (await countBatchesInProcess(deps.db, batch)));
  const needed = Math.min(waiting, places, RELEASED_AT_LEAST);
  let free = places - submitting;
  if (free < needed) free += Math.min(await countHeldRows(deps.db, batch.id), HELD_AT_ONCE);
  if (free < needed) return 0;
  try {
    const hashes = approved === null ? null : await proveManifest(deps.db, batch.id, approved);
    if (hashes === null) throw new ChangedRows();
    const released = await inEventTransaction(deps, batch.id, async (tx) => {
      const rows = await releaseRows(tx, batch.id, free);
      if (!rows.every((row) => isOfManifest(hashes, row))) throw new ChangedRows();
      return approveRows(tx, rows, batch.approvedBy);
    });
    await start(deps, released);
    return released.length;
  } catch (error) {
    if (!(error instanceof ChangedRows)) throw error;
    await deps.db.transaction(async (tx) => stopChanged(tx, await lockPayoutBatch(tx, batch.id)));
    return 0;
  }
}

/**
 * Each row is approved as the batch was, and is a payout like any other from here on. A row with
 * conditions waits for them in its own workflow.
 */
async function approveRows(
  tx: EventTx,
  rows: readonly Payout[],
  decidedBy: string | null,
): Promise<Payout[]> {
  const approved: Payout[] = [];
  for (const { id } of rows) {
    approved.push(await approveRow(tx, id, { decidedBy }));
  }
  return approved;
}

async function approveRow(
  tx: EventTx,
  id: string,
  change: Pick<Payout, 'decidedBy'>,
): Promise<Payout> {
  const approved =
    (await transitionIn(tx, id, { trigger: 'approve', change })) ??
    (await transitionIn(tx, id, { trigger: 'clear', change }));
  if (approved !== null) return approved;
  const waiting = await getPayout(tx, id);
  if (waiting.awaitsRelease === true) return waiting;
  throw new Error(`${id} was released and cannot be approved`);
}

async function start({ payoutWorkflows }: BatchDeps, payouts: readonly Payout[]): Promise<void> {
  const next = payouts.values();
  const startOneByOne = async (): Promise<void> => {
    for (const payout of next) await payoutWorkflows.ensureRunning(payoutStart(payout));
  };
  await Promise.all(Array.from({ length: STARTS_AT_ONCE }, startOneByOne));
}

async function returnWaiting(
  deps: BatchDeps,
  { id, ending, endedBy, endingReason }: PayoutBatch,
): Promise<void> {
  const startedAt = performance.now();
  const why = { ending: ending ?? 'stop', by: endedBy, reason: endingReason };
  let returned: number;
  do {
    returned = await inEventTransaction(deps, id, async (tx) => {
      const rows = await takeRowsToReturn(tx, id, RETURNED_AT_ONCE);
      await returnRows(tx, rows, why);
      return rows.length;
    });
  } while (returned > 0 && performance.now() - startedAt < RETURN_MS_MAX);
}

/** Closes the batch when every row has ended. The guard looks at the rows again. */
async function close(deps: BatchDeps, batchId: string): Promise<void> {
  await inEventTransaction(deps, batchId, async (tx) => {
    const batch = await lockPayoutBatch(tx, batchId);
    const progress = await readBatchProgress(tx, batchId);
    const trigger = closingTrigger(batch, progress);
    if (trigger === null) return;
    const change = { closedProgress: progress };
    const closed = await takeBatchTransition(tx, batchId, trigger, change, 'true');
    if (closed !== null) appendEvent(tx, eventOfPayoutBatch(closed, progress));
  });
}

function closingTrigger(
  { status, ending, rowCount }: PayoutBatch,
  { waiting, processing, sent, leftOut }: PayoutBatchProgress,
): PayoutBatchTrigger | null {
  if (waiting + processing > 0) return null;
  if (ending !== null) return ending;
  if (status !== 'processing') return null;
  return sent === rowCount - leftOut ? 'complete' : 'complete_partially';
}
