/** The merchant's list of transactions: available and reserved, newest first, by keyset. */
import {
  merchantEntries,
  type MerchantTransaction,
  type StoredLine,
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
