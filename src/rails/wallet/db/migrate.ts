/**
 * Brings the schema `wallet` to its newest form: `npm run wallet -- migrate`, `npm start -- --chain`
 * and the tests. Each migration is one transaction; several runs at once wait for each other. A
 * migration that does not get a lock within LOCK_TIMEOUT_MS gives up, lets the wallet's statements
 * behind it pass, and is tried again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type DatabaseError } from 'pg';
import { errorText } from '../../../platform/lib/command-line';
import { SetupError } from '../../../platform/lib/setup-error';
import type { Db } from './database';
import { BASELINE, type Migration, MIGRATIONS } from './migrations';
import { REPLACED } from './migrations/replaced';

/** The group role that the wallet's login is a member of: what the program may do, and no more. */
export const WALLET_ROLE = 'wallet_app';

const LOCK_TIMEOUT_MS = 500;
const LOCK_RETRY_MS = 1_000;
/** Five minutes. */
const LOCK_ATTEMPTS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

/** Ends with the connection, so a killed run leaves nothing behind. */
const MIGRATION_LOCK = 7_204_119;

/**
 * @param ownerUrl connection of the login that owns the schema, not the wallet's
 * @returns the names of the migrations that this call applied
 * @throws SetupError when the database lacks a migration that the baseline replaces
 */
export async function migrateWallet(
  ownerUrl: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const client = new Client({ connectionString: ownerUrl, application_name: 'wallet-migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(PREPARE);
    await adoptBaseline(client, await appliedNames(client));
    const applied = await appliedNames(client);
    const missing = migrations.filter(({ name }) => !applied.has(name));
    for (const migration of missing) await applyPatiently(client, migration);
    return missing.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function appliedNames(client: Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM wallet.migration');
  return new Set(rows.map(({ name }) => name));
}

/**
 * A database that has all migrations that the baseline replaces keeps its tables as they are, and gets the
 * baseline's record.
 */
async function adoptBaseline(client: Client, applied: ReadonlySet<string>): Promise<void> {
  const lacking = REPLACED.filter((name) => !applied.has(name));
  if (lacking.length === REPLACED.length) return;
  if (lacking.length > 0) {
    throw new SetupError(
      `The wallet's database was made by an earlier version and lacks its migrations ${lacking.join(', ')}. ` +
        'Run `npm run wallet -- migrate` of the last version that has ' +
        'src/rails/wallet/db/migrations/0017-database-identity.ts, and then this one.',
    );
  }
  await client.query(
    `WITH gone AS (DELETE FROM wallet.migration WHERE name = ANY ($1))
     INSERT INTO wallet.migration (name) SELECT unnest($2::text[])`,
    [REPLACED, BASELINE.map(({ name }) => name)],
  );
}

async function applyPatiently(client: Client, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await apply(client, migration);
      return;
    } catch (error) {
      const isLocked = (error as DatabaseError).code === LOCK_NOT_AVAILABLE;
      if (!isLocked || attempt === LOCK_ATTEMPTS) throw error;
      await sleep(LOCK_RETRY_MS);
    }
  }
}

async function apply(client: Client, { name, sql }: Migration): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL lock_timeout = ${String(LOCK_TIMEOUT_MS)}`);
    await client.query(sql);
    await client.query('INSERT INTO wallet.migration (name) VALUES ($1)', [name]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** A role belongs to the server and may exist already, for another database. */
const PREPARE = `
  DO $$ BEGIN
    CREATE ROLE ${WALLET_ROLE} NOLOGIN;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$;
  CREATE SCHEMA IF NOT EXISTS wallet;
  REVOKE ALL ON SCHEMA wallet FROM PUBLIC;
  GRANT USAGE ON SCHEMA wallet TO ${WALLET_ROLE};
  -- The gateway's migrations take this right from PUBLIC in a database that both share.
  DO $$ BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO ${WALLET_ROLE}', current_database());
  END $$;
  CREATE TABLE IF NOT EXISTS wallet.migration (
    name text PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
  );
  GRANT SELECT ON wallet.migration TO ${WALLET_ROLE};
`;

/** @throws SetupError when the schema is missing or older than this program */
export async function requireMigrations(db: Db): Promise<void> {
  const [schema] = await db.query<{ found: string | null }>(
    "SELECT to_regclass('wallet.migration')::text AS found",
  );
  const applied =
    (schema?.found ?? null) === null
      ? []
      : await db.query<{ name: string }>('SELECT name FROM wallet.migration');
  const names = new Set(applied.map(({ name }) => name));
  const missing = MIGRATIONS.filter(({ name }) => !names.has(name));
  if (missing.length === 0) return;
  throw new SetupError(
    `The database lacks migrations of the wallet (${missing.map(({ name }) => name).join(', ')}). Run npm run wallet -- migrate.`,
  );
}

/**
 * Creates a login that may do what the wallet does, on a server that is ours to arrange: the local
 * one of `npm start` and of the tests. Running it again sets the password again.
 */
export async function ensureWalletLogin(
  ownerUrl: string,
  login: { user: string; password: string },
): Promise<void> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const user = client.escapeIdentifier(login.user);
    const password = client.escapeLiteral(login.password);
    for (const statement of [
      `CREATE ROLE ${user} LOGIN PASSWORD ${password}`,
      `ALTER ROLE ${user} LOGIN PASSWORD ${password}`,
      `GRANT ${WALLET_ROLE} TO ${user}`,
    ]) {
      await client.query(statement).catch(unlessDone);
    }
  } finally {
    await client.end();
  }
}

const DUPLICATE_OBJECT = '42710';
const UNIQUE_VIOLATION = '23505';
const INTERNAL_ERROR = 'XX000';

/** The role is there, or another process makes the same change at the same time. */
function unlessDone(error: unknown): void {
  const { code } = error as DatabaseError;
  if (code === DUPLICATE_OBJECT || code === UNIQUE_VIOLATION) return;
  if (code === INTERNAL_ERROR && /concurrently updated/.test(errorText(error))) return;
  throw error;
}
