/** Decisions of signed-in operators about payouts, and when two of them must approve. */
import type { Amount } from '../../domain/money';
import type { Payout } from '../../domain/payout';
import {
  APPROVALS_NEEDED,
  type DecisionOutcome,
  type PayoutDecision,
  REVIEWER_ROLES,
} from '../../domain/payout-decision';
import type { ReviewReason } from '../../domain/review';
import { Payouts } from '../models';
import { MissingRow, sqlList, type Db, type Tx } from '../transaction';
import { areRelated } from '../approvals/related-operators';

const COLUMNS = 'id, payout_id, kind, user_id, email, reason, outcome, created_at, decided_at';

/**
 * SQL: whether the operator may decide now, which can differ from the time of the decision.
 * @param user the alias of a row of users
 */
export const mayReview = (user: string): string =>
  `${user}.kind = 'operator' AND ${user}.disabled_at IS NULL
  AND ${user}.operator_role IN (${sqlList(REVIEWER_ROLES)})`;

/** The reason for the review of a payout or a batch that two operators must approve. */
export const ABOVE_THRESHOLD = 'above_four_eyes_threshold' satisfies ReviewReason;

/** SQL: `mayReview` of the user `u`. */
export const MAY_REVIEW = mayReview('u');

/**
 * SQL: whether the operator has had the secret of the payout's API key, or requested the payout on the
 * dashboard.
 */
const HAD_KEY = `(EXISTS (SELECT FROM audit_log a
  WHERE a.object_id = payouts.api_key_id AND a.action IN ('api_key.create', 'api_key.rotate')
    AND lower(a.actor) = lower(u.email))
  OR EXISTS (SELECT FROM users m
  WHERE m.id = payouts.api_key_id AND lower(m.email) = lower(u.email)))`;

/** SQL: two when two of those who approved are not related, otherwise at most one. */
const APPROVALS = `(WITH approved AS (
    SELECT DISTINCT u.id, u.email FROM payout_decisions d JOIN users u ON u.id = d.user_id
     WHERE d.payout_id = payouts.id AND d.kind = 'approve' AND d.outcome IN ('counted', 'applied')
       AND ${MAY_REVIEW} AND NOT ${HAD_KEY})
  SELECT CASE WHEN EXISTS (SELECT FROM approved a JOIN approved b ON a.id < b.id
                            WHERE NOT ${areRelated('a', 'b')})
              THEN ${APPROVALS_NEEDED} ELSE least(count(*), 1)::integer END FROM approved)`;

const THRESHOLD = `(SELECT t.amount FROM four_eyes_thresholds t
  WHERE t.currency = payouts.currency AND payouts.amount > t.amount)`;

/**
 * SQL over the row of `payouts`: the condition of every approval, by the threshold as it is now. In test mode only a
 * rehearsed review has one.
 */
export const HAS_APPROVALS = `(payouts.mode = 'test' AND payouts.status <> 'under_review'
  OR ${THRESHOLD} IS NULL OR ${APPROVALS} >= ${APPROVALS_NEEDED})`;

/** SQL over the row of `payouts`: two operators have not approved it, and the threshold was lowered meanwhile. */
export const NEEDS_REVIEW = `(NOT '${ABOVE_THRESHOLD}' = ANY (payouts.review_reasons)
  AND NOT ${HAS_APPROVALS})`;

/** Stores what an operator decided. A repeated id stores nothing. */
export async function insertDecision(
  db: Db,
  { id, payoutId, kind, userId, reason }: Omit<PayoutDecision, 'email' | NotYet>,
): Promise<void> {
  await db.query(
    `INSERT INTO payout_decisions (id, payout_id, kind, user_id, email, reason)
     SELECT ?, ?, ?, id, email, ? FROM users WHERE id = ? ON CONFLICT (id) DO NOTHING`,
    [id, payoutId, kind, reason, userId],
  );
}

type NotYet = 'outcome' | 'createdAt' | 'decidedAt';

export async function findDecision(db: Db | Tx, id: string): Promise<PayoutDecision | null> {
  const sql = `SELECT ${COLUMNS} FROM payout_decisions WHERE id = ?`;
  const [decision] = await db.query<PayoutDecision>(sql, [id]);
  return decision ?? null;
}

/** The decisions about one payout, oldest first. */
export async function listDecisions(db: Db, payoutId: string): Promise<PayoutDecision[]> {
  return db.query<PayoutDecision>(
    `SELECT ${COLUMNS} FROM payout_decisions WHERE payout_id = ? ORDER BY created_at, id LIMIT 100`,
    [payoutId],
  );
}

/**
 * Locks the payout, so that decisions about it go one after the other until the end of the transaction.
 */
export async function lockPayout(tx: Tx, id: string): Promise<Payout> {
  const found = Payouts.query().findById(id).forUpdate();
  const [payout] = await tx.query<Payout>(found.toKnexQuery());
  if (payout === undefined) throw new MissingRow(id);
  return payout;
}

export async function noteOutcome(tx: Tx, id: string, outcome: DecisionOutcome): Promise<void> {
  await tx.query(
    'UPDATE payout_decisions SET outcome = ?, decided_at = clock_timestamp() WHERE id = ?',
    [outcome, id],
  );
}

/** The threshold of a payout, and the approvals that count. */
export interface FourEyes {
  threshold: Amount;
  /** Approvals of different operators who may still decide. */
  approvals: number;
}

/** The threshold that the payout exceeds; null when one approval is enough. */
export async function readFourEyes(db: Db | Tx, payoutId: string): Promise<FourEyes | null> {
  const [found] = await db.query<{ threshold: Amount | null; approvals: number }>(
    `SELECT ${THRESHOLD} AS threshold, ${APPROVALS} AS approvals FROM payouts WHERE id = ?`,
    [payoutId],
  );
  if (found === undefined || found.threshold === null) return null;
  return { threshold: found.threshold, approvals: found.approvals };
}

/** What decides whether an operator may decide. */
export interface DeciderFacts {
  mayReview: boolean;
  hadKey: boolean;
  hasCounted: boolean;
  /**
   * The operator who gave the first approval, when it still counts, but not together with one of this
   * operator.
   */
  relatedTo: string | null;
}

/** Reads the facts that decide whether an operator may decide about a payout. */
export async function readDecider(
  db: Db | Tx,
  payoutId: string,
  userId: string,
): Promise<DeciderFacts> {
  const [found] = await db.query<DeciderFacts>(
    `SELECT ${MAY_REVIEW} AS may_review, ${HAD_KEY} AS had_key,
            EXISTS (SELECT FROM payout_decisions d WHERE d.payout_id = payouts.id
                       AND d.user_id = u.id AND d.outcome = 'counted') AS has_counted,
            (SELECT CASE WHEN bool_and(${areRelated('first', 'u')}) THEN min(first.email) END
               FROM payout_decisions d JOIN users first ON first.id = d.user_id
              WHERE d.payout_id = payouts.id AND d.outcome = 'counted' AND first.id <> u.id
                AND ${mayReview('first')}) AS related_to
       FROM payouts CROSS JOIN users u WHERE payouts.id = ? AND u.id = ?`,
    [payoutId, userId],
  );
  return found ?? { mayReview: false, hadKey: false, hasCounted: false, relatedTo: null };
}
