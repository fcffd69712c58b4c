/**
 * The wallet's connections to PostgreSQL. All tables are in the schema `wallet` and are written with
 * it in every statement. numeric and bigint arrive as text, timestamps as Date.
 */
import { hostname } from 'node:os';
import { Client, Pool, type PoolClient, type QueryResultRow } from 'pg';
import { isReadTimeout } from '../../lib/unavailable';

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
/** A statement without an answer is given up so much later: its connection is dead. */
const ANSWER_GRACE_MS = 3_000;
const CONNECT_TIMEOUT_MS = 5_000;
const LOCK_CHECK_MS = 5_000;
/** Longer than the process takes to notice that the connection is lost: a check, and its timeout. */
const LOCK_CHECKS_MISSED = 4;

interface DatabaseOptions {
  size?: number;
  statementTimeoutMs?: number;
  answerGraceMs?: number;
  /** How often the connection of a lock is tried, and how long it may be silent. */
  lockCheckMs?: number;
}

export function connectDatabase(
  url: string,
  {
    size = 8,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    answerGraceMs = ANSWER_GRACE_MS,
    lockCheckMs = LOCK_CHECK_MS,
  }: DatabaseOptions = {},
): Database {
  const pool = new Pool({
    connectionString: url,
    max: size,
    application_name: 'wallet',
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + answerGraceMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // An idle connection was lost; the next statement opens another one.
  pool.on('error', () => undefined);
  return {
    query: async (sql, values) => (await run<QueryResultRow>(pool, sql, values)) as never,
    transaction: (work) => runTransaction(pool, work),
    withLock: (name, work) => runWithLock({ url, lockCheckMs }, name, work),
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
  // It may be lost between two statements; without a listener, that would end the process.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
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
    // No answer to that either.
    if (isReadTimeout(error)) broken = error as Error;
    else
      await client.query('ROLLBACK').catch((failure: unknown) => {
        broken = failure instanceof Error ? failure : new Error('rollback failed');
      });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

/** The host and process, for `findLockHolder`. */
const LOCK_NAME = `wallet-lock ${hostname()} ${process.pid}`.slice(0, 63);

export interface LockHolder {
  /** Host and process. */
  name: string;
  since: Date;
}

/** Who has the named lock now. */
export async function findLockHolder(db: Db, name: string): Promise<LockHolder | null> {
  const [row] = await db.query<{ name: string; since: Date }>(
    `SELECT application_name AS name, backend_start AS since
     FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted
       AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0)`,
    [`wallet ${name}`],
  );
  return row === undefined ? null : { ...row, name: row.name.replace(/^wallet-lock /, '') };
}

/**
 * On a connection of its own: the lock ends with it. When the network goes silent, this process gives the
 * work up after two checks at most, and PostgreSQL the lock after LOCK_CHECKS_MISSED.
 */
async function runWithLock<T>(
  { url, lockCheckMs }: { url: string; lockCheckMs: number },
  name: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const client = new Client({
    ...{ connectionString: url, application_name: LOCK_NAME, keepAlive: true },
    ...{ query_timeout: lockCheckMs, connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
  });
  const lost = new AbortController();
  client.on('error', (error) => {
    lost.abort(error);
  });
  client.on('end', () => {
    lost.abort();
  });
  await client.connect();
  const check = setInterval(() => {
    client.query('SELECT 1').catch((error: unknown) => {
      lost.abort(error);
    });
  }, lockCheckMs);
  try {
    await client.query(`SET idle_session_timeout = ${String(LOCK_CHECKS_MISSED * lockCheckMs)}`);
    const { rows } = await client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
      [`wallet ${name}`],
    );
    return rows[0]?.taken === true ? await work(lost.signal) : null;
  } finally {
    clearInterval(check);
    await client.end().catch(() => undefined);
  }
}
