/** Batches of payouts for signed-in operators: what they decide on, and their decisions. */
import {
  findBatchDecision,
  insertBatchDecision,
  listBatchDecisions,
  type PayoutBatchDecision,
  readBatchDecider,
  readBatchApprovals,
} from '../../db/payout-batches/payout-batch-decisions';
import { listRowsToReview, readBatchProgress } from '../../db/payout-batches/payout-batch-rows';
import {
  type ConsoleBatch,
  findConsoleBatch,
  listConsoleBatches,
} from '../../db/payout-batches/payout-batches';
import type { Db } from '../../db/transaction';
import { isId } from '../../domain/ids';
import {
  LEFT_OUT_AT_ONCE_MAX,
  mayLeaveOutRows,
  payoutBatchStatusesBefore,
} from '../../domain/payout-batch';
import type { PayoutBatchWorkflows } from '../../temporal/payout-batch-workflows';
import { checkReason } from '../../kit/service/checks';
import { AdminRefusal, InvalidInput } from '../../kit/service/refusal';
import type { Operator } from '../payouts/payout-reviews';
import type { ListPosition } from '../../kit/service/services';

/** The rows that the page shows: enough to judge a batch by. The proof has all. */
const ROWS_SHOWN = 100;
const DECIDE_DEADLINE_MS = 10_000;

type BatchOrder = Pick<PayoutBatchDecision, 'batchId' | 'kind' | 'manifestSha256'> & {
  /** The id is made with the form, so that a form that is sent twice decides once. */
  id: string;
  /** Required unless the batch is approved. */
  reason: string;
  /** The numbers of the rows to leave out. */
  rowNumbers?: readonly number[];
};

type BatchDecisionResult =
  /** Without an outcome, Temporal did not answer in time and it may still be applied. */
  | { kind: 'stored'; decision: PayoutBatchDecision }
  /** Nothing was stored: the batch can no longer be decided. */
  | { kind: 'too_late' }
  /** Nothing was stored: the batch is live or two must approve it, and the sign-in is not recent. */
  | { kind: 'sign_in_again' };

export type BatchReviews = ReturnType<typeof createBatchReviews>;
export type BatchReview = Awaited<ReturnType<BatchReviews['review']>>;
export type { BatchRow } from '../../db/payout-batches/payout-batch-rows';

export function createBatchReviews(deps: { db: Db; payoutBatchWorkflows: PayoutBatchWorkflows }) {
  const { db } = deps;
  return {
    list: (request: { limit: number; after: ListPosition | null; open: boolean }) =>
      listConsoleBatches(db, request),

    /** @throws AdminRefusal */
    review: async (id: string, { userId }: Operator) => {
      const batch = await requireBatch(db, id);
      const [progress, payouts, decisions, decider] = await Promise.all([
        batch.closedProgress ?? readBatchProgress(db, id),
        listRowsToReview(db, id, ROWS_SHOWN),
        listBatchDecisions(db, id),
        db.transaction((tx) => readBatchDecider(tx, id, userId)),
      ]);
      return { batch, progress, payouts, decisions, decider };
    },

    /** @throws AdminRefusal, InvalidInput */
    decide: (order: BatchOrder, operator: Operator) => decide(deps, order, operator),
  };
}

async function requireBatch(db: Db, id: string): Promise<ConsoleBatch> {
  const batch = await findConsoleBatch(db, id);
  if (batch === null) throw new AdminRefusal({ code: 'not_found', object: 'payout_batch', id });
  return batch;
}

async function decide(
  { db, payoutBatchWorkflows }: { db: Db; payoutBatchWorkflows: PayoutBatchWorkflows },
  order: BatchOrder,
  operator: Operator,
): Promise<BatchDecisionResult> {
  const { id, batchId, kind, manifestSha256 } = order;
  const { userId } = operator;
  const batch = await requireBatch(db, batchId);
  const notFound = new AdminRefusal({ code: 'not_found', object: 'payout_batch', id });
  if (!isId('decision', id)) throw notFound;
  const isSilent = kind === 'approve' && order.reason.trim() === '';
  const reason = isSilent ? null : checkReason(order.reason);
  const stored = await findBatchDecision(db, id);
  if (stored === null) {
    if (!mayDecide(batch, kind)) return { kind: 'too_late' };
    const isGuarded = batch.mode === 'live' || (await readBatchApprovals(db, batchId)) !== null;
    if (kind === 'approve' && isGuarded && !operator.isRecent) {
      return { kind: 'sign_in_again' };
    }
    const rowNumbers = kind === 'leave_out' ? checkRows(batch, order.rowNumbers ?? []) : null;
    await insertBatchDecision(db, {
      id,
      batchId,
      kind,
      manifestSha256,
      rowNumbers,
      userId,
      reason,
    });
  }
  if ((stored?.outcome ?? null) === null) {
    await payoutBatchWorkflows.decide(batch, id, DECIDE_DEADLINE_MS);
  }
  // The row shows the outcome, even if the answer was lost.
  const decision = await findBatchDecision(db, id);
  if (decision?.userId !== userId || decision.batchId !== batchId || decision.kind !== kind) {
    throw notFound;
  }
  return { kind: 'stored', decision };
}

function mayDecide(batch: ConsoleBatch, kind: BatchOrder['kind']): boolean {
  if (kind === 'leave_out') return mayLeaveOutRows(batch);
  return batch.ending === null && payoutBatchStatusesBefore(kind).includes(batch.status);
}

/** @throws InvalidInput */
function checkRows({ rowCount }: ConsoleBatch, rowNumbers: readonly number[]): number[] {
  const rows = [...new Set(rowNumbers)];
  const max = Math.min(rowCount, LEFT_OUT_AT_ONCE_MAX);
  if (rows.length === 0) throw new InvalidInput('rows', { code: 'none_chosen' });
  if (rows.length > max) {
    throw new InvalidInput('rows', {
      code: 'out_of_range',
      value: String(rows.length),
      min: 1,
      max,
    });
  }
  const unknown = rows.find((row) => !Number.isInteger(row) || row < 1 || row > rowCount);
  if (unknown === undefined) return rows;
  throw new InvalidInput('rows', {
    code: 'out_of_range',
    value: String(unknown),
    min: 1,
    max: rowCount,
  });
}
