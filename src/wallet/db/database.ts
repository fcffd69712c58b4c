/**
 * The wallet's connections to PostgreSQL. All tables are in the schema `wallet` and are written with
 * it in every statement. numeric and bigint arrive as text, timestamps as Date.
 */
import { Client, Pool, type PoolClient, type QueryResultRow } from 'pg';

/** What runs one statement: the pool, or the connection of a transaction. */
export interface Db {
  query<Row extends QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** A statement that must be part of a transaction takes this type. */
export interface Tx extends Db {
  readonly isTransaction: true;
}

export interface Database extends Db {
  /** READ COMMITTED. Nothing inside may wait for a network other than the database's. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs the work while this process alone has the named lock; null when another process has it.
   * `signal` aborts when the connection that holds the lock is lost.
   */
  withLock<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T | null>;
  close(): Promise<void>;
}

const STATEMENT_TIMEOUT_MS = 15_000;

export function connectDatabase(url: string, { size = 8 } = {}): Database {
  const pool = new Pool({
    connectionString: url,
    max: size,
    application_name: 'wallet',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMillis: 5_000,
  });
  // Of an idle connection; the next statement opens another one.
  pool.on('error', () => undefined);
  return {
    query: async (sql, values) => (await run<QueryResultRow>(pool, sql, values)) as never,
    transaction: (work) => runTransaction(pool, work),
    withLock: (name, work) => runWithLock(url, name, work),
    close: () => pool.end(),
  };
}

async function run<Row extends QueryResultRow>(
  on: Pool | PoolClient,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await on.query<Row>(sql, [...values])).rows;
}

async function runTransaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const tx: Tx = {
      isTransaction: true,
      query: async (sql, values) => (await run<QueryResultRow>(client, sql, values)) as never,
    };
    const result = await work(tx);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure instanceof Error ? failure : new Error('rollback failed');
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** On a connection of its own: the lock ends with it. */
async function runWithLock<T>(
  url: string,
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const client = new Client({
    ...{ connectionString: url, application_name: 'wallet-lock', keepAlive: true },
  });
  const lost = new AbortController();
  client.on('error', (error) => {
    lost.abort(error);
  });
  client.on('end', () => {
    lost.abort();
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
      [`wallet ${name}`],
    );
    return rows[0]?.taken === true ? await work(lost.signal) : null;
  } finally {
    await client.end().catch(() => undefined);
  }
}
