/** Whether the database sorts texts by the rules that its indexes were built with. */
import type { Db } from './transaction';

/** One row if the C library of PostgreSQL's system has changed since. */
export const CHANGED_COLLATION = `pg_database
 WHERE datname = current_database()
   AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)`;

export async function hasChangedCollation(db: Db): Promise<boolean> {
  return (await db.query(`SELECT FROM ${CHANGED_COLLATION}`)).length > 0;
}
