/** Decisions of signed-in operators about batches, and when two of them must approve. */
import {
  type PayoutBatch,
  type PayoutBatchDecisionOutcome,
  payoutBatchStatusesBefore,
} from '../../domain/payout-batch';
import { APPROVALS_NEEDED } from '../../domain/payout-decision';
import { sqlList, type Db, type Tx } from '../transaction';
import { ABOVE_THRESHOLD, MAY_REVIEW, mayReview } from '../payouts/payout-decisions';
import { getPayoutBatch } from './payout-batches';
import { areRelated } from '../approvals/related-operators';

/** What an operator can decide about a batch. */
export type BatchDecisionKind = 'approve' | 'reject' | 'stop' | 'leave_out';

/** A decision about a batch as stored. */
export interface PayoutBatchDecision {
  id: string;
  batchId: string;
  kind: BatchDecisionKind;
  /** The manifest that the operator saw. */
  manifestSha256: string;
  /** The rows to leave out. */
  rowNumbers: number[] | null;
  userId: string;
  email: string;
  reason: string | null;
  /** Null until the workflow has applied the decision. */
  outcome: PayoutBatchDecisionOutcome | null;
  createdAt: Date;
  decidedAt: Date | null;
}

/**
 * SQL: whether the operator has had the secret of the batch's API key, or requested the batch on the
 * dashboard.
 */
const HAD_KEY = `(EXISTS (SELECT FROM audit_log a
  WHERE a.object_id = payout_batches.api_key_id
    AND a.action IN ('api_key.create', 'api_key.rotate') AND lower(a.actor) = lower(u.email))
  OR EXISTS (SELECT FROM users m
  WHERE m.id = payout_batches.api_key_id AND lower(m.email) = lower(u.email)))`;

/** SQL: the rows of a currency are above its threshold as it is now, which was another one at the request. */
const NEEDS_TWO = `EXISTS (
  SELECT FROM jsonb_to_recordset(payout_batches.totals) AS total (currency text, amount numeric)
    JOIN four_eyes_thresholds t USING (currency) WHERE total.amount > t.amount)`;

/** SQL: the first of two approvals, of the rows that the batch still has. */
const IS_COUNTED = `d.batch_id = payout_batches.id AND d.outcome = 'counted'
  AND d.manifest_sha256 = payout_batches.manifest_sha256`;

/** SQL: two when two of those who approved are not related, otherwise at most one. */
const APPROVALS = `(WITH approved AS (
    SELECT DISTINCT u.id, u.email FROM payout_batch_decisions d JOIN users u ON u.id = d.user_id
     WHERE d.batch_id = payout_batches.id AND d.kind = 'approve'
       AND d.manifest_sha256 = payout_batches.manifest_sha256
       AND d.outcome IN ('counted', 'applied') AND ${MAY_REVIEW} AND NOT ${HAD_KEY})
  SELECT CASE WHEN EXISTS (SELECT FROM approved a JOIN approved b ON a.id < b.id
                            WHERE NOT ${areRelated('a', 'b')})
              THEN ${APPROVALS_NEEDED} ELSE least(count(*), 1)::integer END FROM approved)`;

/** SQL over the row of `payout_batches`: the condition of every approval. */
export const BATCH_HAS_APPROVALS = `(payout_batches.mode = 'test' AND payout_batches.status <> 'under_review'
  OR NOT ${NEEDS_TWO} OR ${APPROVALS} >= ${APPROVALS_NEEDED})`;

/** Sends a requested batch to review when a threshold was lowered meanwhile. @returns null if it is as it was */
export async function reviewBatch(tx: Tx, batchId: string): Promise<PayoutBatch | null> {
  const reviewed = await tx.query(
    `UPDATE payout_batches
        SET status = 'under_review', sequence = sequence + 1, updated_at = clock_timestamp(),
            review_reasons = review_reasons || '{${ABOVE_THRESHOLD}}'
      WHERE id = ? AND status IN (${sqlList(payoutBatchStatusesBefore('review'))})
        AND ending IS NULL AND NOT ${BATCH_HAS_APPROVALS} RETURNING id`,
    [batchId],
  );
  return reviewed.length === 0 ? null : getPayoutBatch(tx, batchId);
}

/** The approvals of a batch that needs two; null when one is enough. */
export async function readBatchApprovals(
  db: Db | Tx,
  batchId: string,
): Promise<{ approvals: number } | null> {
  const [found] = await db.query<{ needsTwo: boolean; approvals: number }>(
    `SELECT ${NEEDS_TWO} AS needs_two, ${APPROVALS} AS approvals FROM payout_batches WHERE id = ?`,
    [batchId],
  );
  return found?.needsTwo === true ? { approvals: found.approvals } : null;
}

/** Stores what an operator decided. A repeated id stores nothing. */
export async function insertBatchDecision(
  db: Db,
  decision: Pick<
    PayoutBatchDecision,
    'id' | 'batchId' | 'kind' | 'manifestSha256' | 'rowNumbers' | 'userId' | 'reason'
  >,
): Promise<void> {
  const { id, batchId, kind, manifestSha256, rowNumbers, userId, reason } = decision;
  await db.query(
    `INSERT INTO payout_batch_decisions
            (id, batch_id, kind, manifest_sha256, row_numbers, user_id, email, reason)
     SELECT ?, ?, ?, ?, ?::integer[], id, email, ? FROM users WHERE id = ? ON CONFLICT (id) DO NOTHING`,
    [id, batchId, kind, manifestSha256, rowNumbers, reason, userId],
  );
}

/** The decisions about a batch, oldest first. */
export async function listBatchDecisions(db: Db, batchId: string): Promise<PayoutBatchDecision[]> {
  return db.query<PayoutBatchDecision>(
    `SELECT * FROM payout_batch_decisions WHERE batch_id = ? ORDER BY created_at, id LIMIT 100`,
    [batchId],
  );
}

export async function findBatchDecision(
  db: Db | Tx,
  id: string,
): Promise<PayoutBatchDecision | null> {
  const [found] = await db.query<PayoutBatchDecision>(
    'SELECT * FROM payout_batch_decisions WHERE id = ?',
    [id],
  );
  return found ?? null;
}

export async function noteBatchOutcome(
  tx: Tx,
  id: string,
  outcome: PayoutBatchDecisionOutcome,
): Promise<void> {
  await tx.query(
    `UPDATE payout_batch_decisions SET outcome = ?, decided_at = clock_timestamp() WHERE id = ?`,
    [outcome, id],
  );
}

/** Reads the facts that decide whether an operator may decide about a batch. */
export async function readBatchDecider(
  tx: Tx,
  batchId: string,
  userId: string,
): Promise<{
  mayReview: boolean;
  needsTwo: boolean;
  hadKey: boolean;
  hasCounted: boolean;
  isRelated: boolean;
}> {
  const [found] = await tx.query<Awaited<ReturnType<typeof readBatchDecider>>>(
    `SELECT ${MAY_REVIEW} AS may_review, ${NEEDS_TWO} AS needs_two, ${HAD_KEY} AS had_key,
            EXISTS (SELECT FROM payout_batch_decisions d WHERE ${IS_COUNTED}
                       AND d.user_id = u.id) AS has_counted,
            coalesce((SELECT bool_and(${areRelated('first', 'u')})
               FROM payout_batch_decisions d JOIN users first ON first.id = d.user_id
              WHERE ${IS_COUNTED} AND first.id <> u.id
                AND ${mayReview('first')}), false) AS is_related
       FROM payout_batches CROSS JOIN users u WHERE payout_batches.id = ? AND u.id = ?`,
    [batchId, userId],
  );
  if (found !== undefined) return found;
  const unknown = { needsTwo: false, hadKey: false, hasCounted: false, isRelated: false };
  return { mayReview: false, ...unknown };
}
