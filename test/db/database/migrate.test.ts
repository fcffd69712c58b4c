import { randomBytes } from 'node:crypto';
import { connect } from '../../../src/db/connect';
import { migrate, pendingMigrations } from '../../../src/db/migrate';
import { MIGRATIONS } from '../../../src/db/migrations';
import { REPLACED } from '../../../src/db/migrations/replaced';
import type { Migration } from '../../../src/platform/postgres/migrate';
import { scaled } from '../../support/scale';
import { databaseUrl, withClient } from '../../../src/db/provision';
import { waitThroughFaults } from '../../support/wait-for';
import { APP_LOGIN } from '../../support/servers/database';

const NAMES = MIGRATIONS.map((migration) => migration.name);

/** The newest one of some tests. */
const TWO_TABLES: Migration = {
  name: '9000-two-tables',
  sql: 'CREATE TABLE one (n integer); CREATE TABLE two (n integer)',
};
const WITH_TWO_TABLES = [...MIGRATIONS, TWO_TABLES];
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
  const endless: Migration = { name: '9000-endless', sql: 'SELECT pg_sleep(600)' };
  await migrate(ownerUrl);
  const killed = migrate(ownerUrl, [...MIGRATIONS, endless]).catch((error: unknown) => error);
  const kill = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'gateway-migrate' and datname = current_database() and query like '%pg_sleep%'
      and pid <> pg_backend_pid()`;
  await waitThroughFaults('the run to be killed', async () => {
    const { rows } = await withClient(ownerUrl, (client) => client.query(kill));
    return rows.length > 0;
  });
  expect(String(await killed)).toContain('terminat');
  expect(await migrate(ownerUrl, WITH_TWO_TABLES)).toEqual([TWO_TABLES.name]);
});

test('a migration that fails leaves nothing behind, and runs again', async () => {
  await migrate(ownerUrl);
  await onDatabase('create table two (n integer)');
  await expect(migrate(ownerUrl, WITH_TWO_TABLES)).rejects.toThrow('already exists');
  expect(await exists('one')).toBe(false);
  expect(await namesOnRecord()).toEqual(NAMES);
  await onDatabase('drop table two');
  expect(await migrate(ownerUrl, WITH_TWO_TABLES)).toEqual([TWO_TABLES.name]);
  expect(await exists('one')).toBe(true);
});

test('only the roles of the programs connect, and only the worker makes temporary tables', async () => {
  // A wallet that shares the database keeps its right.
  await onServer(
    `do $$ begin create role wallet_app nologin;
     exception when duplicate_object or unique_violation then null; end $$`,
  );
  await onDatabase('create schema wallet');
  await migrate(ownerUrl);
  const name = new URL(ownerUrl).pathname.slice(1);
  const roles = ['public', 'gateway_merchant', 'gateway_api', 'gateway_worker', 'wallet_app'];
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ role: string; connect: boolean; temp: boolean }>(
      `select role, has_database_privilege(role, $1, 'CONNECT') as connect,
              has_database_privilege(role, $1, 'TEMPORARY') as temp
         from unnest($2::text[]) as role`,
      [name, roles],
    ),
  );
  expect(rows.map(({ role, connect: may, temp }) => [role, may, temp])).toEqual([
    ['public', false, false],
    ['gateway_merchant', false, false],
    ['gateway_api', true, false],
    ['gateway_worker', true, true],
    ['wallet_app', true, false],
  ]);
});

test('the application sees which migrations are missing', async () => {
  expect(await pendingForApplication()).toEqual(NAMES);
  await migrate(ownerUrl);
  expect(await pendingForApplication()).toEqual([]);
  await onDatabase(`delete from schema_migrations where name = '${NAMES.at(-1)!}'`);
  expect(await pendingForApplication()).toEqual([NAMES.at(-1)]);
});

describe('a database of the migrations that the baseline replaces', () => {
  async function setRecord(names: readonly string[]): Promise<void> {
    await onDatabase(`
      drop table schema_migrations;
      create table knex_migrations (
        id serial primary key, name text, batch integer, migration_time timestamptz);
      insert into knex_migrations (name, batch, migration_time)
        select name, 1, now() from unnest('{${names.join(',')}}'::text[]) name`);
  }

  const LATER = NAMES.slice(1);

  beforeEach(() => migrate(ownerUrl, MIGRATIONS.slice(0, 1)));

  test('is adopted: the baseline does not run, and later migrations do', async () => {
    await setRecord(REPLACED);
    await onDatabase(`insert into accounts (id, name) values ('acc_1', 'Merchant')`);
    expect(await migrate(ownerUrl, WITH_TWO_TABLES)).toEqual([...LATER, TWO_TABLES.name]);
    expect(await namesOnRecord()).toEqual([...NAMES, TWO_TABLES.name]);
    expect(await migrate(ownerUrl, WITH_TWO_TABLES)).toEqual([]);
  });

  test('gets what it lacks of the baseline, or nothing', async () => {
    await setRecord(REPLACED);
    await onDatabase(`
      insert into users (id, kind, email, password_hash) values ('u', 'merchant', 'u', 'x');
      alter table payout_decisions drop constraint payout_decisions_outcome_check;
      insert into payout_decisions (id, payout_id, kind, user_id, email, outcome, decided_at)
        values ('d', 'po', 'approve', 'u', 'u', 'unknown', now());
      alter table payout_decisions
        add constraint payout_decisions_outcome_check check (outcome = 'applied') not valid`);
    await expect(migrate(ownerUrl)).rejects.toThrow('payout_decisions_outcome_check');
    expect(await namesOnRecord()).toEqual([]);
    await onDatabase(`update payout_decisions set outcome = 'applied'`);
    expect(await migrate(ownerUrl)).toEqual(LATER);
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query(
        "select convalidated from pg_constraint where conname = 'payout_decisions_outcome_check'",
      ),
    );
    expect(rows).toEqual([{ convalidated: true }]);
  });

  test('is refused without one of them, and not changed', async () => {
    const older = REPLACED.filter((name) => name !== '0096-blocked-decisions');
    await setRecord(older);
    await expect(migrate(ownerUrl)).rejects.toThrow(
      /lacks its migrations 0096-blocked-decisions\. Run `npm run migrate` of the last version/,
    );
    expect(await namesOnRecord()).toEqual([]);
  });
});

describe('on a table in use', () => {
  const INDEX: Migration = {
    name: '9001-index',
    concurrent: ['CREATE INDEX CONCURRENTLY IF NOT EXISTS big_by_n ON big (n)'],
  };
  const COLUMN: Migration = { name: '9002-column', sql: 'ALTER TABLE big ADD COLUMN note text' };

  beforeEach(async () => {
    await migrate(ownerUrl);
    await onDatabase(
      `create table big as select n, n % 2 = 0 as even
         from generate_series(1, ${scaled(20_000, 10_000_000)}) as n;
       alter table big add primary key (n)`,
    );
  });

  test('no request fails while an index is built and a column is added', async () => {
    const done = new AbortController();
    const work = requests(done.signal);
    const blocker = openTransaction();
    const migrated = migrate(ownerUrl, [...MIGRATIONS, INDEX, COLUMN]);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await (
      await blocker
    )();
    expect(await migrated).toEqual([INDEX.name, COLUMN.name]);
    done.abort();
    const { count, slowestMs } = await work;
    expect(count).toBeGreaterThan(10);
    // A request waits for a migration's attempt at most as long as that attempt waits for its lock.
    expect(slowestMs).toBeLessThan(scaled(30_000, 1_500));
  });

  test('an index whose building was interrupted is built anew', async () => {
    await onDatabase('create index big_by_n on big (n)');
    await onDatabase(
      "update pg_index set indisvalid = false where indexrelid = 'big_by_n'::regclass",
    );
    await migrate(ownerUrl, [...MIGRATIONS, INDEX]);
    const { rows } = await withClient(ownerUrl, (client) =>
      client.query("select indisvalid from pg_index where indexrelid = 'big_by_n'::regclass"),
    );
    expect(rows).toEqual([{ indisvalid: true }]);
  });

  test('a second run that waits does not hold up an index', async () => {
    const both = [
      migrate(ownerUrl, [...MIGRATIONS, INDEX]),
      migrate(ownerUrl, [...MIGRATIONS, INDEX]),
    ];
    expect((await Promise.all(both)).flat()).toEqual([INDEX.name]);
  });

  test('it has no statement timeout', async () => {
    const timeouts: Migration = {
      name: '9003-timeouts',
      sql: `CREATE TABLE timeouts AS SELECT current_setting('statement_timeout') AS statement,
                                            current_setting('lock_timeout') AS lock`,
    };
    await migrate(ownerUrl, [...MIGRATIONS, timeouts]);
    const { rows } = await withClient(ownerUrl, (client) => client.query('table timeouts'));
    expect(rows).toEqual([{ statement: '0', lock: '500ms' }]);
  });

  /** Reads and writes one after the other, as requests do. */
  async function requests(signal: AbortSignal): Promise<{ count: number; slowestMs: number }> {
    return withClient(ownerUrl, async (client) => {
      await client.query("set statement_timeout = '15s'");
      let slowestMs = 0;
      let count = 0;
      for (; !signal.aborted; count++) {
        const start = performance.now();
        await client.query('update big set even = not even where n = $1', [1 + (count % 1_000)]);
        slowestMs = Math.max(slowestMs, performance.now() - start);
      }
      return { count, slowestMs };
    });
  }

  /** A reader that keeps an ALTER TABLE waiting. @returns what ends it */
  async function openTransaction(): Promise<() => Promise<void>> {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let ready: () => void = () => undefined;
    const started = new Promise<void>((resolve) => (ready = resolve));
    const transaction = withClient(ownerUrl, async (client) => {
      await client.query('begin');
      await client.query('select from big limit 1');
      ready();
      await ended;
      await client.query('commit');
    });
    await started;
    return () => {
      end();
      return transaction;
    };
  }
});

/** Statements that rewrite a table, or lock it for as long as its size takes. */
const HARMFUL: [what: string, pattern: RegExp][] = [
  ['an index without CONCURRENTLY', /^create (?:unique )?index (?!concurrently)/],
  ['dropping an index without CONCURRENTLY', /^drop index (?!concurrently)/],
  ['another type of a column', /^alter table .* alter (?:column )?\S+ (?:set data )?type /],
  ['NOT NULL that is checked on all rows', /^alter table .* set not null/],
  [
    'a column with a volatile default',
    /^alter table .* add (?:column )?.* default (?!null|true|false|'|-?\d|now\(\))/,
  ],
  [
    'a constraint that is checked at once',
    /^alter table (?!.*(?:not valid|using index)).* add (?:constraint|foreign|primary|unique|check)/,
  ],
  // There are few users: a person each.
  ['changing all rows', /^(?:update (?!users )|delete from )/],
  ['rewriting the table', /^(?:cluster|vacuum full|reindex (?!.*concurrently)|lock )/],
];

/** Tables of a few rows that operators write: rewriting one takes no longer than any other change of it. */
const SMALL: ReadonlySet<string> = new Set(['payout_pauses', 'policy_proposals']);

/** What a migration must not do to tables that an earlier one made. */
function findHarm(migration: Migration, known: ReadonlySet<string>): string[] {
  const text = 'sql' in migration ? migration.sql : migration.concurrent.join(';');
  const statements = text
    .replace(/\$\$.*?\$\$/gs, '')
    .replace(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim().toLowerCase());
  return statements.flatMap((statement) => {
    const changed = /^(?:alter table|update) (\w+)/.exec(statement)?.[1];
    if (changed !== undefined && SMALL.has(changed)) return [];
    const harm = HARMFUL.filter(([, pattern]) => pattern.test(statement));
    const words = new Set(statement.split(/[\s(),.]+/));
    const isKnown =
      [...known].some((table) => words.has(table)) || statement.startsWith('drop index');
    return isKnown ? harm.map(([what]) => `${migration.name}: ${what}: ${statement}`) : [];
  });
}

test('no migration rewrites or locks a table that an earlier one made', () => {
  const known = new Set<string>();
  for (const migration of MIGRATIONS) {
    expect(findHarm(migration, known)).toEqual([]);
    const text = 'sql' in migration ? migration.sql : '';
    for (const [, table] of text.matchAll(/create (?:unlogged )?table (\w+)/gi)) known.add(table!);
  }
  expect(known.size).toBeGreaterThan(20);
});

test.each([
  'CREATE INDEX x ON payouts (status)',
  'CREATE UNIQUE INDEX x ON payouts (status)',
  'DROP INDEX payouts_newest',
  'ALTER TABLE payouts ALTER COLUMN amount TYPE numeric(40,8)',
  'ALTER TABLE payouts ALTER amount TYPE text',
  'ALTER TABLE payouts ALTER COLUMN network SET NOT NULL',
  'ALTER TABLE payouts ADD COLUMN x uuid DEFAULT gen_random_uuid()',
  'ALTER TABLE payouts ADD CONSTRAINT x CHECK (amount > 1)',
  'ALTER TABLE payouts ADD FOREIGN KEY (api_key_id) REFERENCES api_keys',
  'UPDATE payouts SET network = NULL',
  'LOCK TABLE payouts',
])('the lint refuses %s', (sql) => {
  expect(findHarm({ name: 'x', sql: `-- why\n${sql};` }, new Set(['payouts']))).toHaveLength(1);
});

test.each([
  'CREATE INDEX CONCURRENTLY x ON payouts (status)',
  'DROP INDEX CONCURRENTLY payouts_newest',
  'ALTER TABLE payouts ADD COLUMN x text',
  "ALTER TABLE payouts ADD COLUMN x text NOT NULL DEFAULT ''",
  'ALTER TABLE payouts ADD CONSTRAINT x CHECK (amount > 1) NOT VALID',
  'ALTER TABLE payouts VALIDATE CONSTRAINT x',
  'ALTER TABLE payouts ADD CONSTRAINT x UNIQUE USING INDEX y',
  'CREATE INDEX x ON new_table (payouts_id)',
])('the lint accepts %s', (sql) => {
  expect(findHarm({ name: 'x', sql }, new Set(['payouts']))).toEqual([]);
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
    client.query<{ name: string }>('select name from schema_migrations order by applied_at'),
  );
  return rows.map((row) => row.name);
}

async function exists(table: string): Promise<boolean> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [table]),
  );
  return rows[0]!.found;
}

async function onDatabase(sql: string): Promise<void> {
  await withClient(ownerUrl, (client) => client.query(sql));
}

async function onServer(sql: string): Promise<void> {
  await withClient(SERVER_URL, (client) => client.query(sql));
}
