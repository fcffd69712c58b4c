/** The merchant's list of transactions: available and reserved, newest first, by keyset. */
import type { MerchantTransaction, TransactionFilters } from '../../domain/ledger';
import type { Mode } from '../../domain/mode';
import { rows, type Db } from '../transaction';

export interface TransactionListQuery {
  accountId: string;
  mode: Mode;
  limit: number;
  after: { createdAt: string; id: string } | null;
  filters: TransactionFilters;
}

type Found = MerchantTransaction & { position: string };

/** Amounts are returned as text: the driver would round JSON numbers. */
const COLUMNS = `
  t.id, t.mode, t.type, t.currency, t.description, t.posted_at,
  json_build_object('object', t.source_object, 'id', t.source_id) AS source,
  (SELECT json_agg(json_build_object(
            'balance', e.account, 'direction', e.direction, 'amount', e.amount::text,
            'balanceAfter', e.balance_after::text) ORDER BY e.line)
     FROM ledger_entries e
    WHERE e.transaction_id = t.id AND e.balance_after IS NOT NULL) AS entries,
  to_char(t.posted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position`;

export async function listTransactions(
  db: Db,
  { accountId, mode, limit, after, filters }: TransactionListQuery,
): Promise<{ items: MerchantTransaction[]; next: { createdAt: string; id: string } | null }> {
  const { sql, bindings } = where(filters, after);
  const found = await rows<Found>(
    db,
    `SELECT ${COLUMNS} FROM ledger_transactions t
      WHERE t.account_id = ? AND t.mode = ? ${sql}
      ORDER BY t.posted_at DESC, t.id DESC LIMIT ?`,
    [accountId, mode, ...bindings, limit + 1],
  );
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next: more ? { createdAt: last.position, id: last.id } : null };
}

function where(
  { currency, type, sourceId, createdFrom, createdTo }: TransactionFilters,
  after: TransactionListQuery['after'],
): { sql: string; bindings: string[] } {
  const conditions: [sql: string, ...values: (string | undefined)[]][] = [
    ['t.currency = ?', currency],
    ['t.type = ?', type],
    ['t.source_id = ?', sourceId],
    ['t.posted_at >= ?', createdFrom],
    ['t.posted_at <= ?', createdTo],
    ['(t.posted_at, t.id) < (?, ?)', after?.createdAt, after?.id],
  ];
  const asked = conditions.filter(([, ...values]) => values[0] !== undefined);
  return {
    sql: asked.map(([sql]) => `AND ${sql}`).join(' '),
    bindings: asked.flatMap(([, ...values]) => values as string[]),
  };
}
