/**
 * Requests that were claimed before something changed, and are reserved afterwards: the reserving transaction
 * asks again whether the requester may pay. Played through the activities over a real database.
 */
import { reservePayout } from '../../../activities/payout/reserve';
import { reservePayoutBatch } from '../../../activities/payout-batch/reserve';
import { claimKey } from '../../../src/db/idempotency';
import {
  findPayoutSchedule,
  insertPayoutSchedule,
} from '../../../src/db/payout-schedules/payout-schedules';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { createMerchant, fund } from '../../support/merchant/merchant';
import { startPaymentWorld } from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld);

const ORDER = {
  amount: amount('10'),
  currency: 'USDT',
  destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  network: 'tron',
  provider: null,
  description: null,
  metadata: {},
} as const;
const ROUTE = { provider: 'onchain_provider', network: 'tron', networkFee: amount('1') };

interface Merchant {
  accountId: string;
  apiKeyId: string;
}

async function openMerchant(): Promise<Merchant> {
  const { accountId } = await createMerchant(world.db, 'pepper', { reviewAll: false });
  await fund(world.db, accountId, 'test', 'USDT', '1000');
  const [key] = await world.db.query<{ id: string }>(
    `SELECT id FROM api_keys WHERE account_id = ? AND mode = 'test'`,
    [accountId],
  );
  return { accountId, apiKeyId: key!.id };
}

const order = () => ({ ...ORDER, reference: newId('request') });

async function claim(merchant: Merchant, objectId: string, request: object, route: object) {
  const { accountId, apiKeyId } = merchant;
  const key = { accountId, mode: 'test' as const, key: objectId };
  const claimed = { apiKeyId, request, route };
  await claimKey(world.db, key, { objectId, bodyHashes: [Buffer.from(objectId)], claimed });
}

async function claimPayout(merchant: Merchant) {
  const payoutId = newId('payout');
  await claim(merchant, payoutId, order(), ROUTE);
  return () => reservePayout(world, { payoutId });
}

async function claimBatch(merchant: Merchant) {
  const batchId = newId('payoutBatch');
  const request = { reference: batchId, description: null, payouts: [order()] };
  await claim(merchant, batchId, request, { rows: [ROUTE] });
  return () => reservePayoutBatch(world, { batchId });
}

/** A run that was opened and checked at its time. */
async function claimRun({ accountId, apiKeyId }: Merchant, hoursAgo = 1) {
  const id = newId('payoutSchedule');
  const scheduledFor = new Date(Math.floor(Date.now() / 1_000 - hoursAgo * 3_600) * 1_000);
  const batchId = newId('payoutBatch');
  await world.db.transaction((tx) =>
    insertPayoutSchedule(tx, {
      id,
      accountId,
      apiKeyId,
      mode: 'test',
      reference: id,
      description: null,
      cron: null,
      timeZone: null,
      intervalSeconds: 3_600,
      startAt: scheduledFor,
      endAt: null,
      payouts: [order()],
      totals: [],
    }),
  );
  await world.db.query(
    `INSERT INTO payout_schedule_runs (id, schedule_id, scheduled_for, batch_id, route)
     VALUES (?, ?, ?, ?, ?::jsonb)`,
    [newId('payoutScheduleRun'), id, scheduledFor, batchId, JSON.stringify({ rows: [ROUTE] })],
  );
  return { id, reserve: () => reservePayoutBatch(world, { batchId }) };
}

const CLAIMS = {
  payout: claimPayout,
  batch: claimBatch,
  'run of a schedule': async (merchant: Merchant) => (await claimRun(merchant)).reserve,
};
const KINDS = Object.keys(CLAIMS) as (keyof typeof CLAIMS)[];

async function available({ accountId }: Merchant): Promise<string | undefined> {
  const [balance] = await world.db.query<{ available: string }>(
    'SELECT available FROM balances WHERE account_id = ?',
    [accountId],
  );
  return balance?.available;
}

test.each(KINDS)('a %s of a key that may pay is reserved', async (kind) => {
  const merchant = await openMerchant();
  const reserve = await CLAIMS[kind](merchant);
  expect(await reserve()).toMatchObject({ kind: 'reserved' });
  expect(await available(merchant)).not.toBe('1000.00000000');
});

const REVOKE = 'UPDATE api_keys SET revoked_at = now() WHERE account_id = ?';
const SUSPEND = `UPDATE accounts SET status = 'suspended' WHERE id = ?`;

describe.each([
  ['invalid_api_key', 'was revoked', REVOKE],
  ['invalid_api_key', 'has expired', 'UPDATE api_keys SET expires_at = now() WHERE account_id = ?'],
  [
    'insufficient_scope',
    'has lost its scope',
    `UPDATE api_keys SET scopes = '{payouts:read}' WHERE account_id = ?`,
  ],
  ['account_suspended', 'is one of a suspended account', SUSPEND],
])('%s: a key that %s after the request was claimed', (code, _, change) => {
  test.each(KINDS)('reserves no %s', async (kind) => {
    const merchant = await openMerchant();
    const reserve = await CLAIMS[kind](merchant);
    await world.db.query(change, [merchant.accountId]);
    expect(await reserve()).toMatchObject({ kind: 'refused', refusal: { code } });
    expect(await available(merchant)).toBe('1000.00000000');
  });
});

test('a person who has another role, is disabled or belongs to another account reserves nothing', async () => {
  const merchant = await openMerchant();
  const userId = newId('user');
  await world.db.query(
    `INSERT INTO users (id, kind, email, name, password_hash) VALUES (?, 'merchant', ?, 'Ada', 'x')`,
    [userId, `${userId}@example.com`],
  );
  const person = { ...merchant, apiKeyId: userId };
  const setRole = (role: string, accountId = merchant.accountId) =>
    world.db.query(
      `INSERT INTO memberships (user_id, account_id, role) VALUES (?, ?, ?)
       ON CONFLICT (user_id, account_id) DO UPDATE SET role = excluded.role`,
      [userId, accountId, role],
    );
  await setRole('developer');
  expect(await (await claimPayout(person))()).toMatchObject({ kind: 'reserved' });
  await setRole('viewer');
  const refused = { kind: 'refused', refusal: { code: 'insufficient_scope' } };
  expect(await (await claimPayout(person))()).toMatchObject(refused);
  expect(await (await claimBatch(person))()).toMatchObject(refused);
  await setRole('developer', (await openMerchant()).accountId);
  expect(await (await claimPayout(person))()).toMatchObject(refused);
  await setRole('developer');
  await world.db.query('UPDATE users SET disabled_at = now() WHERE id = ?', [userId]);
  expect(await (await claimPayout(person))()).toMatchObject(refused);
});

test.each(['paused', 'ended'])('a run of a schedule that is %s is not reserved', async (status) => {
  const merchant = await openMerchant();
  const { id, reserve } = await claimRun(merchant);
  await world.db.query(
    `UPDATE payout_schedules SET status = ?,
            ended_at = CASE WHEN ? = 'ended' THEN now() END WHERE id = ?`,
    [status, status, id],
  );
  const refusal = { code: 'invalid_state', details: { status } };
  expect(await reserve()).toMatchObject({ kind: 'refused', refusal });
  expect(await available(merchant)).toBe('1000.00000000');
  expect((await findPayoutSchedule(world.db, id))?.lastRun).toMatchObject({
    status: 'failed',
    failure: refusal,
  });
});

test('a run that is reserved more than 24 hours after its time fails', async () => {
  const merchant = await openMerchant();
  const { reserve } = await claimRun(merchant, 25);
  expect(await reserve()).toMatchObject({
    kind: 'refused',
    refusal: { code: 'service_unavailable' },
  });
  expect(await available(merchant)).toBe('1000.00000000');
});
