/**
 * Keyset pagination: every page of a list costs as much as the first (decisions/api#lists).
 */
import type { Owner } from '../domain/mode';
import type { ReadRows } from './models';
import type { Db, Reader } from './transaction';

/** A place in a list, after an item. The time is text, because a Date drops microseconds. */
export interface Position {
  createdAt: string;
  id: string;
}

/** A question for a page of a list. */
export interface Page {
  limit: number;
  /** Null: the first page. */
  after: Position | null;
}

export interface ListQuery<Filters> extends Owner, Page {
  filters: Filters;
}

/** A page of a list. */
export interface ListPage<T> {
  items: T[];
  next: Position | null;
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

/** The filters that payments and payouts share. */
export interface CommonFilters<Status> {
  status?: Status[];
  reference?: string;
  currency?: string;
  provider?: string;
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}

export function commonConditions(query: ListQuery<CommonFilters<string>>): Condition[] {
  const { filters } = query;
  return [
    ownedBy(query),
    oneOf('status', filters.status),
    ['reference = ?', filters.reference],
    ['currency = ?', filters.currency],
    ['provider = ?', filters.provider],
    ...createdWithin(filters),
  ];
}

/** The condition that the rows are the owner's. */
export function ownedBy({ accountId, mode }: Owner): Condition {
  return ['account_id = ? AND mode = ?', accountId, mode];
}

/** The conditions of the times that a list is limited to. */
export function createdWithin(filters: { createdFrom?: string; createdTo?: string }): Condition[] {
  return [
    ['created_at >= ?', filters.createdFrom],
    ['created_at <= ?', filters.createdTo],
  ];
}

/** A page of the rows with all of the conditions, the newest first. */
export async function newestFirst<Row extends { id: string }>(
  db: Reader,
  { tableName, read }: ReadRows<Row>,
  { limit, after }: Page,
  all: readonly Condition[],
): Promise<ListPage<Row>> {
  const { sql, bindings } = conditions([
    ...all,
    ['(created_at, id) < (?, ?)', after?.createdAt, after?.id],
  ]);
  const found = await db.query<Row & { position: string }>(
    `SELECT ${read}, ${exactTime('created_at')} AS position FROM ${tableName}
      WHERE true ${sql} ORDER BY created_at DESC, id DESC LIMIT ?`,
    [...bindings, limit + 1],
  );
  return pageOf(found, limit);
}

export type Condition = readonly [sql: string, ...values: (string | undefined)[]];

/** The conditions without values or with given ones, for a `WHERE` that has others before them. */
export function conditions(all: readonly Condition[]): { sql: string; bindings: string[] } {
  const asked = all.filter(([, ...values]) => values.length === 0 || values[0] !== undefined);
  return {
    sql: asked.map(([sql]) => `AND ${sql}`).join(' '),
    bindings: asked.flatMap(([, ...values]) => values as string[]),
  };
}

/** SQL: the column has one of the values; no condition without values. */
export function oneOf(column: string, values: readonly string[] = []): Condition {
  return [
    `${column} IN (${values.map(() => '?').join(', ')})`,
    ...(values.length === 0 ? [undefined] : values),
  ];
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
