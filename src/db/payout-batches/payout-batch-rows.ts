/**
 * The rows of batches: payouts that wait for their batch. Only the functions of this file change a row
 * that its batch has not released: the guarded transitions of payouts leave such rows out.
 */
import type { Amount } from '../../domain/money';
import type { Payout } from '../../domain/payout';
import { OPEN_PAYOUT_GROUP } from '../../domain/payout';
import type { PayoutBatchProgress } from '../../domain/payout-batch';
import { newId } from '../../platform/lib/new-id';
import { columnOf } from '../column-names';
import { payoutRow } from '../payouts/payouts';
import type { Db, Reader, Tx } from '../transaction';
import type { NewEvent } from '../webhooks/events';
import type { BalanceKey, PostResult } from '../ledger/ledger';
import { MAY_LEAVE_OUT } from './payout-batches';
import { AWAITS_SCREENING_DECISION } from '../screening/screening';

export type BatchRow = Payout & { batchRow: number };

/** Rows of one statement: so many that a batch needs few statements, and so few that each needs little memory. */
const ROWS_AT_ONCE = 500;

/**
 * Inserts the rows of a batch, which nothing but the batch may change until it releases them.
 * @param payouts in the order of the batch
 * @returns the number that was inserted; fewer when a reference is already used
 */
export async function insertBatchRows(tx: Tx, payouts: readonly Payout[]): Promise<number> {
  let count = 0;
  for (let first = 0; first < payouts.length; first += ROWS_AT_ONCE) {
    const some = payouts.slice(first, first + ROWS_AT_ONCE).map(payoutRow);
    const columns = Object.keys(some[0] ?? {})
      .map(columnOf)
      .join(', ');
    const inserted = await tx.query(
      `INSERT INTO payouts (${columns}, workflow_checked_at)
       SELECT ${columns}, 'infinity' FROM jsonb_populate_recordset(NULL::payouts, ?::jsonb)
       ON CONFLICT (account_id, mode, reference) DO NOTHING RETURNING batch_row`,
      [JSON.stringify(some.map(valuesOf))],
    );
    count += inserted.length;
  }
  return count;
}

/** The values of the row by their columns. Those that are null are left out. */
function valuesOf(row: object): Record<string, unknown> {
  const values = Object.entries(row).filter(([, value]) => value !== null);
  return Object.fromEntries(values.map(([field, value]) => [columnOf(field), value]));
}

/**
 * Inserts the first events of the rows. They are in the feed and have no webhooks, because ten thousand
 * webhooks would tell nothing more.
 */
export async function insertRowEvents(
  tx: Tx,
  payouts: readonly Payout[],
  eventOf: (payout: Payout) => NewEvent,
): Promise<void> {
  for (let first = 0; first < payouts.length; first += ROWS_AT_ONCE) {
    const some = payouts.slice(first, first + ROWS_AT_ONCE).map(eventOf);
    await tx.query(
      `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, run_id, created_at)
       SELECT e.id, ?, ?, e.type, e.object_id, 1, e.body, ?, ?
         FROM unnest(?::text[], ?::text[], ?::text[], ?::bytea[]) AS e (id, type, object_id, body)`,
      [
        some[0]?.accountId ?? '',
        some[0]?.mode ?? '',
        some[0]?.runId ?? null,
        some[0]?.createdAt ?? null,
        some.map(({ id }) => id),
        some.map(({ type }) => type),
        some.map(({ objectId }) => objectId),
        some.map(({ body }) => body),
      ],
    );
  }
}

/** A payout whose funds are reserved together with others. */
export interface ReservedRow {
  operationKey: string;
  sourceId: string;
  description: string;
  amount: string;
}

/**
 * Must be the last statement of its transaction, because from here to COMMIT the balance is locked.
 */
export async function reserveRows(
  tx: Tx,
  { accountId, mode, currency }: BalanceKey,
  reserved: readonly ReservedRow[],
): Promise<Pick<PostResult, 'available'> & { outcome: 'posted' | 'insufficient' }> {
  const lines = reserved.map(({ operationKey, sourceId, description, amount }) => ({
    id: newId('transaction'),
    operation_key: operationKey,
    source_id: sourceId,
    description,
    amount,
  }));
  const [posted] = await tx.query<Awaited<ReturnType<typeof reserveRows>>>(
    'SELECT outcome, available FROM ledger_reserve_rows(?, ?, ?, ?::jsonb)',
    [accountId, mode, currency, JSON.stringify(lines)],
  );
  if (posted === undefined) throw new Error('ledger_reserve_rows returned no row');
  return posted;
}

/** The rows in the order of the batch, also those that were left out. */
export async function listBatchRows(db: Db | Tx, batchId: string): Promise<Payout[]> {
  return db.query<Payout>('SELECT * FROM payouts WHERE batch_id = ? ORDER BY batch_row', [batchId]);
}

/** The rows of the manifest, in the order of the batch: those that were not left out. */
export async function listManifestRows(db: Db | Tx, batchId: string): Promise<BatchRow[]> {
  return db.query<BatchRow>(
    `SELECT p.* FROM payout_batches b JOIN payouts p ON p.batch_id = b.id
      WHERE b.id = ? AND p.batch_row <> ALL (b.left_out_rows) ORDER BY p.batch_row`,
    [batchId],
  );
}

/** Reads the same rows as `listManifestRows`, some at a time, because all rows of a large batch take tens of megabytes. */
export async function* readManifestRows(db: Db, batchId: string): AsyncGenerator<BatchRow> {
  let last = 0;
  for (;;) {
    const some = await db.query<BatchRow>(
      `SELECT p.* FROM payout_batches b JOIN payouts p ON p.batch_id = b.id
        WHERE b.id = ? AND p.batch_row > ? AND p.batch_row <> ALL (b.left_out_rows)
        ORDER BY p.batch_row LIMIT ${ROWS_AT_ONCE}`,
      [batchId, last],
    );
    yield* some;
    if (some.length < ROWS_AT_ONCE) return;
    last = some.at(-1)?.batchRow ?? last;
  }
}

/** The sums that the ledger has for the rows, by currency. */
export async function readBatchLedger(
  db: Reader,
  batchId: string,
): Promise<{ currency: string; reserved: Amount; settled: Amount; released: Amount }[]> {
  return db.query(
    `SELECT t.currency,
            coalesce(sum(e.amount) FILTER (WHERE t.type = 'payout_reserve'), 0)::numeric(38,8)
              AS reserved,
            coalesce(sum(e.amount) FILTER (WHERE t.type = 'payout_settlement'), 0)::numeric(38,8)
              AS settled,
            coalesce(sum(e.amount) FILTER (WHERE t.type = 'payout_release'), 0)::numeric(38,8)
              AS released
       FROM payouts p
       JOIN ledger_transactions t ON t.source_id = p.id
       JOIN ledger_entries e ON e.transaction_id = t.id AND e.account = 'reserved'
      WHERE p.batch_id = ? GROUP BY t.currency ORDER BY t.currency`,
    [batchId],
  );
}

export async function readBatchProgress(db: Reader, batchId: string): Promise<PayoutBatchProgress> {
  return (await countRows(db, batchId)).progress;
}

/** @returns also the released rows that the provider has not accepted yet */
export async function countRows(
  db: Reader,
  batchId: string,
): Promise<{ progress: PayoutBatchProgress; submitting: number }> {
  const [found] = await db.query<PayoutBatchProgress & { submitting: number }>(
    `SELECT count(*) FILTER (WHERE NOT p.awaits_batch AND p.status = 'approved')::int AS submitting,
            count(*) FILTER (WHERE p.awaits_batch)::int AS waiting,
            count(*) FILTER (WHERE NOT p.awaits_batch AND p.status_group = '${OPEN_PAYOUT_GROUP}')::int
              AS processing,
            count(*) FILTER (WHERE p.status = 'completed')::int AS sent,
            count(*) FILTER (WHERE p.status = 'failed')::int AS failed,
            count(*) FILTER (WHERE p.status IN ('cancelled', 'rejected'))::int
              - cardinality(b.left_out_rows) AS returned,
            cardinality(b.left_out_rows) AS left_out
       FROM payout_batches b JOIN payouts p ON p.batch_id = b.id
      WHERE b.id = ? GROUP BY b.id`,
    [batchId],
  );
  if (found === undefined) throw new Error('the query returned no row');
  const { submitting, ...progress } = found;
  return { progress, submitting };
}

/** Released rows that wait for a person: for a decision about their screening, or in doubt for a while. */
export async function countHeldRows(db: Db, batchId: string): Promise<number> {
  const [found] = await db.query<{ held: number }>(
    `SELECT count(*)::int AS held FROM payouts
      WHERE batch_id = ? AND NOT awaits_batch AND status = 'approved'
        AND (in_doubt_since < now() - interval '15 minutes' OR ${AWAITS_SCREENING_DECISION})`,
    [batchId],
  );
  return found?.held ?? 0;
}

/**
 * Releases the next rows of a batch that is being processed. The lock puts it in order with a stop, whose
 * answer counts what was released. The condition `awaits_batch` of the row itself is the one that PostgreSQL
 * checks again after it waited for another transaction that took the row.
 * @returns them in the order of the batch
 */
export async function releaseRows(tx: Tx, batchId: string, limit: number): Promise<BatchRow[]> {
  const processed = await tx.query(
    `SELECT FROM payout_batches
      WHERE id = ? AND status = 'processing' AND ending IS NULL FOR NO KEY UPDATE`,
    [batchId],
  );
  if (processed.length === 0) return [];
  const released = await tx.query<BatchRow>(
    `UPDATE payouts SET awaits_batch = false, workflow_checked_at = clock_timestamp()
      WHERE id IN (SELECT id FROM payouts WHERE batch_id = ? AND awaits_batch
                    ORDER BY batch_row LIMIT ?)
        AND awaits_batch
     RETURNING *`,
    [batchId, limit],
  );
  return released.sort((one, other) => one.batchRow - other.batchRow);
}

/** The next rows to return, of a batch that was ended early. Others wait for them. */
export async function takeRowsToReturn(tx: Tx, batchId: string, limit: number): Promise<Payout[]> {
  return tx.query<Payout>(
    `UPDATE payouts SET awaits_batch = false
      WHERE id IN (SELECT id FROM payouts WHERE batch_id = ? AND awaits_batch
                    ORDER BY batch_row LIMIT ?)
        AND awaits_batch
        AND EXISTS (SELECT FROM payout_batches WHERE id = ? AND ending IS NOT NULL)
     RETURNING *`,
    [batchId, limit, batchId],
  );
}

/**
 * Takes rows out of a batch that nobody has approved, to return them. @param numbers counted from 1; a row that
 * was left out before is not taken again
 */
export async function takeRowsToLeaveOut(
  tx: Tx,
  batchId: string,
  numbers: readonly number[],
): Promise<BatchRow[]> {
  return tx.query<BatchRow>(
    `UPDATE payouts SET awaits_batch = false
      WHERE batch_id = ? AND batch_row = ANY (?::integer[]) AND awaits_batch
        AND EXISTS (SELECT FROM payout_batches WHERE ${MAY_LEAVE_OUT})
     RETURNING *`,
    [batchId, numbers, batchId],
  );
}

/** Released rows that have not ended, oldest first: their workflows must be there. */
export async function listOpenReleasedRows(db: Db, batchId: string): Promise<Payout[]> {
  return db.query<Payout>(
    `SELECT * FROM payouts
      WHERE batch_id = ? AND NOT awaits_batch AND status_group = '${OPEN_PAYOUT_GROUP}'
      ORDER BY batch_row`,
    [batchId],
  );
}

/** Rows that a review rule names come first, then the others, in the order of the batch. */
export async function listRowsToReview(
  db: Db,
  batchId: string,
  limit: number,
): Promise<BatchRow[]> {
  return db.query(
    `SELECT * FROM payouts WHERE batch_id = ?
      ORDER BY cardinality(review_reasons) DESC, batch_row LIMIT ?`,
    [batchId, limit],
  );
}
