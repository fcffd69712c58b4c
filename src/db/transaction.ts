/**
 * One transaction, READ COMMITTED: the guarded UPDATEs and unique keys decide races, not the
 * isolation level. Nothing inside may wait for a network other than the database's.
 */
import type { Knex } from 'knex';
import { snakeCaseMappers } from 'objection';

export type Db = Knex;
export type Tx = Knex.Transaction;

/** The only place where `created_at` becomes `createdAt`; what is inside a jsonb value stays. */
export const COLUMN_NAMES = snakeCaseMappers();

export function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(work);
}

/** Rows of one raw statement, their columns in camel case. */
export async function rows<T>(
  db: Db | Tx,
  sql: string,
  bindings: readonly Knex.RawBinding[] = [],
): Promise<T[]> {
  const result = await db.raw<{ rows: object[] }>(sql, bindings);
  return result.rows.map((row) => COLUMN_NAMES.parse(row) as T);
}
