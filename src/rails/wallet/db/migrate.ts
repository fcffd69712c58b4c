/**
 * Brings the schema `wallet` to its newest form: `npm run wallet -- migrate`, `npm start -- --chain` and the tests.
 */
import { Client, type DatabaseError } from 'pg';
import { errorText } from '../../../platform/lib/command-line';
import { SetupError } from '../../../platform/lib/setup-error';
import {
  applyMigrations,
  type Migration,
  missingMigrations,
  type Schema,
} from '../../../platform/postgres/migrate';
import type { Db } from './database';
import { MIGRATIONS } from './migrations';
import { REPLACED } from './migrations/replaced';

/** The group role that the wallet's login is a member of: what the program may do, and no more. */
export const WALLET_ROLE = 'wallet_app';
const RECORD = 'wallet.migration';

/** A role belongs to the server and may exist already, for another database. */
const PREPARE = `
  DO $$ BEGIN
    CREATE ROLE ${WALLET_ROLE} NOLOGIN;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$;
  REVOKE ALL ON SCHEMA wallet FROM PUBLIC;
  GRANT USAGE ON SCHEMA wallet TO ${WALLET_ROLE};
  -- The gateway's migrations take this right from PUBLIC in a database that both share.
  DO $$ BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO ${WALLET_ROLE}', current_database());
  END $$;
  GRANT SELECT ON ${RECORD} TO ${WALLET_ROLE};`;

const SCHEMA: Schema = {
  applicationName: 'wallet-migrate',
  namespace: 'wallet',
  record: RECORD,
  lock: 7_204_119,
  before: PREPARE,
  replaced: {
    record: RECORD,
    names: REPLACED,
    adopt: 'ALTER TABLE wallet.deposit VALIDATE CONSTRAINT deposit_final_agreed',
    command: 'npm run wallet -- migrate',
  },
};

/**
 * @param ownerUrl connection of the login that owns the schema, not the wallet's
 * @returns the names of the migrations that this call applied
 * @throws SetupError when the database lacks a migration that the baseline replaces
 */
export function migrateWallet(
  ownerUrl: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  return applyMigrations(ownerUrl, SCHEMA, migrations);
}

/** @throws SetupError when the schema is missing or older than this program */
export async function requireMigrations(db: Db): Promise<void> {
  const missing = await missingMigrations(db, RECORD, MIGRATIONS);
  if (missing.length === 0) return;
  throw new SetupError(
    `The database lacks migrations of the wallet (${missing.join(', ')}). Run npm run wallet -- migrate.`,
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
