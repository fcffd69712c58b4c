/** PostgreSQL behind a network that goes silent: no connection of that time is used again. */
import { connect } from '../../../src/db/connect';
import { SharedConnections } from '../../../src/db/shared-connections';
import { type Db, onOneSnapshot } from '../../../src/db/transaction';
import { Database } from '../../../src/rails/wallet/db/database';
import { type Link, startLink } from '../../support/chaos/link';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { waitThroughFaults } from '../../support/wait-for';

const TIMES = { statementTimeoutMs: 700, answerGraceMs: 300 };
const SIZE = 3;

let database: TestDatabase;
let hole: Link;
let url: string;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  const server = new URL(database.ownerUrl);
  hole = await startLink(Number(server.port));
  server.hostname = '127.0.0.1';
  server.port = String(hole.port);
  url = server.href;
  db = connect({ url, size: SIZE, applicationName: 'test', ...TIMES });
});

afterEach(async () => {
  await db.destroy();
  await hole.stop();
});

afterAll(async () => {
  await database.drop();
});

const ask = (on: Db = db): Promise<object[]> => on.query('SELECT ?::int AS n', [1]);

/** All connections of the pool, at work. */
const fill = (): Promise<unknown> =>
  Promise.all(Array.from({ length: SIZE }, () => db.query('SELECT pg_sleep(?)', [0.05])));

test('statements without an answer end, and afterwards the first one already gets an answer', async () => {
  await fill();
  hole.set({ kind: 'black_hole' });
  // One connection notices; the other two of the pool are idle.
  await expect(ask()).rejects.toThrow('Query read timeout');
  hole.set(null);
  const started = Array.from({ length: SIZE }, () => ask());
  expect(await Promise.all(started)).toEqual(Array(SIZE).fill([{ n: 1 }]));
  await fill();
});

test('a wall clock that steps back after a silence makes the pool open no connections', async () => {
  await fill();
  hole.set({ kind: 'black_hole' });
  await expect(ask()).rejects.toThrow('Query read timeout');
  hole.set(null);
  const hourAgo = Date.now() - 3_600_000;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => hourAgo);
  await fill();
  const used = new Set<number>();
  for (let count = 0; count < 20; count++) {
    const [row] = await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    used.add(row!.pid);
  }
  clock.mockRestore();
  expect(used.size).toBeLessThanOrEqual(SIZE);
});

test('a transaction that loses its connection is rolled back, and none of it is left behind', async () => {
  await db.query('CREATE TABLE IF NOT EXISTS silent (id integer)');
  const lost = db.transaction(async (tx) => {
    await tx.query('INSERT INTO silent VALUES (?)', [1]);
    hole.set({ kind: 'black_hole' });
    await tx.query('INSERT INTO silent VALUES (?)', [2]);
  });
  await expect(lost).rejects.toThrow('Query read timeout');
  hole.set(null);
  expect(await db.query('SELECT id FROM silent')).toEqual([]);
});

test('nobody waits for a new connection without end', async () => {
  hole.set({ kind: 'black_hole' });
  await expect(ask()).rejects.toThrow('timeout expired');
  hole.set(null);
  expect(await ask()).toEqual([{ n: 1 }]);
});

test('a statement that may take longer than others is waited for, on its transaction only', async () => {
  const slow = 'SELECT pg_sleep(?), ? AS told';
  const result = await onOneSnapshot(db, (tx) => tx.query(slow, [1.2, 'slept']), {
    timeoutMs: 5_000,
  });
  expect(result).toMatchObject([{ told: 'slept' }]);
  await expect(db.query(slow, [1.2, ''])).rejects.toThrow('statement timeout');
  hole.set({ kind: 'black_hole' });
  await expect(ask()).rejects.toThrow('Query read timeout');
});

test('shared connections of reads are opened anew', async () => {
  const short = new SharedConnections({ url, size: 2, applicationName: 'test', ...TIMES }, db);
  const read = () => short.query('SELECT ?::int AS n', [7]);
  await Promise.all(Array.from({ length: 10 }, read));
  hole.set({ kind: 'black_hole' });
  const lost = await Promise.allSettled(Array.from({ length: 10 }, read));
  expect(lost.map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
  hole.set(null);
  expect(await Promise.all(Array.from({ length: 10 }, read))).toEqual(Array(10).fill([{ n: 7 }]));
  await short.destroy();
});

describe('the wallet', () => {
  const options = { ...TIMES, size: SIZE, lockCheckMs: 200 };

  test('its statements and transactions end, and it goes on with new connections', async () => {
    const wallet = new Database(url, options);
    const one = () => wallet.query('SELECT 1 AS n');
    await Promise.all([one(), one(), one()]);
    hole.set({ kind: 'black_hole' });
    const lost = await Promise.allSettled([
      one(),
      wallet.transaction((tx) => tx.query('SELECT 1')),
    ]);
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    hole.set(null);
    // The third connection was idle, and is noticed by the first statement on it.
    await waitThroughFaults('an answer', async () => (await one()).length);
    await wallet.destroy();
  });

  test('a process that lost its lock stops the work, and another one takes it over', async () => {
    const [first, second] = [new Database(url, options), new Database(url, options)];
    let wasTold = false;
    const held = first.withLock('test', async (signal) => {
      expect(await second.withLock('test', () => Promise.resolve('both'))).toBeNull();
      hole.set({ kind: 'black_hole' });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      wasTold = true;
    });
    await held;
    expect(wasTold).toBe(true);
    hole.set(null);
    // PostgreSQL has not heard that the first one is gone.
    const taken = await waitThroughFaults('the lock', async () => {
      const result = await second.withLock('test', () => Promise.resolve('alone'));
      return result ?? undefined;
    });
    expect(taken).toBe('alone');
    await Promise.all([first.destroy(), second.destroy()]);
  });
});
