/**
 * Brings a database to the newest schema. Called by `npm run migrate`, by `npm start` and by the
 * tests; several at once wait for each other.
 *
 * It has a connection of its own: a migration may take hours, but it may not make requests wait. A
 * statement that does not get its lock within LOCK_TIMEOUT_MS gives up, lets the requests behind it
 * pass, and is tried again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import knex, { type Knex } from 'knex';
import { type Client, DatabaseError } from 'pg';
import { SetupError } from '../platform/lib/setup-error';
import { connectionConfig } from '../platform/postgres/connection';
import type { Reader } from './transaction';
import { BASELINE, MIGRATIONS, type Migration } from './migrations';
import { REPLACED } from './migrations/replaced';
import { withClient } from './provision';

/** The time is short, because requests queue behind a statement that waits for a lock. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_RETRY_MS = 1_000;
/** With the waits between them, these take five minutes. */
const LOCK_ATTEMPTS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * An advisory lock, because knex's own is a row: who comes second fails instead of waiting, and a
 * killed run leaves it taken. This one ends with its connection. It is polled: a statement that waits
 * would keep a snapshot that CREATE INDEX CONCURRENTLY waits for.
 */
const MIGRATION_LOCK = 7_204_118;
const LOCK_POLL_MS = 100;

/**
 * @param ownerUrl connection of the role that owns the schema, not the application's
 * @returns the names of the migrations that this call applied
 * @throws SetupError when the database lacks a migration that the baseline replaces
 */
export async function migrate(
  ownerUrl: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  return withClient(ownerUrl, async (locker) => {
    await takeLock(locker);
    const db = connectKnex(ownerUrl);
    try {
      await retryLocks(() => adoptBaseline(db));
      const before = new Set(await appliedNames(db));
      await retryLocks(() => applyAll(db, migrations));
      // The list is knex's own table, so no migration can grant it; /readyz reads it.
      await db.raw(
        'GRANT SELECT ON knex_migrations TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard',
      );
      await db.raw(ALIGN_EVENT_CLOCK);
      await db.raw(CLOSE_DATABASE);
      return (await appliedNames(db)).filter((name) => !before.has(name));
    } finally {
      await db.destroy();
    }
  });
}

function connectKnex(url: string): Knex {
  // knex writes to stdout what it throws as well.
  const quiet = (): void => undefined;
  const settings = {
    size: 1,
    applicationName: 'gateway-migrate',
    statementTimeoutMs: 0,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  };
  return knex({
    client: 'pg',
    connection: connectionConfig({ url, ...settings }) as Knex.PgConnectionConfig,
    // A single connection, because the settings of a migration belong to its connection.
    pool: { min: 0, max: settings.size },
    log: { warn: quiet, error: quiet, deprecate: quiet, debug: quiet },
  });
}

/** After a dump was loaded; the tests of this module have other migrations, without events. */
const ALIGN_EVENT_CLOCK = `DO $$ BEGIN
  IF to_regproc('align_event_clock') IS NOT NULL THEN PERFORM align_event_clock(); END IF;
END $$`;

/**
 * By default, every login of the server may connect to a new database and make temporary tables there. Here the
 * roles of the programs connect, and the ledger check makes temporary tables. Each time, because a dump does
 * not contain these rights. The schema of the wallet may be in the same database.
 */
const CLOSE_DATABASE = `DO $$ DECLARE
  name text := quote_ident(current_database());
  wallet_owner text := (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'wallet');
BEGIN
  EXECUTE 'REVOKE CONNECT, TEMPORARY ON DATABASE ' || name || ' FROM PUBLIC';
  EXECUTE 'GRANT CONNECT ON DATABASE ' || name ||
    ' TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard';
  EXECUTE 'GRANT TEMPORARY ON DATABASE ' || name || ' TO gateway_worker';
  IF wallet_owner IS NOT NULL AND to_regrole('wallet_app') IS NOT NULL THEN
    EXECUTE 'GRANT CONNECT ON DATABASE ' || name || ' TO wallet_app';
    EXECUTE 'GRANT CONNECT ON DATABASE ' || name || ' TO ' || wallet_owner || ' WITH GRANT OPTION';
  END IF;
END $$`;

async function takeLock(locker: Client): Promise<void> {
  for (;;) {
    const { rows } = await locker.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS taken',
      [MIGRATION_LOCK],
    );
    if (rows[0]?.taken === true) return;
    await sleep(LOCK_POLL_MS);
  }
}

/**
 * A database that has all migrations that the baseline replaces keeps its tables as they are, and gets the
 * baseline's record. The two statements are what the baseline does not have: a function that nothing calls,
 * and a constraint that was not compared with the rows that it found.
 */
async function adoptBaseline(db: Knex): Promise<void> {
  const applied = new Set(await appliedNames(db));
  const lacking = REPLACED.filter((name) => !applied.has(name));
  if (lacking.length === REPLACED.length) return;
  if (lacking.length > 0) {
    throw new SetupError(
      `The database was made by an earlier version and lacks its migrations ${lacking.join(', ')}. ` +
        'Run `npm run migrate` of the last version that has src/db/migrations/0033-payout-batches.ts, ' +
        'and then this one. If its data is not needed, create an empty database instead.',
    );
  }
  await db.transaction(async (tx) => {
    await tx.raw('DROP FUNCTION IF EXISTS authenticate_key(bytea, inet)');
    await tx.raw('ALTER TABLE payout_decisions VALIDATE CONSTRAINT payout_decisions_outcome_check');
    await tx('knex_migrations').whereIn('name', REPLACED).delete();
    const record = { batch: 1, migration_time: tx.fn.now() };
    await tx('knex_migrations').insert(BASELINE.map(({ name }) => ({ name, ...record })));
  });
}

/** Migrations that were applied before a lock was not available stay applied. */
async function retryLocks(apply: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await apply();
      return;
    } catch (error) {
      const locked = error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE;
      if (!locked || attempt === LOCK_ATTEMPTS) throw error;
      await sleep(LOCK_RETRY_MS);
    }
  }
}

async function applyAll(db: Knex, migrations: readonly Migration[]): Promise<void> {
  const migrationSource = sourceOf(migrations);
  await db.migrate.forceFreeMigrationsLock({ migrationSource });
  await db.migrate.latest({ migrationSource });
}

function sourceOf(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: () => Promise.resolve([...migrations]),
    getMigrationName: (migration) => migration.name,
    getMigration: (migration) =>
      Promise.resolve({
        config: { transaction: 'sql' in migration },
        up: (db) => ('sql' in migration ? run(db, migration.sql) : runConcurrent(db, migration)),
        down: () => Promise.reject(new Error('migrations only go forward')),
      }),
  };
}

/** These statements may wait for locks, because they hold none that a request waits for. */
async function runConcurrent(
  db: Knex,
  { concurrent }: Extract<Migration, { concurrent: readonly string[] }>,
): Promise<void> {
  await db.raw('SET lock_timeout = 0');
  try {
    // What an interrupted run left; IF NOT EXISTS would take it for done.
    const { rows } = await db.raw<{ rows: { name: string }[] }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index
      WHERE NOT indisvalid AND indrelid IN (
        SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`,
    );
    for (const { name } of rows) await db.raw(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    for (const statement of concurrent) await run(db, statement);
  } finally {
    await db.raw(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
  }
}

async function run(db: Knex, sql: string): Promise<void> {
  await db.raw(sql.replaceAll('?', '\\?'));
}

/** The names of migrations that the database still lacks; /readyz wants none. */
export async function pendingMigrations(db: Reader): Promise<string[]> {
  const [record] = await db.query<{ found: boolean }>(
    "SELECT to_regclass('knex_migrations') IS NOT NULL AS found",
  );
  const found =
    record?.found === true
      ? await db.query<{ name: string }>('SELECT name FROM knex_migrations')
      : [];
  const applied = new Set(found.map(({ name }) => name));
  return MIGRATIONS.map(({ name }) => name).filter((name) => !applied.has(name));
}

async function appliedNames(db: Knex): Promise<string[]> {
  if (!(await db.schema.hasTable('knex_migrations'))) return [];
  const done = await db('knex_migrations').select<{ name: string }[]>('name').orderBy('id');
  return done.map(({ name }) => name);
}
