/**
 * Brings a schema to its newest form: the gateway's (src/db/migrate.ts) and the wallet's
 * (src/rails/wallet/db/migrate.ts). Several runs at once wait for each other.
 *
 * It has a connection of its own: a migration may take hours, but it may not make requests wait. A statement
 * that does not get its lock within LOCK_TIMEOUT_MS gives up, lets the requests behind it pass, and is tried again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { SetupError } from '../lib/setup-error';
import { connectionConfig } from './connection';
import type { Queries } from './queries';

/** The time is short, because requests queue behind a statement that waits for a lock. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_RETRY_MS = 1_000;
/** With the waits between them, these take five minutes. */
const LOCK_ATTEMPTS = 200;
const LOCK_NOT_AVAILABLE = '55P03';
const LOCK_POLL_MS = 100;

/**
 * `sql` runs in a transaction. `concurrent` statements run one by one and outside of any, such as CREATE
 * INDEX CONCURRENTLY; each must be safe to run again: IF NOT EXISTS.
 */
export type Migration = { name: string } & ({ sql: string } | { concurrent: readonly string[] });

export interface Schema {
  applicationName: string;
  namespace: 'public' | 'wallet';
  /** The table with the names of the applied migrations. */
  record: string;
  /** The key of the advisory lock. It ends with its connection, so a killed run leaves nothing behind. */
  lock: number;
  /** SQL of each run: what the first migration needs, and what follows the last one. */
  before: string;
  after?: string;
  /**
   * A database that has all of these migrations has the schema of the first one, which replaces them, but for what
   * `adopt` adds.
   */
  replaced: { record: string; names: readonly string[]; adopt: string; command: string };
}

/**
 * @param ownerUrl connection of the role that owns the schema, not that of the programs
 * @returns the names of the migrations that this call applied
 * @throws SetupError when the database lacks a migration that the first one replaces
 */
export async function applyMigrations(
  ownerUrl: string,
  schema: Schema,
  migrations: readonly Migration[],
): Promise<string[]> {
  const client = new Client(
    connectionConfig({
      url: ownerUrl,
      size: 1,
      applicationName: schema.applicationName,
      statementTimeoutMs: 0,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
    }),
  );
  // Its statements fail. Without a listener, the process would end.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await takeLock(client, schema.lock);
    await client.query(
      `CREATE SCHEMA IF NOT EXISTS ${schema.namespace};
       CREATE TABLE IF NOT EXISTS ${schema.record} (
         name text PRIMARY KEY,
         applied_at timestamptz NOT NULL DEFAULT now()
       );
       ${schema.before}`,
    );
    await retryLocks(() => adoptSchema(client, schema, migrations));
    const applied = await namesIn(client, schema.record);
    const missing = migrations.filter(({ name }) => !applied.has(name));
    for (const migration of missing) await retryLocks(() => apply(client, schema, migration));
    await client.query(schema.after ?? '');
    return missing.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/** The names of migrations that the database still lacks. */
export async function missingMigrations(
  db: Queries,
  record: string,
  migrations: readonly Migration[],
): Promise<string[]> {
  const [table] = await db.query<{ found: boolean }>('SELECT to_regclass(?) IS NOT NULL AS found', [
    record,
  ]);
  const rows =
    table?.found === true ? await db.query<{ name: string }>(`SELECT name FROM ${record}`) : [];
  const applied = new Set(rows.map(({ name }) => name));
  return migrations.map(({ name }) => name).filter((name) => !applied.has(name));
}

/** It is polled: a statement that waits would keep a snapshot that CREATE INDEX CONCURRENTLY waits for. */
async function takeLock(client: Client, lock: number): Promise<void> {
  const take = 'SELECT pg_try_advisory_lock($1) AS taken';
  while ((await client.query<{ taken: boolean }>(take, [lock])).rows[0]?.taken !== true) {
    await sleep(LOCK_POLL_MS);
  }
}

/**
 * A database that has all replaced migrations keeps its tables as they are, and the first migration is noted as
 * applied. The earlier names stay: a process of the earlier version that still runs goes on finding them.
 */
async function adoptSchema(
  client: Client,
  schema: Schema,
  [first]: readonly Migration[],
): Promise<void> {
  const { record, names, adopt, command } = schema.replaced;
  const earlier = await namesIn(client, record);
  if (first === undefined || earlier.size === 0) return;
  if ((await namesIn(client, schema.record)).has(first.name)) return;
  const lacking = names.filter((name) => !earlier.has(name));
  if (lacking.length > 0) {
    throw new SetupError(
      `The database was made by an earlier version and lacks its migrations ${lacking.join(', ')}. Run ` +
        `\`${command}\` of the last version that has the migration ${names.at(-1) ?? ''}, and then this one. ` +
        'If its data is not needed, create an empty database instead.',
    );
  }
  await apply(client, schema, { name: first.name, sql: adopt });
}

async function namesIn(client: Client, record: string): Promise<Set<string>> {
  const { rows: tables } = await client.query('SELECT WHERE to_regclass($1) IS NOT NULL', [record]);
  if (tables.length === 0) return new Set();
  const { rows } = await client.query<{ name: string }>(`SELECT name FROM ${record}`);
  return new Set(rows.map(({ name }) => name));
}

async function retryLocks(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const isLocked = error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE;
      if (!isLocked || attempt === LOCK_ATTEMPTS) throw error;
      await sleep(LOCK_RETRY_MS);
    }
  }
}

async function apply(client: Client, schema: Schema, migration: Migration): Promise<void> {
  const note = `INSERT INTO ${schema.record} (name) VALUES ($1)`;
  if ('concurrent' in migration) {
    await runConcurrent(client, schema.namespace, migration.concurrent);
    await client.query(note, [migration.name]);
    return;
  }
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query(note, [migration.name]);
    await client.query('COMMIT');
  } catch (error) {
    // A connection that is lost has rolled back, and the reason is in the first error.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** These statements may wait for locks, because they hold none that a request waits for. */
async function runConcurrent(
  client: Client,
  namespace: string,
  statements: readonly string[],
): Promise<void> {
  await client.query('SET lock_timeout = 0');
  try {
    // What an interrupted run left; IF NOT EXISTS would take it for done.
    const { rows } = await client.query<{ name: string }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE NOT indisvalid AND indrelid IN (
         SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace($1))`,
      [namespace],
    );
    for (const { name } of rows) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
  }
}
