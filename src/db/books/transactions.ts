/** The merchant's list of transactions: available and reserved, newest first, by keyset. */
import {
  merchantEntries,
  type MerchantTransaction,
  type StoredLine,
  type TransactionLine,
  type TransactionFilters,
} from '../../domain/ledger';
import type { Owner } from '../../domain/mode';
import type { Reader } from '../transaction';
import { conditions, exactTime, type ListPage, type ListQuery, pageOf } from '../lists';

export type TransactionListQuery = ListQuery<TransactionFilters>;

type Found = Omit<MerchantTransaction, 'entries'> & { lines: StoredLine[]; position: string };

/** Amounts are returned as text: the driver would round JSON numbers. */
const COLUMNS = `
  t.id, t.mode, t.type, t.currency, t.description, t.posted_at,
  json_build_object('object', t.source_object, 'id', t.source_id) AS source,
  (SELECT json_agg(json_build_object(
            'account', e.account, 'direction', e.direction, 'amount', e.amount::text,
            'balanceAfter', e.balance_after::text) ORDER BY e.line)
     FROM ledger_entries e WHERE e.transaction_id = t.id) AS lines,
  ${exactTime('t.posted_at')} AS position`;

export async function listTransactions(
  db: Reader,
  { accountId, mode, limit, after, filters }: TransactionListQuery,
): Promise<ListPage<MerchantTransaction>> {
  const { sql, bindings } = conditions([
    ['t.currency = ?', filters.currency],
    ['t.type = ?', filters.type],
    ['t.source_id = ?', filters.sourceId],
    ['t.source_id IN (SELECT id FROM payouts WHERE batch_id = ?)', filters.batchId],
    ['t.posted_at >= ?', filters.createdFrom],
    ['t.posted_at <= ?', filters.createdTo],
    ['(t.posted_at, t.id) < (?, ?)', after?.createdAt, after?.id],
  ]);
  const found = await db.query<Found>(
    `SELECT ${COLUMNS} FROM ledger_transactions t
      WHERE t.account_id = ? AND t.mode = ? ${sql}
      ORDER BY t.posted_at DESC, t.id DESC LIMIT ?`,
    [accountId, mode, ...bindings, limit + 1],
  );
  const { items, next } = pageOf(found, limit);
  return { items: items.map(asMerchantTransaction), next };
}

/** SQL: a batch's first transaction of a type and currency stands for all others of its payouts. */
const FIRST_OF_BATCH = `(p.batch_id IS NULL OR NOT EXISTS (
  SELECT FROM payouts q JOIN ledger_transactions u ON u.source_id = q.id
   WHERE q.batch_id = p.batch_id AND q.batch_row < p.batch_row
     AND u.type = t.type AND u.currency = t.currency))`;

/** A page in which a batch is one line. */
export async function listTransactionLines(
  db: Reader,
  { accountId, mode, limit, after, filters }: TransactionListQuery,
): Promise<ListPage<TransactionLine>> {
  const { sql, bindings } = conditions([
    ['t.currency = ?', filters.currency],
    ['t.type = ?', filters.type],
    ['(t.posted_at, t.id) < (?, ?)', after?.createdAt, after?.id],
  ]);
  const found = await db.query<Found & { batchId: string | null }>(
    `SELECT ${COLUMNS}, p.batch_id
       FROM ledger_transactions t LEFT JOIN payouts p ON p.id = t.source_id
      WHERE t.account_id = ? AND t.mode = ? AND ${FIRST_OF_BATCH} ${sql}
      ORDER BY t.posted_at DESC, t.id DESC LIMIT ?`,
    [accountId, mode, ...bindings, limit + 1],
  );
  const { items, next } = pageOf(found, limit);
  const sums = await sumBatches(db, [...new Set(items.flatMap(({ batchId }) => batchId ?? []))]);
  return {
    items: items.map(({ batchId, ...one }) => {
      const sum = sums.find(
        (of) => of.id === batchId && of.type === one.type && of.currency === one.currency,
      );
      if (sum === undefined) return { ...asMerchantTransaction(one), batch: null };
      const { id, reference, count, lines } = sum;
      const batch = { id, reference, count };
      return { ...asMerchantTransaction({ ...one, lines }), batch };
    }),
    next,
  };
}

interface BatchSum {
  id: string;
  reference: string;
  type: string;
  currency: string;
  count: number;
  lines: StoredLine[];
}

/** What all payouts of each batch have moved. The balance is that after the last of them. */
async function sumBatches(db: Reader, ids: readonly string[]): Promise<BatchSum[]> {
  if (ids.length === 0) return [];
  return db.query<BatchSum>(
    `SELECT s.id, s.reference, s.type, s.currency, max(s.count)::integer AS count,
            json_agg(json_build_object('account', s.account, 'direction', s.direction,
              'amount', s.amount::text, 'balanceAfter', s.balance_after::text) ORDER BY s.line) AS lines
       FROM (SELECT b.id, b.reference, t.type, t.currency, e.account, e.direction, e.line,
                    count(*) AS count, sum(e.amount) AS amount,
                    (array_agg(e.balance_after ORDER BY t.posted_at DESC, t.id DESC))[1] AS balance_after
               FROM payout_batches b JOIN payouts p ON p.batch_id = b.id
               JOIN ledger_transactions t ON t.source_id = p.id
               JOIN ledger_entries e ON e.transaction_id = t.id
              WHERE b.id = ANY (?)
              GROUP BY b.id, t.type, t.currency, e.account, e.direction, e.line) AS s
      GROUP BY s.id, s.reference, s.type, s.currency`,
    [[...ids]],
  );
}

/** @param id of a transaction; null if it does not exist in this account and mode */
export async function findTransaction(
  db: Reader,
  { accountId, mode, id }: Owner & { id: string },
): Promise<MerchantTransaction | null> {
  const [found] = await db.query<Found>(
    `SELECT ${COLUMNS} FROM ledger_transactions t
      WHERE t.id = ? AND t.account_id = ? AND t.mode = ?`,
    [id, accountId, mode],
  );
  if (found === undefined) return null;
  const { position: _, ...transaction } = found;
  return asMerchantTransaction(transaction);
}

function asMerchantTransaction({ lines, ...rest }: Omit<Found, 'position'>): MerchantTransaction {
  return { ...rest, entries: merchantEntries(lines) };
}
