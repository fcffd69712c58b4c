import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startLocalPostgres } from '../../src/dev/local-postgres';
import { withClient } from '../../src/db/provision';
import { isSameProcess, identifyProcess } from '../../src/dev/processes';
import { findFreePort } from '../../src/dev/ports';

let folder: string;
const running: LocalPostgres[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'local-postgres-'));
  // Run by root, PostgreSQL is another user and has to pass through.
  chmodSync(folder, 0o711);
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  rmSync(folder, { recursive: true });
});

test('the data survives a stop and kill -9', async () => {
  const first = await start();
  await withClient(first.superuserUrl, (client) =>
    client.query('create table kept as select 42 as answer'),
  );
  await first.stop();
  const second = await start();
  expect(await readAnswer(second)).toBe(42);

  process.kill(second.pid, 'SIGKILL');

  const third = await start();
  expect(await readAnswer(third)).toBe(42);
});

test('a server left running is stopped before the next one starts', async () => {
  const left = await start();
  const identity = identifyProcess(left.pid)!;
  const next = await start();
  expect(isSameProcess(identity)).toBe(false);
  expect(await readNumber(next, 'select 1 as answer')).toBe(1);
});

test('another process with the id of an earlier server is not stopped', async () => {
  const first = await start();
  await first.stop();
  writeFileSync(join(folder, 'data', 'postmaster.pid'), `${process.pid}\n${folder}/data\n`);
  const next = await start();
  expect(await readNumber(next, 'select 1 as answer')).toBe(1);
});

test('a password is required, and its file is private', async () => {
  const server = await start();
  expect(statSync(join(folder, 'data.password')).mode & 0o777).toBe(0o600);
  const url = new URL(server.superuserUrl);
  url.password = 'wrong';
  await expect(withClient(url.toString(), readNothing)).rejects.toThrow(/password/);
});

test.each([
  ['without PG_VERSION', () => rmSync(join(folder, 'data', 'PG_VERSION'))],
  ['with a damaged control file', () => writeFileSync(join(folder, 'data/global/pg_control'), 'x')],
  ['without its password file', () => rmSync(join(folder, 'data.password'))],
  ['with another password', () => writeFileSync(join(folder, 'data.password'), 'other')],
])('a folder %s is rejected with a remedy', async (_how, damage) => {
  const server = await start();
  await server.stop();
  damage();
  await expect(start()).rejects.toThrow('npm run reset');
});

async function start(): Promise<LocalPostgres> {
  const server = await startLocalPostgres({
    dataDir: join(folder, 'data'),
    port: await findFreePort(),
    logFile: join(folder, 'postgres.log'),
    log: () => undefined,
    durable: false,
  });
  running.push(server);
  return server;
}

function readAnswer(server: LocalPostgres): Promise<number> {
  return readNumber(server, 'select answer from kept');
}

function readNumber(server: LocalPostgres, query: string): Promise<number> {
  return withClient(server.superuserUrl, async (client) => {
    const { rows } = await client.query<{ answer: number }>(query);
    return rows[0]!.answer;
  });
}

async function readNothing(): Promise<void> {
  // Connecting is what must fail.
}
