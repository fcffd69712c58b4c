/** Statements, and what runs them: the pool, a transaction, one account's view of the pool. */
import type { QueryResult } from 'pg';

/** The driver writes an array as an array of PostgreSQL, also one of arrays, and another object as JSON. */
export type Value = string | number | bigint | boolean | null | Date | Buffer | object;

/** A query that a query builder composes, such as knex. */
export interface Composed {
  toSQL(): { toNative(): { sql: string; bindings: readonly unknown[] } };
}

/** What single statements are sent to. */
export interface Queries {
  /** @param sql with `?` for each value, or `$1` */
  query<T>(sql: string | Composed, values?: readonly Value[]): Promise<T[]>;
  /**
   * The same for a statement that is executed often: it is prepared, so PostgreSQL can plan it once for all
   * values. Its plan must not depend on them.
   */
  prepared<T>(sql: string, values: readonly Value[]): Promise<T[]>;
}

/** A statement with its values. */
export interface Statement {
  /** With `$1` for the first value. */
  text: string;
  values: readonly unknown[];
  isPrepared?: boolean;
}

/** `?` of the frequent statements as `$1`. */
const positioned = new Map<string, string>();
const POSITIONED_MAX = 2_000;

/** @throws Error for a value that is undefined, which the driver would take for null */
export function toStatement(sql: string | Composed, values: readonly Value[]): Statement {
  if (typeof sql !== 'string') {
    const { sql: text, bindings } = sql.toSQL().toNative();
    return { text, values: bindings };
  }
  const undefinedAt = (values as readonly unknown[]).indexOf(undefined);
  if (undefinedAt >= 0) throw new Error(`value ${undefinedAt + 1} is undefined: ${sql}`);
  // A script of many statements has no values, and may contain anything.
  if (values.length === 0) return { text: sql, values };
  let text = positioned.get(sql);
  if (text === undefined) {
    let count = 0;
    text = sql.replaceAll('?', () => `$${(count += 1)}`);
    if (positioned.size < POSITIONED_MAX) positioned.set(sql, text);
  }
  return { text, values };
}

/** The rows of a result; none without a result. */
export function rowsOf<T>(result: QueryResult | undefined): T[] {
  // A script has a list of results.
  return (result?.rows ?? []) as T[];
}
