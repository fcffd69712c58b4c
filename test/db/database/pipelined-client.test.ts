/** Transactions whose statements are sent together: an error anywhere in them leaves nothing behind. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/db/connect';
import type { Db, Tx } from '../../../src/db/transaction';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';

let database: TestDatabase;
/** One connection: what a transaction leaves behind on it meets the next one. */
let db: Db;
/** Another one, which sees only what was committed. */
let other: Db;

const INSERT = 'INSERT INTO notes (id, body) VALUES (?, ?)';

beforeAll(async () => {
  database = await createTestDatabase();
  [db, other] = [1, 2].map((size) =>
    connect({ url: database.ownerUrl, size, applicationName: 'test' }),
  ) as [Db, Db];
});

beforeEach(async () => {
  await db.query('DROP TABLE IF EXISTS notes');
  await db.query('CREATE TABLE notes (id integer PRIMARY KEY, body text NOT NULL)');
});

afterAll(async () => {
  await Promise.all([db.destroy(), other.destroy()]);
  await database.drop();
});

const committed = async (): Promise<number[]> =>
  (await other.query<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id);

const write = (tx: Db | Tx, id: number): Promise<object[]> => tx.prepared(INSERT, [id, 'x']);
const writeLater = (tx: Tx, id: number): void => {
  tx.sendWithNext(INSERT, [id, 'x']);
};

test('all statements of a transaction are committed, in their order', async () => {
  await db.transaction(async (tx) => {
    writeLater(tx, 1);
    await tx.query('UPDATE notes SET id = id + ?', [1]);
    writeLater(tx, 1);
    writeLater(tx, 3);
  });
  expect(await committed()).toEqual([1, 2, 3]);
});

test('a deferred statement has its rows after the next one, and after the commit', async () => {
  const count = 'SELECT count(*)::int AS n FROM notes WHERE id > ?';
  const last = await db.transaction(async (tx) => {
    const first = tx.sendWithNext<{ n: number }>(count, [0]);
    await write(tx, 1);
    expect(await first).toEqual([{ n: 0 }]);
    return { rows: tx.sendWithNext<{ n: number }>(count, [0]) };
  });
  expect(await last.rows).toEqual([{ n: 1 }]);
});

test('nothing is visible to others before the commit', async () => {
  await db.transaction(async (tx) => {
    await write(tx, 1);
    expect(await committed()).toEqual([]);
  });
  expect(await committed()).toEqual([1]);
});

test.each([
  ['the first statement', (tx: Tx) => tx.query('SELECT 1 / ?::int', [0])],
  [
    'a statement sent with the first one',
    async (tx: Tx) => {
      writeLater(tx, 1);
      await tx.query('SELECT 1 / ?::int', [0]);
    },
  ],
  [
    'a statement sent with the commit',
    async (tx: Tx) => {
      await write(tx, 1);
      tx.sendWithNext('SELECT 1 / ?::int', [0]);
      writeLater(tx, 2);
    },
  ],
  [
    'an earlier statement, whose error was ignored',
    async (tx: Tx) => {
      await write(tx, 1);
      await tx.query('SELECT 1 / ?::int', [0]).catch(() => undefined);
    },
  ],
  [
    'the caller',
    async (tx: Tx) => {
      await write(tx, 1);
      writeLater(tx, 2);
      throw new Error('changed my mind');
    },
  ],
])('an error of %s: nothing is committed, and the connection stays usable', async (_, work) => {
  await expect(db.transaction<unknown>(work)).rejects.toThrow();
  // Outside of a transaction: committed at once.
  await db.query(INSERT, [9, 'x']);
  expect(await committed()).toEqual([9]);
  await db.transaction((tx) => {
    writeLater(tx, 1);
  });
  expect(await committed()).toEqual([1, 9]);
});

test('what a savepoint undoes is not sent, and what came before it is committed', async () => {
  await db.transaction(async (tx) => {
    writeLater(tx, 1);
    await tx
      .savepoint((inner) => {
        // It would fail.
        writeLater(inner, 1);
        throw new Error('changed my mind');
      })
      .catch(() => undefined);
    writeLater(tx, 2);
  });
  expect(await committed()).toEqual([1, 2]);
});

test('a migration changes a table between two executions of a prepared statement', async () => {
  const all = 'SELECT * FROM notes WHERE id > ?';
  const read = (from: Db | Tx) => from.prepared(all, [0]);
  await write(db, 1);
  for (let times = 0; times < 3; times += 1) await db.transaction(read);
  await other.query('ALTER TABLE notes ADD COLUMN more text');
  expect(await db.transaction(read)).toEqual([{ id: 1, body: 'x', more: null }]);
  await other.query('ALTER TABLE notes ADD COLUMN evenMore text');
  expect(await read(db)).toMatchObject([{ id: 1 }]);
});

test('a transaction without statements, and with one that has no values', async () => {
  expect(await db.transaction(() => 'done')).toBe('done');
  await db.transaction(async (tx) => {
    await tx.query("INSERT INTO notes VALUES (1, 'a'), (2, 'b')");
  });
  expect(await committed()).toEqual([1, 2]);
});

test('a lock is held from the first statement to the commit', async () => {
  await write(db, 1);
  const order: string[] = [];
  let first: Promise<void> | undefined;
  await new Promise<void>((locked) => {
    first = db.transaction(async (tx) => {
      await tx.query('SELECT FROM notes WHERE id = ? FOR UPDATE', [1]);
      locked();
      await sleep(200);
      order.push('first');
    });
  });
  await other.query('UPDATE notes SET body = ? WHERE id = 1', ['y']);
  order.push('second');
  await first;
  expect(order).toEqual(['first', 'second']);
});
