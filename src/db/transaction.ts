/**
 * One transaction, READ COMMITTED: the guarded UPDATEs and unique keys decide races, not the
 * isolation level. Nothing inside may wait for a network other than the database's.
 */
import type { Knex } from 'knex';

export type Db = Knex;
export type Tx = Knex.Transaction;

export function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(work);
}

/** Rows of a raw statement. */
export async function rows<T>(
  db: Db | Tx,
  sql: string,
  bindings: readonly Knex.RawBinding[] = [],
): Promise<T[]> {
  const result = await db.raw<{ rows: T[] }>(sql, bindings);
  return result.rows;
}
