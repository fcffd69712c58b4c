/**
 * Keyset pagination of payments and payouts: every page costs as much as the first (decisions/api#lists).
 */
import type { Owner } from '../domain/mode';
import type { Payment, PaymentFilters } from '../domain/payment';
import { type Payout, type PayoutFilters, payoutStatusGroup } from '../domain/payout';
import { CONDITIONS } from './payouts/payout-conditions';
import type { Db, Reader } from './transaction';

/** A question for a page of a list. */
export interface ListQuery<Filters> extends Owner {
  limit: number;
  /** The last item of the previous page. The time is text, because a Date drops microseconds. */
  after: { createdAt: string; id: string } | null;
  filters: Filters;
}

/** A page of a list. */
export interface ListPage<T> {
  items: T[];
  next: { createdAt: string; id: string } | null;
}

/** Without filters, a page is a few rows of one index, however long the list is. */
export function listSource(
  { db, shortStatements }: { db: Db; shortStatements: Reader },
  { filters }: { filters: object },
): Reader {
  return Object.keys(filters).length === 0 ? shortStatements : db;
}

/** SQL: the time as text. A Date drops the microseconds, and a list by time would repeat rows. */
export function exactTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

export function listPayouts(
  db: Reader,
  query: ListQuery<PayoutFilters>,
): Promise<ListPage<Payout>> {
  const groups = query.filters.status?.map(payoutStatusGroup);
  return newestFirst(db, 'payouts', query, groups);
}

export function listPayments(
  db: Reader,
  query: ListQuery<PaymentFilters>,
): Promise<ListPage<Payment>> {
  return newestFirst(db, 'payments', query);
}

async function newestFirst<T extends { id: string }>(
  db: Reader,
  table: 'payouts' | 'payments',
  { accountId, mode, limit, after, filters }: ListQuery<PaymentFilters | PayoutFilters>,
  statusGroups?: readonly string[],
): Promise<ListPage<T>> {
  const { status, reference, currency, provider, createdFrom, createdTo } = filters;
  const batch = 'batch' in filters ? filters.batch : undefined;
  const recipient = 'recipient' in filters ? filters.recipient : undefined;
  const { sql, bindings } = conditions([
    ['(created_at, id) < (?, ?)', after?.createdAt, after?.id],
    oneOf('status', status),
    // The index contains the group in place of the status.
    oneOf('status_group', statusGroups && [...new Set(statusGroups)]),
    ['reference = ?', reference],
    ['batch_id = ?', batch],
    ['recipient_id = ?', recipient],
    ['currency = ?', currency],
    ['provider = ?', provider],
    ['created_at >= ?', createdFrom],
    ['created_at <= ?', createdTo],
  ]);
  const found = await db.query<T & { position: string }>(
    `SELECT *, ${exactTime('created_at')} AS position
            ${table === 'payouts' ? `, ${CONDITIONS}` : ''} FROM ${table}
      WHERE account_id = ? AND mode = ? ${sql}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [accountId, mode, ...bindings, limit + 1],
  );
  return pageOf(found, limit);
}

type Condition = [sql: string, ...values: (string | undefined)[]];

/** The conditions that have values, for a `WHERE` that has others before them. */
export function conditions(all: readonly Condition[]): { sql: string; bindings: string[] } {
  const asked = all.filter(([, ...values]) => values[0] !== undefined);
  return {
    sql: asked.map(([sql]) => `AND ${sql}`).join(' '),
    bindings: asked.flatMap(([, ...values]) => values as string[]),
  };
}

/** SQL: the column has one of the values; no condition without values. */
export function oneOf(column: string, values: readonly string[] | undefined): Condition {
  return [`${column} IN (${values?.map(() => '?').join(', ') ?? ''})`, ...(values ?? [])];
}

/** @param found one row more than the page has, if there is a next page */
export function pageOf<T extends { id: string }>(
  found: (T & { position: string })[],
  limit: number,
): ListPage<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const more = found.length > limit && last !== undefined;
  return { items, next: more ? { createdAt: last.position, id: last.id } : null };
}
