/** What one person of an account may move alone: over 24 hours, with their schedules and their API keys. */
import {
  findKeyApproval,
  readAlone,
  saveKeyMaker,
  scheduleNeedsPerson,
} from '../../../src/db/approvals/second-person';
import { lockUsage } from '../../../src/db/payouts/payout-facts';
import {
  findPayoutSchedule,
  insertPayoutSchedule,
} from '../../../src/db/payout-schedules/payout-schedules';
import type { Tx } from '../../../src/db/transaction';
import { amount } from '../../../src/domain/money';
import { runsADay } from '../../../src/domain/payout-schedule';
import { newId } from '../../../src/platform/lib/new-id';
import { createUser } from '../../../src/features/people/users';
import {
  buildPayoutMoney,
  insertPayment,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { openTestDatabase } from '../../support/servers/database';
import { whenWaiting } from '../lock-waits';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2, app: 4 }));
const BY = { actor: 'test', reason: null };
let accountId: string;
let maker: { id: string; email: string };
let other: { id: string; email: string };

beforeEach(async () => {
  accountId = await makeAccount(database.owner);
  const rule = `UPDATE accounts SET second_person_above = '{"USDT": "100"}' WHERE id = ?`;
  await database.owner.query(rule, [accountId]);
  [maker, other] = [await person(), await person()];
});

function person() {
  const email = `${newId('user').toLowerCase()}@example.com`;
  const wish = { kind: 'merchant', email, role: 'owner', accountId, password: null } as const;
  return createUser(database.owner, BY, wish);
}

/** A payout that the requester has made. */
async function pay(requester: string, value: string, set = ''): Promise<void> {
  const money = buildPayoutMoney(value);
  const key = { accountId, mode: 'live', currency: 'USDT' } as const;
  await insertPayout(database.owner, key, money, 'processing');
  const sql = `UPDATE payouts SET api_key_id = ? ${set === '' ? '' : `, ${set}`} WHERE id = ?`;
  await database.owner.query(sql, [requester, money.id]);
}

const left = async (apiKeyId: string, currency = 'USDT') =>
  (await readAlone(database.app, { accountId, mode: 'live', apiKeyId }, currency))?.remaining ??
  null;

async function newKey(by: { email: string } | null, scopes = '{payouts:write}'): Promise<string> {
  const id = newId('apiKey');
  await database.owner.query(
    `INSERT INTO api_keys (id, account_id, mode, name, secret_hash, display_prefix, last_four, scopes)
     VALUES (?, ?, 'live', 'k', sha256(?::bytea), 'sk_live', '1234', ?)`,
    [id, accountId, id, scopes],
  );
  if (by !== null) {
    await database.owner.transaction((tx) => saveKeyMaker(tx, id, by.email.toUpperCase()));
  }
  return id;
}

const approve = (objectId: string, version: string, userId: string) =>
  database.owner.query(
    'INSERT INTO person_approvals (object_id, version, user_id) VALUES (?, ?, ?)',
    [objectId, version, userId],
  );

const versionOf = async (key: string) => {
  const sql = 'SELECT extract(epoch FROM made_at)::text AS v FROM api_keys WHERE id = ?';
  return (await database.owner.query<{ v: string }>(sql, [key]))[0]!.v;
};

async function schedule(value: string, times: { cron?: string; seconds?: number }, by = maker.id) {
  const cron = times.cron ?? null;
  const created = await database.owner.transaction((tx) =>
    insertPayoutSchedule(tx, {
      id: newId('payoutSchedule'),
      accountId,
      mode: 'live',
      reference: newId('request'),
      description: null,
      cron,
      timeZone: cron === null ? null : 'UTC',
      intervalSeconds: times.seconds ?? null,
      startAt: null,
      endAt: null,
      payouts: [],
      totals: [{ currency: 'USDT', rows: 1, amount: amount(value) }],
      apiKeyId: by,
    }),
  );
  return created!;
}

const waits = async ({ id }: { id: string }) =>
  (await findPayoutSchedule(database.app, id))!.awaitsSecondPerson;

test('ten payouts at the line are not ten times the line: the last 24 hours of the person count', async () => {
  expect(await left(maker.id)).toBe('100.00000000');
  await pay(maker.id, '60');
  expect(await left(maker.id)).toBe('40.00000000');
  await pay(maker.id, '60');
  expect(await left(maker.id)).toBe('0.00000000');
  expect(await left(other.id)).toBe('100.00000000');
  expect(await left(maker.id, 'BTC')).toBeNull();
});

test('what was returned, is older than a day, or waits for a second person does not count', async () => {
  await pay(maker.id, '60', "status = 'cancelled'");
  await pay(maker.id, '60', "created_at = now() - interval '24 hours 1 second'");
  await pay(maker.id, '500');
  await database.owner.query(
    `INSERT INTO payout_conditions (payout_id, kind, parameters)
     SELECT id, 'second_person', '{}' FROM payouts WHERE account_id = ? AND amount = 500`,
    [accountId],
  );
  expect(await left(maker.id)).toBe('100.00000000');
});

test.each([
  ['that was carried out', `state = 'done'`, '40.00000000'],
  ['that is on its way', `state = 'ordered'`, '40.00000000'],
  ['that was refused', `state = 'refused'`, '100.00000000'],
  ['that a second person approves', `second_person = requested_by`, '100.00000000'],
  ['whose payout counts in its place', `payout_id = 'po_' || id`, '100.00000000'],
  ['of the day before', `created_at = now() - interval '24 hours 1 second'`, '100.00000000'],
])('a refund %s counts once, or not at all', async (_what, change, expected) => {
  const key = { accountId, mode: 'live', currency: 'USDT' } as const;
  const payment = await insertPayment(database.owner, key, 'completed');
  await database.owner.query(
    `INSERT INTO payment_refunds (payment_id, reference, amount, taken, fee, state, requested_by, api_key_id)
     VALUES (?, 'r', 60, 60, 0, 'ordered', 'merchant', ?)`,
    [payment, maker.id],
  );
  await database.owner.query(`UPDATE payment_refunds SET ${change} WHERE payment_id = ?`, [
    payment,
  ]);
  expect(await left(maker.id)).toBe(expected);
});

/** A row of a batch of the maker. @returns the batch */
async function payInBatch(value: string, secondPerson: string | null): Promise<string> {
  const id = newId('payoutBatch');
  await database.owner.query(
    `INSERT INTO payout_batches (id, account_id, mode, reference, status, row_count, totals, manifest_sha256,
                                 api_key_id, review_reasons, second_person)
     VALUES (?, ?, 'live', ?, 'processing', 1, '[]', repeat('0', 64), ?, '{}', ?)`,
    [id, accountId, id, maker.id, secondPerson],
  );
  await pay(maker.id, value, `batch_id = '${id}', batch_row = 1, awaits_batch = false`);
  return id;
}

test('a row counts unless a second person approves its batch', async () => {
  await payInBatch('30', null);
  await payInBatch('40', maker.id);
  expect(await left(maker.id)).toBe('70.00000000');
});

test('the runs of a schedule count once it has ended, unless a second person approved it', async () => {
  const daily = { cron: '0 9 * * *' };
  const schedules = [await schedule('20', daily), await schedule('30', daily)];
  for (const { id } of schedules) {
    await database.owner.query(
      `INSERT INTO payout_schedule_runs (id, schedule_id, scheduled_for, batch_id)
       VALUES (?, ?, now(), ?)`,
      [newId('payoutScheduleRun'), id, await payInBatch('10', null)],
    );
  }
  expect(await left(maker.id)).toBe('50.00000000');
  await approve(schedules[1]!.id, '', other.id);
  expect(await left(maker.id)).toBe('80.00000000');
  await database.owner.query(
    `UPDATE payout_schedules SET status = 'ended', ended_at = now() WHERE account_id = ?`,
    [accountId],
  );
  expect(await left(maker.id)).toBe('90.00000000');
});

test('a key that a person made has that person’s line, until another person approves it as it is', async () => {
  expect(await left(await newKey(null))).toBeNull();
  const key = await newKey(maker);
  await pay(maker.id, '30');
  await pay(key, '30');
  expect([await left(key), await left(maker.id)]).toEqual(['40.00000000', '40.00000000']);
  const version = await versionOf(key);
  await approve(key, version, maker.id);
  expect(await left(key)).toBe('40.00000000');
  await approve(key, version, other.id);
  expect([await left(key), await left(maker.id)]).toEqual([null, '70.00000000']);
  // What it requested before this change was another key's.
  await database.owner.transaction((tx) => saveKeyMaker(tx, key, maker.email));
  expect(await left(key)).toBe('70.00000000');
});

test.each([
  ['is disabled', 'UPDATE users SET disabled_at = now() WHERE id = ?'],
  ['has another role', `UPDATE memberships SET role = 'developer' WHERE user_id = ?`],
  ['has left the account', 'DELETE FROM memberships WHERE user_id = ?'],
])('the approval of a person who %s counts no more', async (_what, change) => {
  const key = await newKey(maker);
  await approve(key, await versionOf(key), other.id);
  expect(await left(key)).toBeNull();
  await database.owner.query(change, [other.id]);
  expect(await left(key)).toBe('100.00000000');
});

test('requests of an account with a line in the currency go one after the other', async () => {
  for (const currency of ['USDT', 'BTC']) {
    await database.owner.query(
      'INSERT INTO payout_policies (account_id, currency, daily_max) VALUES (?, ?, NULL)',
      [accountId, currency],
    );
  }
  const lock = async (tx: Tx, currency: string) => {
    lockUsage(tx, { accountId, mode: 'live', currency, apiKeyId: newId('apiKey') });
    // It is sent with the next statement.
    await tx.query('SELECT 1');
  };
  const first = await database.app.begin();
  await lock(first, 'USDT');
  await lock(first, 'BTC');
  await database.app.transaction((tx) => lock(tx, 'BTC'));
  const second = database.app.transaction((tx) => lock(tx, 'USDT'));
  const happens = await Promise.race([
    second.then(() => 'it goes on'),
    whenWaiting(database.owner, 1).then(() => 'it waits'),
  ]);
  await first.commit();
  await second;
  expect(happens).toBe('it waits');
});

test('a key that a key made has the line of that one’s person', async () => {
  const key = await newKey(maker);
  const made = await newKey(null);
  await database.owner.query(
    `UPDATE api_keys SET scopes = '{api_keys:write,payouts:write}' WHERE id = ?`,
    [key],
  );
  await database.owner.query('UPDATE api_keys SET created_by_key = ? WHERE id = ?', [key, made]);
  await pay(made, '70');
  expect([await left(made), await left(key)]).toEqual(['30.00000000', '30.00000000']);
  await approve(key, await versionOf(key), other.id);
  expect(await left(made)).toBeNull();
});

test('a schedule waits when its sum of a day is above the line, together with earlier ones', async () => {
  const every = { seconds: 60 };
  expect(await waits(await schedule('1', every))).toBe(true);
  const needs = (value: string, times: number, apiKeyId = maker.id) =>
    scheduleNeedsPerson(
      database.app,
      { accountId, mode: 'live', apiKeyId },
      [{ currency: 'USDT', rows: 1, amount: amount(value) }],
      times,
    );
  expect(await needs('50', 2, other.id)).toBe(false);
  expect(await needs('50', 3, other.id)).toBe(true);
  const first = await schedule('30', { cron: '0 9,17 * * *' }, other.id);
  const second = await schedule('50', { cron: '0 9 * * *' }, other.id);
  expect([await waits(first), await waits(second)]).toEqual([false, true]);
  expect(await left(other.id)).toBe('0.00000000');
  // An approved one is no part of what the person moves alone.
  await approve(second.id, '', maker.id);
  expect([await waits(second), await left(other.id)]).toEqual([false, '40.00000000']);
});

test('what the person requested in the day before a schedule counts with it, and a key’s schedule is the person’s', async () => {
  await pay(maker.id, '80');
  expect(await waits(await schedule('30', { cron: '0 9 * * *' }))).toBe(true);
  const key = await newKey(other);
  expect(await waits(await schedule('101', { cron: '0 9 1 * *' }, key))).toBe(true);
  expect(await waits(await schedule('101', { cron: '0 9 1 * *' }, await newKey(null)))).toBe(false);
});

test('a schedule of a key that another person approved waits for nobody, and nobody is told that it does', async () => {
  const told = async ({ id }: { id: string }) => {
    const sql = `SELECT FROM occasions WHERE kind = 'schedule_waits' AND object_id = ?`;
    return (await database.owner.query(sql, [id])).length > 0;
  };
  const key = await newKey(maker);
  const early = await schedule('101', { cron: '0 9 1 * *' }, key);
  expect([await waits(early), await told(early)]).toEqual([true, true]);
  await approve(key, await versionOf(key), other.id);
  const late = await schedule('102', { cron: '0 9 1 * *' }, key);
  expect([await waits(late), await told(late)]).toEqual([false, false]);
});

test.each(['user.reset_password', 'user.reset_second_factor', 'user.enable', 'user.change_role'])(
  'two people are related by %s for 30 days, or until an operator vouches',
  async (action) => {
    const note = (actor: string, what: string, days: number) =>
      database.owner.query(
        `INSERT INTO audit_log (actor, action, object, object_id, account_id, after, at)
         VALUES (?, ?, 'user', ?, ?, '{"role": "finance"}', now() - ? * interval '1 day')`,
        [actor, what, other.id, accountId, days],
      );
    const related = async () => {
      const sql = 'SELECT r AS id FROM related_people(?, ?) AS r ORDER BY r <> ?';
      const found = await database.owner.query<{ id: string }>(sql, [
        accountId,
        maker.id,
        maker.id,
      ]);
      return found.map(({ id }) => id);
    };
    await note(maker.email, action, 30.1);
    expect(await related()).toEqual([maker.id]);
    await note('an operator', 'user.vouch', 2);
    await note(maker.email, action, 1);
    expect(await related()).toEqual([maker.id, other.id]);
    await note('an operator', 'user.vouch', 0);
    expect(await related()).toEqual([maker.id]);
  },
);

test.each(['payouts:write', 'payments:write', 'refunds:write'])(
  'a key with %s that a person made may be approved by another one',
  async (scope) => {
    const asks = (id: string) =>
      findKeyApproval(database.app, { accountId, mode: 'live' }, id).then((one) => one?.maker);
    expect(await asks(await newKey(maker, `{${scope}}`))).toBe(maker.id);
    expect(await asks(await newKey(maker, '{payouts:read}'))).toBeUndefined();
  },
);

test.each([
  [{ cron: '0 9 * * *', intervalSeconds: null }, 1],
  [{ cron: '*/15 8-17 * * 1-5', intervalSeconds: null }, 40],
  [{ cron: null, intervalSeconds: 60 }, 1_440],
  [{ cron: null, intervalSeconds: 90_000 }, 1],
])('a schedule of %j runs at most %i times a day', (times, expected) => {
  expect(runsADay(times)).toBe(expected);
});
