/**
 * Counts what needs an operator, over all accounts: how many objects, since when, and the money at stake. Each count
 * stops early, so the page stays quick.
 */
import type { CaseKind } from '../../domain/cases';
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { Db } from '../transaction';
import { WAITS } from '../payouts/console-payouts';

/** Counts stop here, and a page says "100 or more". */
export const COUNT_MAX = 100;

/** Hours after which a provider's statement counts as not read: it is read every hour. */
const STATEMENT_LATE_HOURS = 2;

/** Minutes after which the ledger counts as not proven: it is proven every five. */
const PROOF_LATE_MINUTES = 60;

/** What needs an operator beside waiting objects and cases. */
export interface OperatorAttention {
  isProofLate: boolean;
  /** Statements that were not read to their end for hours. */
  statementsLate: number;
}

export async function readOperatorAttention(db: Db): Promise<OperatorAttention> {
  const [attention] = await db.query<OperatorAttention>(
    `SELECT (SELECT proven_at < now() - interval '${PROOF_LATE_MINUTES} minutes'
               FROM ledger_proof) AS is_proof_late,
            (SELECT count(*)::integer FROM provider_statements
              WHERE read_at IS NULL
                 OR read_at < now() - interval '${STATEMENT_LATE_HOURS} hours') AS statements_late`,
  );
  if (attention === undefined) throw new Error('the query returned no row');
  return attention;
}

/** SQL for what waits: its table as `x`, with the time since when; `m.mode` is the mode. */
const WAITING = {
  under_review: `x.id, x.currency, x.amount, x.created_at AS since FROM payouts x
    WHERE x.mode = m.mode AND x.status_group = 'open' AND x.review_reasons <> '{}'
      AND x.status = 'under_review' AND NOT x.awaits_batch`,
  overdue: `p.id, p.currency, p.amount, p.created_at AS since FROM payouts p
    WHERE p.mode = m.mode AND ${WAITS.overdue}`,
  stuck: `p.id, p.currency, p.amount, coalesce(p.processing_since, p.updated_at) AS since FROM payouts p
    WHERE p.mode = m.mode AND ${WAITS.stuck}`,
  in_doubt: `p.id, p.currency, p.amount, p.in_doubt_since AS since FROM payouts p
    WHERE p.mode = m.mode AND ${WAITS.in_doubt}`,
  paused: `x.id, x.currency, x.amount, x.updated_at AS since FROM payouts x
    WHERE x.mode = m.mode AND x.wake_after IS NOT NULL AND x.status = 'approved'
      AND NOT EXISTS (SELECT FROM screening_holds h WHERE h.payout_id = x.id)`,
  screening: `x.id, x.currency, x.amount, h.since FROM screening_holds h JOIN payouts x ON x.id = h.payout_id
    WHERE x.mode = m.mode AND x.status_group = 'open' AND h.kind = 'review'`,
  batch_under_review: `x.id, t ->> 'currency' AS currency, (t ->> 'amount')::numeric AS amount,
    x.created_at AS since FROM payout_batches x CROSS JOIN LATERAL jsonb_array_elements(x.totals) t
    WHERE x.mode = m.mode AND x.closed_at IS NULL AND x.status = 'under_review' AND x.ending IS NULL`,
  payment_on_hold: `x.id, x.currency, x.amount, x.updated_at AS since FROM payments x
    WHERE x.mode = m.mode AND x.status = 'on_hold' AND x.id > ''`,
} as const;

export type WaitCause = keyof typeof WAITING;

/** A count with its money, which stops at COUNT_MAX. */
export interface Waiting {
  count: number;
  /** The time at which the longest wait began. */
  since: Date;
  sums: { currency: string; amount: Amount }[];
}

/** The waiting objects of one cause and mode. */
export interface WaitingObjects extends Waiting {
  cause: WaitCause;
  mode: Mode;
}

/** The longest waiting of each cause and mode, live first. */
export function readWaiting(db: Db): Promise<WaitingObjects[]> {
  const causes = Object.entries(WAITING).map(
    ([cause, sql], place) => `SELECT ${place} AS place, '${cause}' AS cause, m.mode, w.*
      FROM (VALUES ('live'), ('test')) AS m (mode) CROSS JOIN LATERAL (
        SELECT ${sql} ORDER BY since LIMIT ${COUNT_MAX}) AS w`,
  );
  return db.query<WaitingObjects>(
    `WITH waiting AS (${causes.join(' UNION ALL ')}),
          sums AS (SELECT place, cause, mode, currency, sum(amount) AS amount
                     FROM waiting GROUP BY place, cause, mode, currency)
     SELECT w.cause, w.mode, count(DISTINCT w.id)::integer AS count, min(w.since) AS since,
            (SELECT ${SUMS} FROM sums s
              WHERE s.place = w.place AND s.mode = w.mode) AS sums
       FROM waiting w GROUP BY w.place, w.cause, w.mode ORDER BY w.mode, w.place`,
  );
}

const SUMS = `coalesce(jsonb_agg(jsonb_build_object('currency', s.currency, 'amount', s.amount::text)
  ORDER BY s.currency) FILTER (WHERE s.currency IS NOT NULL), '[]')`;

/** The open cases of one kind. */
export interface OpenCases extends Waiting {
  kind: CaseKind;
}

/** The open cases of each kind, with the money of the payouts and payments that they are about. */
export function readOpenCases(db: Db, kinds: readonly CaseKind[]): Promise<OpenCases[]> {
  return db.query<OpenCases>(
    `WITH found AS MATERIALIZED (
       SELECT k.place, c.kind, c.object_id, c.created_at
         FROM unnest(?::text[]) WITH ORDINALITY AS k (kind, place) CROSS JOIN LATERAL (
           SELECT * FROM cases WHERE kind = k.kind AND resolved_at IS NULL
            ORDER BY created_at LIMIT ${COUNT_MAX}) AS c),
       sums AS (
         SELECT f.kind, coalesce(p.currency, y.currency) AS currency,
                sum(coalesce(p.amount, y.amount)) AS amount
           FROM found f LEFT JOIN payouts p ON p.id = f.object_id
           LEFT JOIN payments y ON y.id = f.object_id GROUP BY 1, 2)
     SELECT f.kind, count(*)::integer AS count, min(f.created_at) AS since,
            (SELECT ${SUMS} FROM sums s WHERE s.kind = f.kind) AS sums
       FROM found f GROUP BY f.place, f.kind ORDER BY f.place`,
    [[...kinds]],
  );
}
