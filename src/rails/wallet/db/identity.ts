/** Whether the wallet works on the database that it worked on before: a restored or copied one is another. */
import type { Database, Db } from './database';

export interface DatabaseIdentity {
  /** Cluster, timeline and database; null where the login may not ask. */
  now: string | null;
  /** Of the last start; null before the first. */
  before: string | null;
}

/** A restore, a promoted standby and a copy have another identity. */
export async function readIdentity(db: Db): Promise<DatabaseIdentity> {
  const [stored] = await db.query<{ identity: string }>(
    'SELECT identity FROM wallet.database_identity',
  );
  return { now: await askIdentity(db), before: stored?.identity ?? null };
}

async function askIdentity(db: Db): Promise<string | null> {
  try {
    const [row] = await db.query<{ identity: string }>(
      `SELECT system_identifier || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || ' '
         || (SELECT oid FROM pg_database WHERE datname = current_database()) AS identity
       FROM pg_control_system()`,
    );
    return row?.identity ?? null;
  } catch (error) {
    if (isNotAllowed(error)) return null;
    throw error;
  }
}

/** insufficient_privilege, undefined_function */
function isNotAllowed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(42501|42883)$/.test(String(error.code));
}

export async function storeIdentity(db: Database, identity: string): Promise<void> {
  await db.query(
    `INSERT INTO wallet.database_identity (identity) VALUES ($1)
     ON CONFLICT (is_only) DO UPDATE SET identity = excluded.identity`,
    [identity],
  );
}
