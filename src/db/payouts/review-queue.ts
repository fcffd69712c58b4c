/**
 * The queues and the context of a payout, which operators read to decide about payouts of all accounts.
 */
import type { Amount } from '../../domain/money';
import type { Mode } from '../../domain/mode';
import type { Payout } from '../../domain/payout';
import type { Verdict } from '../../domain/screening';
import type { Db } from '../transaction';
import { exactTime, type ListPage, type Page, pageOf } from '../lists';
import { MAY_REVIEW } from './payout-decisions';
import { wasPaidBefore } from './payout-facts';
import { AWAITS_SCREENING, SCREENING_VERDICT } from '../screening/screening';

/** The figures behind the review rules, as they are now. */
export interface ReviewFigures {
  accountName: string;
  autoApproveMax: Amount | null;
  autoApproveDailyMax: Amount | null;
  /** The total approved without an operator in the last 24 hours. */
  autoApproved: Amount | null;
  keyCreatedAt: Date;
  /** The threshold that the amount exceeds; null if one approval is enough. */
  fourEyesThreshold: Amount | null;
  /** Email addresses of those whose approval counts, while a second one is missing. */
  approvedBy: string[];
  /** What the screening says now; null means nobody screens the payout. */
  screening: Verdict | 'no_answer' | null;
  /** Why the screening holds the payout after its approval; null if it does not. */
  heldFor: 'review' | 'no_answer' | null;
  /** Whether a completed payout of the account in this mode went to the same destination. */
  destinationPaidBefore: boolean;
}

/** A payout under review with its figures. */
export type ReviewedPayout = Payout & ReviewFigures;

/** The filters of the queue. */
export interface QueueFilters {
  mode?: Mode;
  accountId?: string;
  currency?: string;
}

/** The order of the queue. Amounts of different currencies are not compared. */
export const QUEUE_ORDERS = ['longest_waiting', 'newest', 'largest', 'smallest'] as const;
export type QueueOrder = (typeof QUEUE_ORDERS)[number];

const ORDER_SQL: Record<QueueOrder, (p: string) => string> = {
  longest_waiting: (p) => `${p}created_at, ${p}id`,
  newest: (p) => `${p}created_at DESC, ${p}id DESC`,
  largest: (p) => `${p}currency, ${p}amount DESC, ${p}id`,
  smallest: (p) => `${p}currency, ${p}amount, ${p}id`,
};

/** A question for a page of the queue. */
export interface QueueRequest extends Page {
  /** By default the longest waiting first. Only that order has further pages. */
  order?: QueueOrder;
  filters: QueueFilters;
}

const FIGURES = `a.name AS account_name, policy.auto_approve_max, policy.auto_approve_daily_max,
  day.auto_approved, coalesce(k.secret_changed_at, k.created_at, maker.created_at) AS key_created_at, t.amount AS four_eyes_threshold,
  ARRAY(SELECT d.email FROM payout_decisions d JOIN users u ON u.id = d.user_id
         WHERE d.payout_id = p.id AND d.outcome = 'counted' AND ${MAY_REVIEW}
         ORDER BY d.created_at) AS approved_by,
  (SELECT ${SCREENING_VERDICT} FROM payouts WHERE payouts.id = p.id) AS screening,
  (SELECT h.kind FROM payouts JOIN screening_holds h ON h.payout_id = payouts.id
    WHERE payouts.id = p.id AND ${AWAITS_SCREENING}) AS held_for,
  ${wasPaidBefore('p')} AS destination_paid_before`;

const JOINS = `JOIN accounts a ON a.id = p.account_id
  -- A payout that is requested on the dashboard has a person instead of a key.
  LEFT JOIN api_keys k ON k.id = p.api_key_id
  LEFT JOIN users maker ON maker.id = p.api_key_id
  LEFT JOIN four_eyes_thresholds t ON t.currency = p.currency AND p.amount > t.amount
  LEFT JOIN LATERAL payout_policy(p.account_id, p.currency) policy ON true
  LEFT JOIN LATERAL payout_used(p.account_id, p.mode, p.currency) day ON true`;

/** The payouts under review, the longest waiting first. */
export async function listReviewQueue(
  db: Db,
  { limit, after, filters, order = 'longest_waiting' }: QueueRequest,
): Promise<ListPage<ReviewedPayout>> {
  const orderBy = ORDER_SQL[order];
  const conditions = (
    [
      ['p.mode = ?', filters.mode],
      ['p.account_id = ?', filters.accountId],
      ['p.currency = ?', filters.currency],
      ['p.created_at >= ?::timestamptz', after?.createdAt],
      ['(p.created_at, p.id) > (?::timestamptz, ?)', after?.createdAt, after?.id],
    ] as const
  ).filter(([, value]) => value !== undefined);
  // The page is selected first, because the figures are read for its rows only.
  const found = pageOf(
    await db.query<ReviewedPayout & { position: string }>(
      `WITH page AS MATERIALIZED (
         SELECT p.* FROM payouts p
          WHERE p.status_group = 'open' AND p.review_reasons <> '{}' AND p.status = 'under_review'
            AND NOT p.awaits_batch
            ${conditions.map(([sql]) => `AND ${sql}`).join(' ')}
          ORDER BY ${orderBy('p.')} LIMIT ?)
       SELECT p.*, ${exactTime('p.created_at')} AS position, ${FIGURES} FROM page p ${JOINS}
        ORDER BY ${orderBy('p.')}`,
      [...conditions.flatMap(([, ...values]) => values as string[]), limit + 1],
    ),
    limit,
  );
  return order === 'longest_waiting' ? found : { ...found, next: null };
}

/** Payouts under review by their ids, in the order of the queue. */
export async function findReviewed(db: Db, ids: readonly string[]): Promise<ReviewedPayout[]> {
  return db.query<ReviewedPayout>(
    `SELECT p.*, ${FIGURES} FROM payouts p ${JOINS} WHERE p.id = ANY (?::text[])
      ORDER BY p.created_at, p.id`,
    [[...ids]],
  );
}

/** A payout in doubt with the account's name. */
export type DoubtfulPayout = Payout & { accountName: string };

/** Payouts of which it is not known whether the provider has them, the oldest doubt first. */
export async function listInDoubt(
  db: Db,
  { limit, after, mode }: Omit<QueueRequest, 'filters'> & { mode: Mode | null },
): Promise<ListPage<DoubtfulPayout>> {
  const from = after === null ? [] : [after.createdAt, after.id];
  return pageOf(
    await db.query<DoubtfulPayout & { position: string }>(
      `SELECT p.*, ${exactTime('p.in_doubt_since')} AS position, a.name AS account_name
         FROM payouts p JOIN accounts a ON a.id = p.account_id
        WHERE p.in_doubt_since IS NOT NULL
          ${mode === null ? '' : 'AND p.mode = ?'}
          ${after === null ? '' : 'AND (p.in_doubt_since, p.id) > (?::timestamptz, ?)'}
        ORDER BY p.in_doubt_since, p.id LIMIT ?`,
      [...(mode === null ? [] : [mode]), ...from, limit + 1],
    ),
    limit,
  );
}

/** Only this many of the account's newest payouts are looked through. */
const PAYOUTS_MAX = 500;
/** The number of other merchants with the same destination. */
const OTHERS_MAX = 5;

/** What else the account and others have sent to the destination. */
export interface PayoutContext {
  available: Amount | null;
  reserved: Amount | null;
  /** Completed payouts of the account to the destination, at most 500. */
  paidBefore: number;
  lastPaidAt: Date | null;
  /** Names of at most five other accounts with payouts to the destination. */
  otherAccounts: string[];
  /**
   * The median of the account's completed payouts in this currency, of the newest 500; null if there are
   * none.
   */
  medianAmount: Amount | null;
  /** Other destinations that the account has paid, with the same beginning and end. */
  lookAlikes: string[];
  key: {
    name: string | null;
    /** The user who requested it on the dashboard; null if it came with an API key. */
    person: string | null;
    createdAt: string;
    createdBy: string | null;
    lastUsedAt: string | null;
    lastUsedAddress: string | null;
    revokedAt: string | null;
  };
}

export async function readPayoutContext(db: Db, id: string): Promise<PayoutContext> {
  const [context] = await db.query<PayoutContext>(
    `WITH RECURSIVE q AS MATERIALIZED (SELECT * FROM payouts WHERE id = ?),
       others (account_id) AS (
         (SELECT min(p.account_id) FROM payouts p, q WHERE p.destination_value = q.destination_value)
         UNION ALL
         SELECT (SELECT min(p.account_id) FROM payouts p, q
                  WHERE p.destination_value = q.destination_value AND p.account_id > o.account_id)
           FROM others o WHERE o.account_id IS NOT NULL),
       -- Subqueries instead of a join let the index give the newest without a sort of all.
       newest AS MATERIALIZED (
         SELECT p.* FROM payouts p
          WHERE p.account_id = (SELECT account_id FROM q) AND p.mode = (SELECT mode FROM q)
          ORDER BY p.created_at DESC, p.id DESC LIMIT ${PAYOUTS_MAX}),
       paid AS MATERIALIZED (
         -- The last change of these payouts was the completion.
         SELECT p.updated_at FROM payouts p, q
          WHERE p.destination_value = q.destination_value AND p.account_id = q.account_id
            AND p.mode = q.mode AND p.status = 'completed' AND p.id <> q.id LIMIT ${PAYOUTS_MAX})
     SELECT b.available, b.reserved,
            (SELECT count(*)::integer FROM paid) AS paid_before,
            (SELECT max(updated_at) FROM paid) AS last_paid_at,
            ARRAY(SELECT a.name FROM (SELECT account_id FROM others LIMIT ${OTHERS_MAX + 1}) o
                    JOIN accounts a ON a.id = o.account_id
                   WHERE a.id <> q.account_id LIMIT ${OTHERS_MAX}) AS other_accounts,
            (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY n.amount) FROM newest n
              WHERE n.status = 'completed' AND n.currency = q.currency) AS median_amount,
            ARRAY(SELECT DISTINCT n.destination_value FROM newest n
                   WHERE n.status = 'completed' AND n.destination_value <> q.destination_value
                     AND left(n.destination_value, 5) = left(q.destination_value, 5)
                     AND right(n.destination_value, 4) = right(q.destination_value, 4)
                   LIMIT 3) AS look_alikes,
            jsonb_build_object('name', k.name, 'person', maker.email,
              'createdAt', coalesce(k.secret_changed_at, k.created_at, maker.created_at),
              'createdBy', (SELECT l.actor FROM audit_log l WHERE l.object_id = q.api_key_id
                               AND l.action = 'api_key.create' LIMIT 1),
              'lastUsedAt', k.last_used_at, 'lastUsedAddress', host(k.last_used_address),
              'revokedAt', k.revoked_at) AS key
       FROM q LEFT JOIN api_keys k ON k.id = q.api_key_id
       LEFT JOIN users maker ON maker.id = q.api_key_id
       LEFT JOIN balances b ON b.account_id = q.account_id AND b.mode = q.mode
                           AND b.currency = q.currency`,
    [id],
  );
  if (context === undefined) throw new Error(`${id} does not exist`);
  return context;
}
