/** Batches of payouts; payout-batch-rows.ts has their rows. */
import type { Owner } from '../../domain/mode';
import {
  nextPayoutBatchStatus,
  type PayoutBatch,
  type PayoutBatchEnding,
  payoutBatchStatusesBefore,
  type PayoutBatchTrigger,
} from '../../domain/payout-batch';
import { approvedByAnother } from '../approvals/second-person';
import { MissingRow, sqlList, type Db, type Reader, type Tx } from '../transaction';
import { exactTime, type ListPage, newestFirst, ownedBy, type Page, pageOf } from '../lists';
import { findRow, insertNewRow, rowsOf } from '../models';

/** SQL over a row of payout_batches: nobody but its maker has seen these rows. */
export const AWAITS_SECOND_PERSON = `CASE WHEN second_person IS NULL
    OR status NOT IN (${sqlList(payoutBatchStatusesBefore('approve'))}) THEN false
  ELSE NOT ${approvedByAnother({
    id: 'payout_batches.id',
    version: 'manifest_sha256',
    account: 'account_id',
    maker: 'second_person',
  })} END`;

const Batches = rowsOf<PayoutBatch>('payout_batches', {
  read: `id, account_id, mode, reference, status, description, row_count, totals,
  left_out_rows, manifest_sha256, api_key_id, review_reasons, approved_by, approved_at, ending, ended_by,
  ending_reason, ending_at, closed_at, closed_progress, sequence, created_at, updated_at,
  second_person, second_person_until, ${AWAITS_SECOND_PERSON} AS awaits_second_person`,
  json: ['totals', 'closedProgress'],
  writes: `id, account_id, mode, reference, status, description, row_count, totals, manifest_sha256,
    api_key_id, review_reasons, second_person, second_person_until, created_at, updated_at`,
});

export function findPayoutBatch(db: Reader, id: string): Promise<PayoutBatch | null> {
  return findRow(db, Batches, { id });
}

/** @throws MissingRow */
export async function getPayoutBatch(db: Reader, id: string): Promise<PayoutBatch> {
  const batch = await findPayoutBatch(db, id);
  if (batch === null) throw new MissingRow(id);
  return batch;
}

/** The id of the batch that uses the reference. */
export async function findBatchByReference(
  db: Reader,
  { accountId, mode, reference }: Owner & Pick<PayoutBatch, 'reference'>,
): Promise<string | null> {
  const [found] = await db.query<{ id: string }>(
    'SELECT id FROM payout_batches WHERE account_id = ? AND mode = ? AND reference = ?',
    [accountId, mode, reference],
  );
  return found?.id ?? null;
}

/** Locks the batch, so that its changes go one after the other until the end of the transaction. */
export async function lockPayoutBatch(tx: Tx, id: string): Promise<PayoutBatch> {
  const sql = `SELECT ${Batches.read} FROM payout_batches WHERE id = ? FOR UPDATE`;
  const [found] = await tx.query<PayoutBatch>(sql, [id]);
  if (found === undefined) throw new MissingRow(id);
  return found;
}

/** @returns false, and nothing is written, when the reference is already used */
export async function insertPayoutBatch(tx: Tx, batch: PayoutBatch): Promise<boolean> {
  const { id, accountId, mode, reference, status, description, rowCount, totals } = batch;
  const { manifestSha256, apiKeyId, reviewReasons, secondPerson, secondPersonUntil } = batch;
  const { createdAt, updatedAt } = batch;
  // What comes later has the defaults of its columns.
  const inserted = await insertNewRow(tx, Batches, ['account_id', 'mode', 'reference'], {
    ...{ id, accountId, mode, reference, status, description, rowCount, totals, manifestSha256 },
    ...{ apiKeyId, reviewReasons, secondPerson, secondPersonUntil, createdAt, updatedAt },
  });
  return inserted !== null;
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
  const [row] = await tx.query<PayoutBatch>(
    `UPDATE payout_batches
        SET status = ?, sequence = sequence + 1, updated_at = clock_timestamp(),
            approved_by = CASE WHEN ? THEN ? ELSE approved_by END,
            approved_at = CASE WHEN ? THEN clock_timestamp() ELSE approved_at END,
            closed_at = CASE WHEN ? THEN closed_at ELSE clock_timestamp() END,
            closed_progress = ?::jsonb
      WHERE id = ? AND status IN (${sqlList(from)}) AND ${only} RETURNING ${Batches.read}`,
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

/** @returns how many batches of the account and mode release rows; at least one */
export async function countBatchesInProcess(
  db: Reader,
  { accountId, mode }: Owner,
): Promise<number> {
  const [found] = await db.query<{ count: number }>(
    `SELECT greatest(count(*), 1)::int AS count FROM payout_batches
      WHERE closed_at IS NULL AND account_id = ? AND mode = ?
        AND status = 'processing' AND ending IS NULL`,
    [accountId, mode],
  );
  if (found === undefined) throw new Error('the query returned no row');
  return found.count;
}

/** SQL over a row of payout_batches: the second person that it needs has approved its rows. */
export const SECOND_PERSON_APPROVED = `NOT (${AWAITS_SECOND_PERSON})`;

/** SQL over a row of payout_batches: the time for that is over. */
export const SECOND_PERSON_IS_LATE = `second_person_until <= clock_timestamp()
  AND ${AWAITS_SECOND_PERSON}`;

/**
 * SQL: the batch has this id, nobody has approved it, and nobody ends it early.
 */
export const MAY_LEAVE_OUT = `id = ? AND ending IS NULL
  AND status IN (${sqlList(payoutBatchStatusesBefore('approve'))})`;

/** Notes the rows that were left out, and the manifest without them. */
export async function noteRowsLeftOut(
  tx: Tx,
  id: string,
  {
    leftOutRows,
    totals,
    manifestSha256,
  }: Pick<PayoutBatch, 'leftOutRows' | 'totals' | 'manifestSha256'>,
): Promise<PayoutBatch> {
  const [row] = await tx.query<PayoutBatch>(
    `UPDATE payout_batches
        SET left_out_rows = ?::integer[], totals = ?::jsonb, manifest_sha256 = ?,
            updated_at = clock_timestamp()
      WHERE ${MAY_LEAVE_OUT} RETURNING ${Batches.read}`,
    [leftOutRows, JSON.stringify(totals), manifestSha256, id],
  );
  if (row === undefined) throw new Error(`${id} does not wait for a decision`);
  return row;
}

/**
 * Notes that somebody ends the batch early; from then on no row is released.
 * @param only an additional condition: SQL over the row
 * @returns null when the batch has ended, is ended already, or may not be rejected any more
 */
export async function endBatchEarly(
  tx: Tx,
  id: string,
  { ending, by, reason }: { ending: PayoutBatchEnding; by: string | null; reason: string | null },
  only = 'true',
): Promise<PayoutBatch | null> {
  const from = payoutBatchStatusesBefore(ending);
  const [row] = await tx.query<PayoutBatch>(
    `UPDATE payout_batches
        SET ending = ?, ended_by = ?, ending_reason = ?, ending_at = clock_timestamp(),
            updated_at = clock_timestamp()
      WHERE id = ? AND ending IS NULL AND status IN (${sqlList(from)}) AND ${only}
      RETURNING ${Batches.read}`,
    [ending, by, reason, id],
  );
  return row ?? null;
}

export function listPayoutBatches(db: Reader, query: Owner & Page): Promise<ListPage<PayoutBatch>> {
  return newestFirst(db, Batches, query, [ownedBy(query)]);
}

/** A row that was just created or checked is not checked again for this long. */
const CHECK_EVERY_MINUTES = 5;

/** The open batches whose workflow was not looked at for a while. */
export async function takeUncheckedBatches(db: Db, limit: number): Promise<PayoutBatch[]> {
  return db.query<PayoutBatch>(
    `UPDATE payout_batches SET workflow_checked_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM payout_batches
         WHERE closed_at IS NULL
           AND workflow_checked_at < now() - interval '${CHECK_EVERY_MINUTES} minutes'
         ORDER BY workflow_checked_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING ${Batches.read}`,
    [limit],
  );
}

const WITH_ACCOUNT = `(SELECT b.*, a.name AS account_name FROM payout_batches b
  JOIN accounts a ON a.id = b.account_id) AS payout_batches`;

export type ConsoleBatch = PayoutBatch & { accountName: string };

/**
 * The batches of all accounts. @param open those that are not closed, oldest first; otherwise all,
 * newest first
 */
export async function listConsoleBatches(
  db: Db,
  { limit, after, open }: Page & { open: boolean },
): Promise<ListPage<ConsoleBatch>> {
  const [compare, order] = open ? ['>', 'ASC'] : ['<', 'DESC'];
  const found = await db.query<ConsoleBatch & { position: string }>(
    `SELECT ${Batches.read}, account_name, ${exactTime('created_at')} AS position
       FROM ${WITH_ACCOUNT}
      WHERE ${open ? 'closed_at IS NULL' : 'true'}
        ${after === null ? '' : `AND (created_at, id) ${compare} (?::timestamptz, ?)`}
      ORDER BY created_at ${order}, id ${order} LIMIT ?`,
    [...(after === null ? [] : [after.createdAt, after.id]), limit + 1],
  );
  return pageOf(found, limit);
}

export async function findConsoleBatch(db: Db, id: string): Promise<ConsoleBatch | null> {
  const [found] = await db.query<ConsoleBatch>(
    `SELECT ${Batches.read}, account_name FROM ${WITH_ACCOUNT} WHERE id = ?`,
    [id],
  );
  return found ?? null;
}
