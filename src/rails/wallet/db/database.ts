/**
 * The wallet's database. All tables are in the schema `wallet` and are written with it in every statement.
 */
import { hostname } from 'node:os';
import { Client } from 'pg';
import { Database as Pool } from '../../../platform/postgres/database';
import type { Queries } from '../../../platform/postgres/queries';

export type Db = Queries;
export type { Transaction as Tx } from '../../../platform/postgres/transaction';

const STATEMENT_TIMEOUT_MS = 15_000;
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

export class Database extends Pool {
  readonly #lock: { url: string; lockCheckMs: number };

  constructor(url: string, { lockCheckMs = LOCK_CHECK_MS, ...options }: DatabaseOptions = {}) {
    const usual = { size: 8, statementTimeoutMs: STATEMENT_TIMEOUT_MS, applicationName: 'wallet' };
    super({ url, ...usual, ...options });
    this.#lock = { url, lockCheckMs };
  }

  /**
   * Runs the work while this process alone has the named lock; null when another process has it.
   * `signal` aborts when the connection that holds the lock is lost.
   */
  withLock<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    return runWithLock(this.#lock, name, work);
  }
}

/** The host and process, for `findLockHolder`. */
const LOCK_NAME = `wallet-lock ${hostname()} ${process.pid}`.slice(0, 63);

export interface LockHolder {
  /** Host and process. */
  name: string;
  since: Date;
}

/** Finds who has the named lock now. */
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
