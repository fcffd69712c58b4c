/**
 * A database of its own for a test file, copied from the migrated template in some 50 ms.
 */
import { randomBytes } from 'node:crypto';
import { connect } from '../../../src/db/connect';
import { migrate } from '../../../src/db/migrate';
import type { Db } from '../../../src/db/transaction';
import { databaseUrl, ensureLogin, withClient } from '../../../src/db/provision';
import { removeGuard } from '../../guards/removed';
import { ensureWalletLogin, migrateWallet } from '../../../src/rails/wallet/db/migrate';
import knex from 'knex';

/** These are migrated once for each server. */
const TEMPLATE_DATABASE = 'gateway_template';
const WALLET_TEMPLATE = 'wallet_template';

/** What tests of the database log in with: the rights of all three programs, and no more. */
export const APP_LOGIN = { user: 'gateway_test_app', password: 'gateway-test-app' } as const;
export const API_LOGIN = { user: 'gateway_test_api', password: 'gateway-test-api' } as const;
export const WORKER_LOGIN = {
  user: 'gateway_test_worker',
  password: 'gateway-test-worker',
} as const;
export const DASHBOARD_LOGIN = {
  user: 'gateway_test_dashboard',
  password: 'gateway-test-dashboard',
} as const;
const WALLET_LOGIN = { user: 'wallet_test', password: 'wallet-test' } as const;
const ADMIN_LOGIN = { user: 'gateway_test_admin', password: 'gateway-test-admin' } as const;

export interface TestDatabase {
  name: string;
  /** Connects the role that owns the schema. */
  ownerUrl: string;
  /** Connects a login that has the roles of all programs. */
  appUrl: string;
  /** Connect logins that have the role of one program, as in production. */
  apiUrl: string;
  workerUrl: string;
  adminUrl: string;
  dashboardUrl: string;
  /** Ends every connection to it and removes it. */
  drop: () => Promise<void>;
}

/** Makes a server ready for `createTestDatabase`. */
export async function createTemplate(serverUrl: string): Promise<void> {
  await recreateDatabase(serverUrl, TEMPLATE_DATABASE);
  const templateUrl = databaseUrl(serverUrl, { database: TEMPLATE_DATABASE });
  await migrate(templateUrl);
  await removeGuard(templateUrl, 'sql');
  await ensureLogin(templateUrl, APP_LOGIN, ['gateway_api', 'gateway_worker', 'gateway_admin']);
  await ensureLogin(templateUrl, API_LOGIN, ['gateway_api']);
  await ensureLogin(templateUrl, WORKER_LOGIN, ['gateway_worker']);
  await ensureLogin(templateUrl, ADMIN_LOGIN, ['gateway_admin']);
  await ensureLogin(templateUrl, DASHBOARD_LOGIN, ['gateway_dashboard']);
  await createWalletTemplate(serverUrl);
}

async function createWalletTemplate(serverUrl: string): Promise<void> {
  await recreateDatabase(serverUrl, WALLET_TEMPLATE);
  const templateUrl = databaseUrl(serverUrl, { database: WALLET_TEMPLATE });
  await migrateWallet(templateUrl);
  await removeGuard(templateUrl, 'wallet-sql');
  await ensureWalletLogin(templateUrl, WALLET_LOGIN);
}

async function recreateDatabase(serverUrl: string, database: string): Promise<void> {
  await withClient(serverUrl, async (client) => {
    await client.query(`drop database if exists ${database} with (force)`);
    await client.query(`create database ${database}`);
  });
}

/** @param template what it is a copy of, which nobody may be connected to */
export async function createTestDatabase(template = TEMPLATE_DATABASE): Promise<TestDatabase> {
  return findTestDatabase(await copyDatabase(template, 'test'));
}

/** @returns the name of the copy */
export async function copyDatabase(template: string, prefix: string): Promise<string> {
  const database = `${prefix}_${randomBytes(6).toString('hex')}`;
  // Not by way of the write-ahead log: with wal_level=minimal a server that is killed before its next
  // checkpoint would come back with broken indexes on the copy's unlogged tables.
  await withClient(serverUrl(), (client) =>
    client.query(`create database ${database} template ${template} strategy file_copy`),
  );
  return database;
}

type Role = 'owner' | 'app' | 'worker' | 'dashboard';

/** A test database with a pool for each of these roles. @param sizes connections of each */
export async function openTestDatabase<Opened extends Role>(
  sizes: Record<Opened, number>,
): Promise<TestDatabase & Record<Opened, Db> & { stop: () => Promise<void> }> {
  const database = await createTestDatabase();
  const pools = Object.fromEntries(
    Object.entries<number>(sizes).map(([role, size]) => {
      const url = database[`${role as Role}Url`];
      return [role, connect({ url, size, applicationName: `test-${role}` })];
    }),
  ) as Record<Opened, Db>;
  const stop = async (): Promise<void> => {
    await Promise.all(Object.values<Db>(pools).map((pool) => pool.destroy()));
    await database.drop();
  };
  return { ...database, ...pools, stop };
}

/** One that exists. */
export function findTestDatabase(database: string): TestDatabase {
  const server = serverUrl();
  const ownerUrl = databaseUrl(server, { database });
  return {
    name: database,
    ownerUrl,
    appUrl: databaseUrl(ownerUrl, APP_LOGIN),
    apiUrl: databaseUrl(ownerUrl, API_LOGIN),
    workerUrl: databaseUrl(ownerUrl, WORKER_LOGIN),
    adminUrl: databaseUrl(ownerUrl, ADMIN_LOGIN),
    dashboardUrl: databaseUrl(ownerUrl, DASHBOARD_LOGIN),
    drop: () => dropDatabase(database),
  };
}

export interface WalletDatabase {
  url: string;
  /** Connects the login that owns the schema. */
  ownerUrl: string;
  drop: () => Promise<void>;
}

/** @param template a migrated database that nobody may be connected to */
export async function createWalletDatabase(template = WALLET_TEMPLATE): Promise<WalletDatabase> {
  const database = await copyDatabase(template, 'wallet');
  const ownerUrl = databaseUrl(serverUrl(), { database });
  return {
    url: databaseUrl(ownerUrl, WALLET_LOGIN),
    ownerUrl,
    drop: () => dropDatabase(database),
  };
}

/** A backup of this moment, restored beside the original, which nobody may be connected to. */
export function copyWalletDatabase({ ownerUrl }: WalletDatabase): Promise<WalletDatabase> {
  return createWalletDatabase(new URL(ownerUrl).pathname.slice(1));
}

async function dropDatabase(database: string): Promise<void> {
  await withClient(serverUrl(), (client) => client.query(`drop database ${database} with (force)`));
}

/** The server is shared with other test files, so only one gateway's database goes away. */
export async function allowConnections(
  { database }: { database: Pick<TestDatabase, 'ownerUrl'> },
  allowed: boolean,
): Promise<void> {
  const name = new URL(database.ownerUrl).pathname.slice(1);
  await withClient(databaseUrl(serverUrl(), { database: 'postgres' }), async (superuser) => {
    await superuser.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`);
    if (allowed) return;
    const others = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1';
    await superuser.query(others, [name]);
  });
}

function serverUrl(): string {
  const server = process.env['TEST_POSTGRES_URL'];
  if (server === undefined) throw new Error('TEST_POSTGRES_URL is not set: run it with jest');
  return server;
}

/** As if its indexes had been built with another C library. */
export async function changeCollation(name: string): Promise<void> {
  await withClient(databaseUrl(serverUrl(), { database: 'postgres' }), async (superuser) => {
    await superuser.query("UPDATE pg_database SET datcollversion = '0' WHERE datname = $1", [name]);
  });
}

/** Composes a query for `Database.query`, such as an INSERT of the columns of an object. */
export const compose = knex({ client: 'pg' });
