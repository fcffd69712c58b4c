/**
 * Counts what needs an operator, over all accounts. Each count stops early, so the page stays quick.
 */
import type { CaseKind } from '../../domain/cases';
import type { Mode } from '../../domain/mode';
import type { Db } from '../transaction';

/** Counts stop here, and a page says "100 or more". */
export const COUNT_MAX = 100;

/** Hours after which a provider's statement counts as not read: it is read every hour. */
const STATEMENT_LATE_HOURS = 2;

/** Minutes after which the ledger counts as not proven: it is proven every five. */
const PROOF_LATE_MINUTES = 60;

export interface OperatorAttention {
  cases: { kind: CaseKind; count: number }[];
  payouts: { mode: Mode; underReview: number }[];
  isProofLate: boolean;
  /** Statements that were not read to their end for hours. */
  statementsLate: number;
}

export async function readOperatorAttention(
  db: Db,
  kinds: readonly CaseKind[],
): Promise<OperatorAttention> {
  const openPayouts = (condition: string) =>
    `(SELECT count(*)::integer FROM (
        SELECT FROM payouts WHERE status_group = 'open' AND mode = m.mode AND ${condition}
         LIMIT ${COUNT_MAX}) AS found)`;
  const [attention] = await db.query<OperatorAttention>(
    `SELECT coalesce((
              SELECT jsonb_agg(jsonb_build_object('kind', k.kind, 'count', n.count) ORDER BY k.place)
                FROM unnest(?::text[]) WITH ORDINALITY AS k(kind, place)
               CROSS JOIN LATERAL (
                 SELECT count(*) FROM (
                   SELECT FROM cases WHERE kind = k.kind AND resolved_at IS NULL
                    LIMIT ${COUNT_MAX}) AS found) AS n
               WHERE n.count > 0), '[]') AS cases,
            (SELECT jsonb_agg(jsonb_build_object('mode', m.mode,
                      'underReview', ${openPayouts(`review_reasons <> '{}' AND status = 'under_review' AND NOT awaits_batch`)})
                      ORDER BY m.mode)
               FROM (VALUES ('live'), ('test')) AS m(mode)) AS payouts,
            (SELECT proven_at < now() - interval '${PROOF_LATE_MINUTES} minutes'
               FROM ledger_proof) AS is_proof_late,
            (SELECT count(*)::integer FROM provider_statements
              WHERE read_at IS NULL
                 OR read_at < now() - interval '${STATEMENT_LATE_HOURS} hours') AS statements_late`,
    [[...kinds]],
  );
  if (attention === undefined) throw new Error('the query returned no row');
  return attention;
}
