/**
 * Which gateway a command works on: its database, its pepper and, in development, its demo
 * merchant.
 */
import type { Client } from '@temporalio/client';
import { connect } from '../db/connect';
import { pendingMigrations } from '../db/migrate';
import { withClient } from '../db/provision';
import { findDemoMerchant } from '../db/repositories/accounts';
import type { Db } from '../db/transaction';
import { UsageError } from '../lib/command-line';
import { dataLayout, developmentDatabaseUrl, readPrivateJson } from '../lib/data-folder';
import { SetupError } from '../lib/setup-error';
import { requireAccount } from '../services/admin/accounts';
import { createTemporalClient } from '../temporal/client';

/** As src/config.ts asks it of the gateway itself. */
const PEPPER_LENGTH_MIN = 32;

/** @throws SetupError when there is no database, or it lacks a migration */
export async function openDatabase(env: NodeJS.ProcessEnv): Promise<Db> {
  const url = databaseAddress(env);
  // Asked first by a plain client, whose error says what is wrong with the connection.
  await withClient(url, (client) => client.query('SELECT 1'));
  const db = connect({ url, size: 1, applicationName: 'gateway-admin' });
  try {
    await refuseOldSchema(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function refuseOldSchema(db: Db): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length === 0) return;
  throw new SetupError(
    `The database lacks ${pending.join(', ')}: run \`npm run migrate\`, in development \`npm start\`.`,
  );
}

/** @throws SetupError */
export function readPepper(env: NodeJS.ProcessEnv): string {
  const given = env['KEY_PEPPER'] ?? '';
  if (given.length >= PEPPER_LENGTH_MIN) return given;
  if (given !== '') {
    throw new SetupError('KEY_PEPPER is too short: it is the one that the gateway runs with.');
  }
  const kept = isDevelopmentDatabase(env)
    ? readPrivateJson(dataLayout(env).secrets)['KEY_PEPPER']
    : undefined;
  if (typeof kept === 'string' && kept !== '') return kept;
  throw new SetupError(
    'KEY_PEPPER is not set: keys are stored as an HMAC with it, so set the one that the gateway ' +
      'runs with.',
  );
}

/** @throws SetupError */
export function connectTemporal(env: NodeJS.ProcessEnv): Client {
  const local = isDevelopmentDatabase(env)
    ? readPrivateJson(dataLayout(env).settings)['temporal_address']
    : undefined;
  const address = env['TEMPORAL_ADDRESS'] ?? '';
  if (address === '' && typeof local !== 'string') {
    throw new SetupError(
      'TEMPORAL_ADDRESS is not set: it is host:port of the cluster that the gateway works with.',
    );
  }
  return createTemporalClient({
    address: address === '' ? (local as string) : address,
    namespace: (env['TEMPORAL_NAMESPACE'] ?? '') || 'default',
  });
}

/** @throws UsageError, AdminRefusal */
export async function findAccountId(
  db: Db,
  env: NodeJS.ProcessEnv,
  asked: string | undefined,
): Promise<string> {
  if (asked !== undefined) return (await requireAccount(db, asked)).id;
  const demo = isProduction(env) ? null : await findDemoMerchant(db);
  if (demo !== null) return demo;
  throw new UsageError('--account is missing: `accounts list` shows the ids, acc_….');
}

function databaseAddress(env: NodeJS.ProcessEnv): string {
  const given = env['DATABASE_OWNER_URL'] ?? '';
  if (given === '' && isProduction(env)) {
    throw new SetupError(
      'DATABASE_OWNER_URL is not set: it connects the role that owns the schema, as in ' +
        'postgres://owner:password@host:5432/gateway.',
    );
  }
  if (given === '') return developmentDatabaseUrl(env, 'set DATABASE_OWNER_URL');
  if (/^postgres(ql)?:\/\//.test(given)) return given;
  throw new SetupError(
    'DATABASE_OWNER_URL is not a PostgreSQL address: it begins with postgres://.',
  );
}

/** The secrets that `npm start` keeps in a file; null when the command works on another database. */
export function developmentSecrets(env: NodeJS.ProcessEnv): Record<string, unknown> | null {
  return isDevelopmentDatabase(env) ? readPrivateJson(dataLayout(env).secrets) : null;
}

/** The local pepper belongs to this one database; on another it would make keys that never work. */
function isDevelopmentDatabase(env: NodeJS.ProcessEnv): boolean {
  const local = readPrivateJson(dataLayout(env).settings)['postgres_url'];
  return !isProduction(env) && databaseAddress(env) === local;
}

function isProduction(env: NodeJS.ProcessEnv): boolean {
  return env['GATEWAY_ENV'] === 'production';
}
