/** The clean-up of idempotency records and sign-ins: what has ended is deleted, and nothing waits for it. */
import { randomBytes } from 'node:crypto';
import { cleanUpKeys } from '../../../activities/clean-up';
import { claimKey, deleteEndedKeys, lockClaim } from '../../../src/db/idempotency';
import type { Tx } from '../../../src/db/transaction';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { openTestDatabase } from '../../support/servers/database';
import { makeUser } from '../../support/merchant/page-client';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2, app: 8 }));
let accountId: string;

beforeEach(async () => {
  await database.owner.query('DELETE FROM idempotency_keys');
  accountId = newId('account');
  await database.owner.query('INSERT INTO accounts (id, name) VALUES (?, ?)', [
    accountId,
    'Tested',
  ]);
});

/** Records whose keys begin with `name`; `ago` since the answer, or since the lease was over. */
async function insertRecords(
  name: string,
  state: 'done' | 'running',
  ago: string,
  count = 1,
): Promise<void> {
  await database.owner.query(
    `INSERT INTO idempotency_keys
            (account_id, mode, key, body_hash, object_id, state, lease_until, request,
             response_status, response_body, completed_at)
     SELECT ?, 'test', k, 'hash', 'po_' || k, s, now() - ago,
            CASE s WHEN 'running' THEN '{}'::jsonb END,
            CASE s WHEN 'done' THEN 201 END, CASE s WHEN 'done' THEN '{}'::bytea END,
            CASE s WHEN 'done' THEN now() - ago END
       FROM (SELECT ? || i AS k, ? AS s, ?::interval AS ago FROM generate_series(1, ?::int) i) r`,
    [accountId, name, state, ago, count],
  );
}

async function keysLeft(): Promise<string[]> {
  const left = await database.owner.query<{ key: string }>(
    'SELECT key FROM idempotency_keys ORDER BY key',
  );
  return left.map(({ key }) => key);
}

async function claim(key: string): Promise<string> {
  const payoutId = newId('payout');
  const { kind } = await claimKey(
    database.app,
    { accountId, mode: 'test', key },
    {
      objectId: payoutId,
      bodyHashes: [randomBytes(32)],
      claimed: {
        apiKeyId: 'key_1',
        request: {
          amount: amount('1'),
          currency: 'USDT',
          reference: 'order-1',
          destination: { type: 'exchange_id', value: '1', memo: null },
          network: null,
          provider: null,
          description: null,
          metadata: {},
        },
        route: { provider: 'onchain_provider', network: 'tron', networkFee: null },
      },
    },
  );
  expect(kind).toBe('claimed');
  return payoutId;
}

test('only what has ended goes', async () => {
  await insertRecords('answered-late-', 'done', '24 hours 59 minutes');
  await insertRecords('answered-long-ago-', 'done', '25 hours 1 minute');
  await insertRecords('in-time-', 'running', '-20 seconds');
  await insertRecords('just-over-', 'running', '59 minutes');
  await insertRecords('dead-', 'running', '61 minutes');
  expect(await cleanUpKeys(database.app)).toEqual({ deleted: 2 });
  expect(await keysLeft()).toEqual(['answered-late-1', 'in-time-1', 'just-over-1']);
  expect(await cleanUpKeys(database.app)).toEqual({ deleted: 0 });
});

test('a held record is left out, not waited for, and goes the next time', async () => {
  await insertRecords('done-', 'done', '30 hours', 3);
  await insertRecords('dead-', 'running', '2 hours', 3);
  await database.owner.transaction(async (tx) => {
    await tx.query(`SELECT 1 FROM idempotency_keys WHERE key IN ('done-2', 'dead-2') FOR UPDATE`);
    // It would wait for the end of this very transaction, which waits for it.
    expect(await cleanUpKeys(database.app)).toEqual({ deleted: 4 });
  });
  expect(await keysLeft()).toEqual(['dead-2', 'done-2']);
  expect(await cleanUpKeys(database.app)).toEqual({ deleted: 2 });
});

test('a key works again once it is forgotten, also for another request', async () => {
  await insertRecords('key-', 'done', '26 hours');
  await insertRecords('dead-', 'running', '2 hours');
  expect(await cleanUpKeys(database.app)).toEqual({ deleted: 2 });
  await claim('key-1');
  await claim('dead-1');
  expect(await cleanUpKeys(database.app)).toEqual({ deleted: 0 });
  expect(await keysLeft()).toEqual(['dead-1', 'key-1']);
});

test('a claim that took the key over before the clean-up stays', async () => {
  await insertRecords('key-', 'done', '26 hours');
  const payoutId = await claim('key-1');
  expect(await cleanUpKeys(database.app)).toEqual({ deleted: 0 });
  const held = await database.app.transaction((tx) => lockClaim(tx, payoutId));
  expect(held).toMatchObject({ accountId, request: { reference: 'order-1' } });
});

test('a claim that is taken over during the clean-up stays', async () => {
  await insertRecords('key-', 'running', '2 hours', 200);
  const [cleaned, ...claims] = await Promise.all([
    cleanUpKeys(database.app),
    ...Array.from({ length: 200 }, (_, index) => claim(`key-${index + 1}`)),
  ]);
  expect(cleaned.deleted).toBeLessThanOrEqual(200);
  const left = await database.owner.query<{ id: string }>(
    'SELECT object_id AS id FROM idempotency_keys',
  );
  expect(left.map(({ id }) => id).sort()).toEqual(claims.sort());
});

test('clean-ups at the same time share the work', async () => {
  await insertRecords('done-', 'done', '30 hours', 3_500);
  await insertRecords('dead-', 'running', '2 hours', 1_500);
  const runs = await Promise.all(Array.from({ length: 4 }, () => cleanUpKeys(database.app)));
  expect(runs.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(5_000);
  expect(await keysLeft()).toEqual([]);
});

test('a run deletes a backlog until nothing is left, or its time is over', async () => {
  await insertRecords('done-', 'done', '30 hours', 20_100);
  expect(await cleanUpKeys(database.app, 0)).toEqual({ deleted: 2_000 });
  expect(await cleanUpKeys(database.app)).toEqual({ deleted: 18_100 });
});

async function countReads(tx: Tx): Promise<{ whole: number; rowsRead: number }> {
  const [counted] = await tx.query<{ whole: string; rowsRead: string }>(
    `SELECT seq_scan AS whole, idx_tup_fetch AS rows_read
       FROM pg_stat_xact_user_tables WHERE relname = 'idempotency_keys'`,
  );
  return { whole: Number(counted?.whole), rowsRead: Number(counted?.rowsRead) };
}

test('what has not ended is not read', async () => {
  await insertRecords('recent-', 'done', '1 hour', 20_000);
  await insertRecords('old-', 'done', '30 hours', 10);
  await database.owner.query('VACUUM ANALYZE idempotency_keys');
  await database.app.transaction(async (tx) => {
    // The connection counts on from the tests before.
    const before = await countReads(tx);
    expect(await deleteEndedKeys(tx, 1_000)).toBe(10);
    const after = await countReads(tx);
    expect(after.whole - before.whole).toBe(0);
    // Once to lock each and once to delete it.
    expect(after.rowsRead - before.rowsRead).toBe(20);
  });
});

test('old sessions, invitations, attempts and challenges are deleted with the keys', async () => {
  const { id: userId } = await makeUser(database.owner, 'operator', 'viewer');
  const ages = { session: '90 days', invitation: '30 days', attempt: '1 day', challenge: '0 days' };
  for (const change of ['- 5 minutes', '+ 5 minutes']) {
    const insert = (sql: string, age: string) => database.owner.query(sql, [`${age} ${change}`]);
    await insert(
      `INSERT INTO sessions (id, token_hash, user_id, user_agent, expires_at)
       SELECT '${newId('session')}', '\\x${randomBytes(8).toString('hex')}', '${userId}', '',
              now() - ?::interval`,
      ages.session,
    );
    await insert(
      `INSERT INTO invitations (id, token_hash, kind, email, role, invited_by, expires_at)
       SELECT '${newId('invitation')}', '\\x${randomBytes(8).toString('hex')}', 'operator', '', '', '',
              now() - ?::interval`,
      ages.invitation,
    );
    await insert(
      `INSERT INTO authentication_attempts (kind, email, step, at)
       SELECT 'operator', '', 'code', now() - ?::interval`,
      ages.attempt,
    );
    await insert(
      `INSERT INTO used_challenges (hash, expires_at)
       SELECT '\\x${randomBytes(8).toString('hex')}', now() - ?::interval`,
      ages.challenge,
    );
  }
  await cleanUpKeys(database.app);
  for (const table of ['sessions', 'invitations', 'authentication_attempts', 'used_challenges']) {
    expect({ table, left: await database.owner.query(`SELECT FROM ${table}`) }).toEqual({
      table,
      left: [{}],
    });
  }
});
