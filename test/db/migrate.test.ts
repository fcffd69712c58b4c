import { randomBytes } from 'node:crypto';
import { connect } from '../../src/db/connect';
import { migrate, pendingMigrations } from '../../src/db/migrate';
import { MIGRATIONS } from '../../src/db/migrations';
import { databaseUrl, withClient } from '../../src/db/provision';
import { APP_LOGIN } from '../support/database';

const NAMES = MIGRATIONS.map((migration) => migration.name);

/** What the newest migration made. */
const UNDO_NEWEST =
  'delete from currency_routes; delete from fee_rules; delete from payout_policies';
const SERVER_URL = process.env['TEST_POSTGRES_URL']!;

let ownerUrl: string;

beforeEach(async () => {
  const database = `migrate_${randomBytes(6).toString('hex')}`;
  await onServer(`create database ${database}`);
  ownerUrl = databaseUrl(SERVER_URL, { database });
});

afterEach(() => onServer(`drop database ${new URL(ownerUrl).pathname.slice(1)} with (force)`));

test('several at once wait for each other: each migration runs once', async () => {
  const applied = await Promise.all([migrate(ownerUrl), migrate(ownerUrl), migrate(ownerUrl)]);
  expect(applied.flat()).toEqual(NAMES);
  expect(await namesOnRecord()).toEqual(NAMES);
});

test('running it again applies nothing', async () => {
  expect(await migrate(ownerUrl)).toEqual(NAMES);
  expect(await migrate(ownerUrl)).toEqual([]);
});

test('a run that was killed does not keep the next one out', async () => {
  await migrate(ownerUrl);
  await onDatabase('update knex_migrations_lock set is_locked = 1');
  await onDatabase(`delete from knex_migrations where name = '${NAMES.at(-1)!}'`);
  await onDatabase(UNDO_NEWEST);
  expect(await migrate(ownerUrl)).toEqual([NAMES.at(-1)]);
});

test('a migration that fails leaves nothing behind, and runs again', async () => {
  await migrate(ownerUrl);
  await onDatabase(`delete from knex_migrations where name = '${NAMES.at(-1)!}'`);
  await onDatabase('delete from currency_routes; delete from fee_rules');
  // The routes and fees are written before the limits, which are there already.
  await expect(migrate(ownerUrl)).rejects.toThrow('duplicate key');
  expect(await count('currency_routes')).toBe(0);
  expect(await namesOnRecord()).toEqual(NAMES.slice(0, -1));
  await onDatabase(UNDO_NEWEST);
  expect(await migrate(ownerUrl)).toEqual([NAMES.at(-1)]);
  expect(await count('currency_routes')).toBeGreaterThan(0);
});

test('the application sees which migrations are missing', async () => {
  expect(await pendingForApplication()).toEqual(NAMES);
  await migrate(ownerUrl);
  expect(await pendingForApplication()).toEqual([]);
  await onDatabase(`delete from knex_migrations where name = '${NAMES.at(-1)!}'`);
  expect(await pendingForApplication()).toEqual([NAMES.at(-1)]);
});

async function pendingForApplication(): Promise<string[]> {
  const db = connect({
    url: databaseUrl(ownerUrl, APP_LOGIN),
    size: 1,
    applicationName: 'migrate-test',
  });
  try {
    return await pendingMigrations(db);
  } finally {
    await db.destroy();
  }
}

async function namesOnRecord(): Promise<string[]> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ name: string }>('select name from knex_migrations order by id'),
  );
  return rows.map((row) => row.name);
}

async function count(table: string): Promise<number> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ n: number }>(`select count(*)::int as n from ${table}`),
  );
  return rows[0]!.n;
}

async function onDatabase(sql: string): Promise<void> {
  await withClient(ownerUrl, (client) => client.query(sql));
}

async function onServer(sql: string): Promise<void> {
  await withClient(SERVER_URL, (client) => client.query(sql));
}
