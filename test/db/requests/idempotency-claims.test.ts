/** Who may create the object of an idempotency key, and for how long (decisions/api#idempotency). */
import { connect } from '../../../src/db/connect';
import {
  claimKey,
  lockClaim,
  readClaim,
  readHeldKey,
  releaseClaim,
} from '../../../src/db/idempotency';
import { newId } from '../../../src/platform/lib/new-id';
import { openTestDatabase } from '../../support/servers/database';
import { makeAccount } from '../../support/merchant/ledger';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2, app: 4 }));
let accountId: string;
let objectId: string;

beforeEach(async () => {
  accountId = await makeAccount(database.owner);
  objectId = newId('payout');
  expect(await claim('a request', objectId)).toEqual({ kind: 'claimed' });
});

const ROUTE = { provider: 'onchain_provider', network: 'tron', networkFee: null } as const;

function claim(body: string, id = newId('payout')) {
  const key = { accountId, mode: 'test', key: 'key-1' } as const;
  const claimed = { apiKeyId: 'key_1', request: { body }, route: ROUTE };
  return claimKey(database.app, key, { objectId: id, bodyHashes: [Buffer.from(body)], claimed });
}

const change = (assignments: string) =>
  database.owner.query(`UPDATE idempotency_keys SET ${assignments} WHERE account_id = ?`, [
    accountId,
  ]);

test('a key is claimed once while its request runs', async () => {
  expect(await claim('a request')).toMatchObject({ kind: 'running' });
  await change('lease_until = now()');
  const later = await Promise.all(Array.from({ length: 4 }, () => claim('a request')));
  expect(later.map(({ kind }) => kind).sort()).toEqual([
    'claimed',
    'running',
    'running',
    'running',
  ]);
});

/** Of PostgreSQL itself: what the program knows is late by as much as its answer took. */
const now = async () => {
  const [row] = await database.owner.query<{ at: Date }>('SELECT clock_timestamp() AS at');
  return row!.at.getTime();
};

test('a claim ends after 30 seconds: longer than the API waits, and short enough for a client to try again', async () => {
  const before = await now();
  const id = newId('payout');
  const key = { accountId, mode: 'test', key: 'key-3' } as const;
  const claimed = { apiKeyId: 'key_1', request: {}, route: ROUTE };
  const bodyHashes = [Buffer.from('a request')] as const;
  await claimKey(database.app, key, { objectId: id, bodyHashes, claimed });
  const after = await now();
  const [row] = await database.owner.query<{ leaseUntil: Date }>(
    'SELECT lease_until FROM idempotency_keys WHERE object_id = ?',
    [id],
  );
  const ends = row!.leaseUntil.getTime() - 30_000;
  // JavaScript has whole milliseconds, and each of the three times is rounded.
  expect(ends).toBeGreaterThanOrEqual(before - 5);
  expect(ends).toBeLessThanOrEqual(after + 5);
});

test('only the claim itself does not wait for the disk', async () => {
  const one = connect({ url: database.appUrl, size: 1, applicationName: 'claims-one' });
  await one.query('SET synchronous_commit = on');
  const key = { accountId, mode: 'test', key: 'key-2' } as const;
  const claimed = { apiKeyId: 'key_1', request: {}, route: ROUTE };
  const bodyHashes = [Buffer.from('a request')] as const;
  await claimKey(one, key, { objectId: newId('payout'), bodyHashes, claimed });
  expect(await one.query('SHOW synchronous_commit')).toEqual([{ synchronousCommit: 'on' }]);
  await one.destroy();
});

test('an answered key has its answer for a day', async () => {
  await change(`state = 'done', response_status = 201, response_body = 'ok', completed_at = now()`);
  const answer = { kind: 'done', status: 201, body: Buffer.from('ok') };
  expect(await claim('a request')).toEqual(answer);
  await change(`completed_at = now() - interval '23 hours 59 minutes'`);
  expect(await claim('a request')).toEqual(answer);
  await change(`completed_at = now() - interval '24 hours'`);
  expect(await claim('a request')).toEqual({ kind: 'claimed' });
});

test('a key is not used for another request', async () => {
  expect(await claim('another request')).toEqual({ kind: 'reused' });
  await change(`state = 'done', response_status = 201, response_body = 'ok', completed_at = now()`);
  expect(await claim('another request')).toEqual({ kind: 'reused' });
});

test('a body that an earlier key hashed is the same request', async () => {
  const key = { accountId, mode: 'test', key: 'key-1' } as const;
  const held = (...hashes: [string, ...string[]]) => {
    const [now, ...earlier] = hashes;
    const bodyHashes = [Buffer.from(now), ...earlier.map((hash) => Buffer.from(hash))] as const;
    return readHeldKey(database.app, key, bodyHashes);
  };
  expect(await held('by the new key', 'a request')).toMatchObject({ kind: 'running' });
  expect(await held('by the new key', 'another request')).toEqual({ kind: 'reused' });
});

test('a claim is released while its request runs, and no more when it is answered', async () => {
  await change(`state = 'done', response_status = 201, response_body = 'ok', completed_at = now()`);
  expect(await releaseClaim(database.app, objectId)).toBe(false);
  expect(await claim('a request')).toMatchObject({ kind: 'done' });
  await change(
    `state = 'running', response_status = NULL, response_body = NULL, completed_at = NULL`,
  );
  expect(await releaseClaim(database.app, objectId)).toBe(true);
  expect(await claim('a request')).toEqual({ kind: 'claimed' });
});

test('a claim that has ended creates nothing', async () => {
  const held = async () => [
    await readClaim(database.app, objectId),
    await database.app.transaction((tx) => lockClaim(tx, objectId)),
  ];
  const ready = expect.objectContaining({ accountId, route: ROUTE });
  expect(await held()).toEqual([ready, ready]);
  await change('lease_until = now()');
  expect(await held()).toEqual([null, null]);
});
