/**
 * An operator's decision about a batch with the admin command: signals the batch's workflow, or asks it to
 * leave rows out, and waits for the outcome. The operator's name is claimed and not signed in, so a batch that
 * two operators must approve is approved in the console only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit } from '../../db/audit/audit-log';
import { readBatchApprovals } from '../../db/payout-batches/payout-batch-decisions';
import {
  listBatchRows,
  readBatchLedger,
  readBatchProgress,
} from '../../db/payout-batches/payout-batch-rows';
import {
  type ConsoleBatch,
  findConsoleBatch,
  listConsoleBatches,
} from '../../db/payout-batches/payout-batches';
import { onOneSnapshot, type Db } from '../../db/transaction';
import { mayLeaveOutRows, payoutBatchStatusesBefore } from '../../domain/payout-batch';
import { newId } from '../../platform/lib/new-id';
import type { PayoutBatchWorkflows } from '../../temporal/payout-batch-workflows';
import type { ChangedBy } from '../../kit/service/audit';
import { UnclearDecision } from '../payments/payment-changes';
import { AdminRefusal } from '../../kit/service/refusal';

/** How long the command waits; a worker usually applies a decision at once. */
const PATIENCE_MS = 15_000;
const ASK_EVERY_MS = 200;

interface BatchesDeps {
  db: Db;
  payoutBatchWorkflows: Pick<PayoutBatchWorkflows, 'signal' | 'leaveOut'>;
}

export type BatchOrder =
  /** The manifest that the operator has seen. */
  | { kind: 'approve'; manifest: string }
  | { kind: 'reject' | 'stop' }
  | { kind: 'leave_out'; rows: readonly number[] };

/** @returns the open batches, oldest first, or all, newest first */
export async function listBatches(db: Db, open: boolean, limit: number): Promise<ConsoleBatch[]> {
  return (await listConsoleBatches(db, { limit, after: null, open })).items;
}

/** @throws AdminRefusal */
export async function requireBatch(db: Db, id: string) {
  const batch = await findConsoleBatch(db, id);
  if (batch === null) throw new AdminRefusal({ code: 'not_found', object: 'payout_batch', id });
  return { batch, progress: batch.closedProgress ?? (await readBatchProgress(db, id)) };
}

/** The batch with its rows, and what the ledger has. @throws AdminRefusal */
export async function readProof(db: Db, id: string) {
  const { batch } = await requireBatch(db, id);
  return onOneSnapshot(db, async (tx) => ({
    batch,
    payouts: await listBatchRows(tx, id),
    ledger: await readBatchLedger(tx, id),
  }));
}

/** @throws AdminRefusal; UnclearDecision when the outcome is unknown */
export async function decideAboutBatch(
  deps: BatchesDeps,
  by: ChangedBy & { reason: string | null },
  id: string,
  order: BatchOrder,
) {
  const { batch } = await requireBatch(deps.db, id);
  await refuseUnlessOpen(deps.db, batch, order);
  await noteInAudit(deps.db, by, batch, order);
  await send(deps, by, batch, order);
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const now = await requireBatch(deps.db, id);
    if (isDone(now.batch, order)) return now;
    if (performance.now() > giveUpAt) {
      throw new UnclearDecision('The workflow has not applied the decision yet.');
    }
    await sleep(ASK_EVERY_MS);
  }
}

async function refuseUnlessOpen(db: Db, batch: ConsoleBatch, order: BatchOrder): Promise<void> {
  const { id, status, ending, manifestSha256 } = batch;
  const isOpen =
    order.kind === 'leave_out'
      ? mayLeaveOutRows(batch)
      : ending === null && payoutBatchStatusesBefore(order.kind).includes(status);
  if (!isOpen) throw new AdminRefusal({ code: 'batch_decided', id });
  if (order.kind !== 'approve') return;
  if (order.manifest !== manifestSha256) throw new AdminRefusal({ code: 'other_manifest', id });
  if (batch.awaitsSecondPerson) throw new AdminRefusal({ code: 'batch_awaits_second_person', id });
  const needsTwo = (await readBatchApprovals(db, id)) !== null;
  if (needsTwo) throw new AdminRefusal({ code: 'batch_needs_two', id });
}

async function send(
  { payoutBatchWorkflows }: BatchesDeps,
  { actor, reason }: ChangedBy,
  batch: ConsoleBatch,
  order: BatchOrder,
): Promise<void> {
  if (order.kind === 'leave_out') {
    const by = newId('request');
    const outcome = await payoutBatchWorkflows.leaveOut(batch, by, order.rows, PATIENCE_MS);
    if (outcome.kind === 'none_left') throw new AdminRefusal({ code: 'no_row_left', id: batch.id });
    if (outcome.kind !== 'left_out' && outcome.kind !== 'no_answer') {
      throw new AdminRefusal({ code: 'batch_decided', id: batch.id });
    }
    return;
  }
  const manifest = order.kind === 'approve' ? { manifest: order.manifest } : {};
  const input = { by: actor, ...(reason === null ? {} : { reason }), ...manifest };
  const sent = await payoutBatchWorkflows.signal(batch, order.kind, input);
  if (sent.kind !== 'sent') throw new UnclearDecision('Temporal did not accept the signal.');
}

function isDone({ status, ending, leftOutRows }: ConsoleBatch, order: BatchOrder): boolean {
  if (order.kind === 'leave_out') return order.rows.every((row) => leftOutRows.includes(row));
  if (order.kind === 'approve') return !payoutBatchStatusesBefore('approve').includes(status);
  return ending === order.kind;
}

/** The entry is written before the signal, so that the request is recorded whatever its outcome. */
function noteInAudit(
  db: Db,
  by: ChangedBy,
  { id: objectId, accountId, status, manifestSha256 }: ConsoleBatch,
  order: BatchOrder,
): Promise<void> {
  return db.transaction((tx) =>
    appendAudit(tx, {
      ...by,
      action: `payout_batch.${order.kind}`,
      object: 'payout_batch',
      objectId,
      accountId,
      before: { status },
      after: {
        manifest_sha256: manifestSha256,
        ...('rows' in order ? { left_out_rows: [...order.rows] } : {}),
      },
    }),
  );
}
