/**
 * Batches of payouts and their rows. Only the functions of this file change a row that its batch has
 * not released: the guarded transitions of payouts leave such rows out.
 */
import type { Mode } from '../../domain/mode';
import type { Amount } from '../../domain/money';
import type { Payout } from '../../domain/payout';
import { OPEN_PAYOUT_GROUP } from '../../domain/payout';
import {
  nextPayoutBatchStatus,
  type PayoutBatch,
  type PayoutBatchEnding,
  type PayoutBatchProgress,
  payoutBatchStatusesBefore,
  type PayoutBatchTrigger,
} from '../../domain/payout-batch';
import { newId } from '../../lib/new-id';
import { MissingRow, rows, sqlList, type Db, type Reader, type Tx } from '../transaction';
import type { BalanceKey, PostResult } from './ledger';
import type { NewEvent } from './events';
import { exactTime, type ListPage, type ListQuery, pageOf } from './lists';

/** This is enough for few statements, and few enough for a statement of a few megabytes. */
const ROWS_AT_ONCE = 2_000;

const COLUMNS = `id, account_id, mode, reference, status, description, row_count, totals,
  manifest_sha256, api_key_id, review_reasons, approved_by, approved_at, ending, ended_by,
  ending_reason, ending_at, closed_at, closed_progress, sequence, created_at, updated_at`;

export async function findPayoutBatch(db: Reader, id: string): Promise<PayoutBatch | null> {
  const sql = `SELECT ${COLUMNS} FROM payout_batches WHERE id = ?`;
  const [found] = await rows<PayoutBatch>(db, sql, [id]);
  return found ?? null;
}

/** The id of the batch that uses the reference. */
export async function findBatchByReference(
  db: Reader,
  { accountId, mode, reference }: Pick<PayoutBatch, 'accountId' | 'mode' | 'reference'>,
): Promise<string | null> {
  const [found] = await rows<{ id: string }>(
    db,
    'SELECT id FROM payout_batches WHERE account_id = ? AND mode = ? AND reference = ?',
    [accountId, mode, reference],
  );
  return found?.id ?? null;
}

/** Locks the batch, so that its changes go one after the other until the end of the transaction. */
export async function lockPayoutBatch(tx: Tx, id: string): Promise<PayoutBatch> {
  const sql = `SELECT ${COLUMNS} FROM payout_batches WHERE id = ? FOR UPDATE`;
  const [found] = await rows<PayoutBatch>(tx, sql, [id]);
  if (found === undefined) throw new MissingRow(id);
  return found;
}

/** @returns false, and nothing is written, when the reference is already used */
export async function insertPayoutBatch(tx: Tx, batch: PayoutBatch): Promise<boolean> {
  const inserted = await rows(
    tx,
    `INSERT INTO payout_batches (id, account_id, mode, reference, status, description, row_count,
                                 totals, manifest_sha256, api_key_id, review_reasons, created_at,
                                 updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?, ?::text[], ?, ?)
     ON CONFLICT (account_id, mode, reference) DO NOTHING RETURNING id`,
    [
      batch.id,
      batch.accountId,
      batch.mode,
      batch.reference,
      batch.status,
      batch.description,
      batch.rowCount,
      JSON.stringify(batch.totals),
      batch.manifestSha256,
      batch.apiKeyId,
      batch.reviewReasons,
      batch.createdAt,
      batch.updatedAt,
    ],
  );
  return inserted.length > 0;
}

const ROW_COLUMNS = `id, account_id, mode, reference, status, provider, amount, currency, network,
  destination_type, destination_value, destination_memo, service_fee, network_fee, total_debit,
  fee_terms, description, metadata, api_key_id, review_reasons, sequence, created_at, updated_at,
  batch_id, batch_row, awaits_batch, recipient_id`;

/**
 * Inserts the rows of a batch, which nothing but the batch may change until it releases them.
 * @param payouts in the order of the batch
 * @returns the number that was inserted; fewer when a reference is already used
 */
export async function insertBatchRows(
  tx: Tx,
  batchId: string,
  payouts: readonly Payout[],
): Promise<number> {
  let count = 0;
  for (let first = 0; first < payouts.length; first += ROWS_AT_ONCE) {
    const some = payouts.slice(first, first + ROWS_AT_ONCE).map((payout, index) => ({
      ...rowOf(payout),
      batch_id: batchId,
      batch_row: first + index + 1,
      awaits_batch: true,
    }));
    const inserted = await rows(
      tx,
      `INSERT INTO payouts (${ROW_COLUMNS}, workflow_checked_at)
       SELECT ${ROW_COLUMNS}, 'infinity' FROM jsonb_populate_recordset(NULL::payouts, ?::jsonb)
       ON CONFLICT (account_id, mode, reference) DO NOTHING RETURNING batch_row`,
      [JSON.stringify(some)],
    );
    count += inserted.length;
  }
  return count;
}

function rowOf(payout: Payout) {
  return {
    id: payout.id,
    account_id: payout.accountId,
    mode: payout.mode,
    reference: payout.reference,
    status: payout.status,
    provider: payout.provider,
    amount: payout.amount,
    currency: payout.currency,
    network: payout.network,
    destination_type: payout.destinationType,
    destination_value: payout.destinationValue,
    destination_memo: payout.destinationMemo,
    service_fee: payout.serviceFee,
    network_fee: payout.networkFee,
    total_debit: payout.totalDebit,
    fee_terms: payout.feeTerms,
    description: payout.description,
    metadata: payout.metadata,
    recipient_id: payout.recipientId,
    api_key_id: payout.apiKeyId,
    review_reasons: payout.reviewReasons,
    sequence: payout.sequence,
    created_at: payout.createdAt,
    updated_at: payout.updatedAt,
  };
}

/**
 * Inserts the first events of the rows. They are in the feed and have no webhooks, because ten thousand
 * webhooks would tell nothing more.
 */
export async function insertRowEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  for (let first = 0; first < events.length; first += ROWS_AT_ONCE) {
    const some = events.slice(first, first + ROWS_AT_ONCE);
    await rows(
      tx,
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
  const [posted] = await rows<Awaited<ReturnType<typeof reserveRows>>>(
    tx,
    'SELECT outcome, available FROM ledger_reserve_rows(?, ?, ?, ?::jsonb)',
    [accountId, mode, currency, JSON.stringify(lines)],
  );
  if (posted === undefined) throw new Error('ledger_reserve_rows returned no row');
  return posted;
}

/** The rows in the order of the batch. */
export async function listBatchRows(db: Db | Tx, batchId: string): Promise<Payout[]> {
  return rows<Payout>(db, 'SELECT * FROM payouts WHERE batch_id = ? ORDER BY batch_row', [batchId]);
}

/** The sums that the ledger has for the rows, by currency. */
export async function readBatchLedger(
  db: Reader,
  batchId: string,
): Promise<{ currency: string; reserved: Amount; settled: Amount; released: Amount }[]> {
  return rows(
    db,
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
  const [found] = await rows<PayoutBatchProgress>(
    db,
    `SELECT count(*) FILTER (WHERE awaits_batch)::int AS waiting,
            count(*) FILTER (WHERE NOT awaits_batch AND status_group = '${OPEN_PAYOUT_GROUP}')::int
              AS processing,
            count(*) FILTER (WHERE status = 'completed')::int AS sent,
            count(*) FILTER (WHERE status = 'failed')::int AS failed,
            count(*) FILTER (WHERE status IN ('cancelled', 'rejected'))::int AS returned
       FROM payouts WHERE batch_id = ?`,
    [batchId],
  );
  if (found === undefined) throw new Error('the query returned no row');
  return found;
}

/**
 * Applies the transition `trigger` if the batch's status has it.
 * @param only an additional condition: SQL over the row
 * @returns the batch after the change; null, and nothing is changed, when a guard does not hold
 */
export async function takeBatchTransition(
  tx: Tx,
  id: string,
  trigger: PayoutBatchTrigger,
  change: Partial<Pick<PayoutBatch, 'approvedBy' | 'closedProgress'>>,
  only: string,
  bindings: readonly string[] = [],
): Promise<PayoutBatch | null> {
  const from = payoutBatchStatusesBefore(trigger);
  const target = from[0] === undefined ? undefined : nextPayoutBatchStatus(from[0], trigger);
  if (target === undefined) throw new Error(`no status has the transition ${trigger}`);
  const isApproval = trigger === 'approve';
  const [row] = await rows<PayoutBatch>(
    tx,
    `UPDATE payout_batches
        SET status = ?, sequence = sequence + 1, updated_at = clock_timestamp(),
            approved_by = CASE WHEN ? THEN ? ELSE approved_by END,
            approved_at = CASE WHEN ? THEN clock_timestamp() ELSE approved_at END,
            closed_at = CASE WHEN ? THEN closed_at ELSE clock_timestamp() END,
            closed_progress = ?::jsonb
      WHERE id = ? AND status IN (${sqlList(from)}) AND ${only} RETURNING ${COLUMNS}`,
    [
      target,
      isApproval,
      change.approvedBy ?? null,
      isApproval,
      isApproval,
      change.closedProgress === undefined ? null : JSON.stringify(change.closedProgress),
      id,
      ...bindings,
    ],
  );
  return row ?? null;
}

/**
 * Notes that somebody ends the batch early; from then on no row is released.
 * @returns null when the batch has ended, is ended already, or may not be rejected any more
 */
export async function endBatchEarly(
  tx: Tx,
  id: string,
  { ending, by, reason }: { ending: PayoutBatchEnding; by: string | null; reason: string | null },
): Promise<PayoutBatch | null> {
  const from = payoutBatchStatusesBefore(ending);
  const [row] = await rows<PayoutBatch>(
    tx,
    `UPDATE payout_batches
        SET ending = ?, ended_by = ?, ending_reason = ?, ending_at = clock_timestamp(),
            updated_at = clock_timestamp()
      WHERE id = ? AND ending IS NULL AND status IN (${sqlList(from)}) RETURNING ${COLUMNS}`,
    [ending, by, reason, id],
  );
  return row ?? null;
}

/**
 * Releases the next rows of a batch that is being processed.
 * @returns their ids, in the order of the batch
 */
export async function releaseRows(tx: Tx, batchId: string, limit: number): Promise<string[]> {
  const released = await rows<{ id: string }>(
    tx,
    `UPDATE payouts SET awaits_batch = false, workflow_checked_at = clock_timestamp()
      WHERE id IN (SELECT id FROM payouts WHERE batch_id = ? AND awaits_batch
                    ORDER BY batch_row LIMIT ?)
        AND EXISTS (SELECT FROM payout_batches
                     WHERE id = ? AND status = 'processing' AND ending IS NULL)
     RETURNING id, batch_row`,
    [batchId, limit, batchId],
  );
  return released.map(({ id }) => id).sort();
}

/** The next rows to return, of a batch that was ended early. Others wait for them. */
export async function takeRowsToReturn(tx: Tx, batchId: string, limit: number): Promise<Payout[]> {
  return rows<Payout>(
    tx,
    `UPDATE payouts SET awaits_batch = false
      WHERE id IN (SELECT id FROM payouts WHERE batch_id = ? AND awaits_batch
                    ORDER BY batch_row LIMIT ?)
        AND EXISTS (SELECT FROM payout_batches WHERE id = ? AND ending IS NOT NULL)
     RETURNING *`,
    [batchId, limit, batchId],
  );
}

/** Released rows that have not ended, oldest first: their workflows must be there. */
export async function listOpenReleasedRows(db: Db, batchId: string): Promise<Payout[]> {
  return rows<Payout>(
    db,
    `SELECT * FROM payouts
      WHERE batch_id = ? AND NOT awaits_batch AND status_group = '${OPEN_PAYOUT_GROUP}'
      ORDER BY batch_row`,
    [batchId],
  );
}

/** Released rows that the provider has not accepted yet. */
export async function countSubmitting(db: Db, batchId: string): Promise<number> {
  const [found] = await rows<{ n: number }>(
    db,
    `SELECT count(*)::int AS n FROM payouts
      WHERE batch_id = ? AND NOT awaits_batch AND status = 'approved'`,
    [batchId],
  );
  return found?.n ?? 0;
}

export async function listPayoutBatches(
  db: Reader,
  query: {
    accountId: string;
    mode: Mode;
    limit: number;
    after: { createdAt: string; id: string } | null;
  },
): Promise<ListPage<PayoutBatch>> {
  const { accountId, mode, limit, after } = query;
  const found = await rows<PayoutBatch & { position: string }>(
    db,
    `SELECT ${COLUMNS}, ${exactTime('created_at')} AS position FROM payout_batches
      WHERE account_id = ? AND mode = ?
        ${after === null ? '' : 'AND (created_at, id) < (?, ?)'}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [accountId, mode, ...(after === null ? [] : [after.createdAt, after.id]), limit + 1],
  );
  return pageOf(found, limit);
}

/** A row that was just created or checked is not checked again for this long. */
const CHECK_EVERY_MINUTES = 5;

/** The open batches whose workflow was not looked at for a while. */
export async function takeUncheckedBatches(db: Db, limit: number): Promise<PayoutBatch[]> {
  return rows<PayoutBatch>(
    db,
    `UPDATE payout_batches SET workflow_checked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM payout_batches
         WHERE closed_at IS NULL
           AND workflow_checked_at < now() - interval '${CHECK_EVERY_MINUTES} minutes'
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
    [limit],
  );
}

type ListPosition = NonNullable<ListQuery<object>['after']>;

export type ConsoleBatch = PayoutBatch & { accountName: string };

/**
 * The batches of all accounts. @param open those that are not closed, oldest first; otherwise all,
 * newest first
 */
export async function listConsoleBatches(
  db: Db,
  { limit, after, open }: { limit: number; after: ListPosition | null; open: boolean },
): Promise<ListPage<ConsoleBatch>> {
  const [compare, order] = open ? ['>', 'ASC'] : ['<', 'DESC'];
  const found = await rows<ConsoleBatch & { position: string }>(
    db,
    `SELECT b.*, a.name AS account_name, ${exactTime('b.created_at')} AS position
       FROM payout_batches b JOIN accounts a ON a.id = b.account_id
      WHERE ${open ? 'b.closed_at IS NULL' : 'true'}
        ${after === null ? '' : `AND (b.created_at, b.id) ${compare} (?::timestamptz, ?)`}
      ORDER BY b.created_at ${order}, b.id ${order} LIMIT ?`,
    [...(after === null ? [] : [after.createdAt, after.id]), limit + 1],
  );
  return pageOf(found, limit);
}

export async function findConsoleBatch(db: Db, id: string): Promise<ConsoleBatch | null> {
  const [found] = await rows<ConsoleBatch>(
    db,
    `SELECT b.*, a.name AS account_name
       FROM payout_batches b JOIN accounts a ON a.id = b.account_id WHERE b.id = ?`,
    [id],
  );
  return found ?? null;
}

/** Rows that a review rule names come first, then the others, in the order of the batch. */
export async function listRowsToReview(
  db: Db,
  batchId: string,
  limit: number,
): Promise<(Payout & { batchRow: number })[]> {
  return rows(
    db,
    `SELECT * FROM payouts WHERE batch_id = ?
      ORDER BY cardinality(review_reasons) DESC, batch_row LIMIT ?`,
    [batchId, limit],
  );
}
