/** What the gateway has recorded under the references of a merchant's list, and what the list does not have. */
import type { Reconciled, RecordedObjects } from '../../domain/merchant-reconciliation';
import type { Owner } from '../../domain/mode';
import type { Reader } from '../transaction';

/** What has moved is what a customer has paid, what a payout has sent, and what a refund has returned. */
const SOURCES: Record<
  Reconciled,
  { table: string; reference: string; status: string; moved: string }
> = {
  payment: {
    table: 'payments',
    reference: 'p.reference',
    status: 'p.status',
    moved: 'p.credited_amount',
  },
  payout: {
    table: 'payouts',
    reference: 'p.reference',
    status: 'p.status',
    moved: `CASE WHEN p.status = 'completed' THEN p.amount ELSE 0 END`,
  },
  refund: {
    table: 'payment_refunds',
    reference: 'p.merchant_reference',
    status: `CASE p.state WHEN 'done' THEN 'completed' WHEN 'waived' THEN 'completed'
      WHEN 'refused' THEN 'failed' ELSE 'pending' END`,
    moved: `CASE WHEN p.state = 'done' THEN p.amount ELSE 0 END`,
  },
};

/** One row for each reference and currency. The condition on the ID is the one of the index of references. */
export async function readRecorded(
  db: Reader,
  { accountId, mode }: Owner,
  kind: Reconciled,
  references: readonly string[],
): Promise<RecordedObjects[]> {
  const { table, reference, status, moved } = SOURCES[kind];
  return db.query<RecordedObjects>(
    `SELECT reference, currency, sum(moved)::numeric(38,8)::text AS amount, count(*)::integer AS objects,
            (array_agg(id ORDER BY moved > 0 DESC, created_at DESC, id DESC))[1] AS id,
            (array_agg(status ORDER BY moved > 0 DESC, created_at DESC, id DESC))[1] AS status
       FROM (SELECT p.id, p.created_at, p.currency, ${reference} AS reference, ${status} AS status,
                    (${moved})::numeric(38,8) AS moved
               FROM ${table} p
              WHERE p.account_id = ? AND p.mode = ? AND ${reference} = ANY (?) AND p.id > '') AS o
      GROUP BY reference, currency ORDER BY reference, sum(moved) DESC, currency`,
    [accountId, mode, references],
  );
}

export interface MissingPeriod {
  /** ISO 8601, inclusive. */
  createdFrom: string;
  createdTo: string;
  max: number;
}

/** Objects of the period for which money has moved, and that have none of the references; oldest first. */
export async function readMissing(
  db: Reader,
  { accountId, mode }: Owner,
  kind: Reconciled,
  references: readonly string[],
  { createdFrom, createdTo, max }: MissingPeriod,
): Promise<RecordedObjects[]> {
  const { table, reference, status, moved } = SOURCES[kind];
  return db.query<RecordedObjects>(
    `SELECT ${reference} AS reference, p.currency, (${moved})::numeric(38,8)::text AS amount,
            1 AS objects, p.id, ${status} AS status
       FROM ${table} p
      WHERE p.account_id = ? AND p.mode = ? AND p.created_at >= ? AND p.created_at <= ?
        AND ${moved} > 0 AND (${reference} IS NULL OR NOT ${reference} = ANY (?))
      ORDER BY p.created_at, p.id LIMIT ?`,
    [accountId, mode, createdFrom, createdTo, references, max],
  );
}
