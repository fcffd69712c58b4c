/** PostgreSQL ends a connection between two statements of a transaction: it fails, and not the process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import type { Db } from '../../../src/db/transaction';
import { Database } from '../../../src/rails/wallet/db/database';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';

/** Until the process has heard of it. */
const HEARD_MS = 200;

let database: TestDatabase;
let gateway: Db;
let wallet: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  gateway = connect({ url: database.ownerUrl, size: 1, applicationName: 'test' });
  wallet = new Database(database.ownerUrl, { size: 1 });
});

afterAll(async () => {
  await gateway.destroy();
  await wallet.destroy();
  await database.drop();
});

interface Pid {
  pid: number;
}
/** What pg and PostgreSQL say about a connection that has ended. */
const LOST = /connection|terminat/i;
const OWN_PID = 'SELECT pg_backend_pid() AS pid';

async function end([row]: Pid[]): Promise<void> {
  await withClient(database.ownerUrl, (other) =>
    other.query('SELECT pg_terminate_backend($1)', [row?.pid]),
  );
  await sleep(HEARD_MS);
}

test('of the gateway', async () => {
  const work = gateway.transaction(async (tx) => {
    await end(await tx.query<Pid>(OWN_PID));
    return tx.query('SELECT 1');
  });
  await expect(work).rejects.toThrow(LOST);
  expect(await gateway.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('of the wallet', async () => {
  const work = wallet.transaction(async (tx) => {
    await end(await tx.query<{ pid: number }>(OWN_PID));
    return tx.query('SELECT 1');
  });
  await expect(work).rejects.toThrow(LOST);
  expect(await wallet.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
});
