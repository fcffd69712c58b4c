/** The conditions of a payout as the database decides them (decisions/payouts#payout-conditions). */
import { readWaiting } from '../../../src/db/operations/console-attention';
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import {
  insertApproval,
  insertConditions,
  listConditions,
  meetConditions,
  readConditionFacts,
  takePayoutsToRelease,
} from '../../../src/db/payouts/payout-conditions';
import { findPayout, getPayout, takeTransition } from '../../../src/db/payouts/payouts';
import type { NewCondition } from '../../../src/domain/payout-condition';
import type { PayoutTrigger } from '../../../src/domain/payout';
import { newId } from '../../../src/platform/lib/new-id';
import { Admin } from '../admin-harness';
import { openTestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  insertPayment,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { whenWaiting } from '../lock-waits';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2, app: 2 }));
let key: BalanceKey;

beforeAll(async () => {
  key = { accountId: await makeAccount(database.owner), mode: 'test', currency: 'USDT' };
});

const LATER: NewCondition = { kind: 'time', parameters: { at: '2999-01-01T00:00:00Z' } };
const PAST: NewCondition = { kind: 'time', parameters: { at: '2020-01-01T00:00:00Z' } };

/** A requested payout that waits. @param expires SQL */
async function waiting(condition: NewCondition, expires = 'NULL'): Promise<string> {
  const payout = buildPayoutMoney('1');
  await insertPayout(database.owner, key, payout, 'requested');
  await database.owner.query(
    `UPDATE payouts SET awaits_release = true, release_expires_at = ${expires} WHERE id = ?`,
    [payout.id],
  );
  const row = await getPayout(database.owner, payout.id);
  const conditions = [{ ...condition, metAt: null }];
  await database.app.transaction((tx) => {
    insertConditions(tx, [{ ...row, conditions }]);
  });
  return payout.id;
}

/** @returns the payouts to wake, with all conditions due for a look */
async function lookAtAll(): Promise<string[]> {
  await database.owner.query(`UPDATE payout_conditions SET looked_at = NULL`);
  return (await takePayoutsToRelease(database.app, 1_000)).payouts.map(({ id }) => id);
}

const take = (id: string, trigger: PayoutTrigger) =>
  database.app.transaction((tx) => takeTransition(tx, id, trigger, {}));
const look = (id: string) => database.app.transaction((tx) => meetConditions(tx, id));
const isMet = async (id: string) =>
  (await listConditions(database.app, id)).every(({ metAt }) => metAt !== null);

test.each(['approve', 'release'] as const)(
  '%s needs that every condition is met',
  async (trigger) => {
    const id = await waiting(LATER);
    await look(id);
    expect(await take(id, trigger)).toBeNull();
    const met = await waiting(PAST);
    expect(await take(met, trigger)).toBeNull();
    await look(met);
    expect(await take(met, trigger)).toMatchObject({ status: 'approved', awaitsRelease: false });
  },
);

test('a payout whose time is over is not released, even with its conditions met', async () => {
  const id = await waiting(PAST, 'clock_timestamp()');
  await look(id);
  expect(await take(id, 'release')).toBeNull();
  expect(await take(id, 'expire')).toMatchObject({ status: 'cancelled', awaitsRelease: false });
});

test('the database refuses an approved payout that waits', async () => {
  const id = await waiting(LATER);
  const approve = `UPDATE payouts SET status = 'approved' WHERE id = ?`;
  await expect(database.owner.query(approve, [id])).rejects.toThrow('payouts_wait_before_approval');
});

test('a payment counts when it is completed, and its payout is found', async () => {
  const payment = await insertPayment(database.owner, key, 'pending');
  const id = await waiting({ kind: 'payment', parameters: { payment } });
  await look(id);
  expect(await isMet(id)).toBe(false);
  const found = async () => (await lookAtAll()).includes(id);
  expect(await found()).toBe(false);
  await database.owner.query('UPDATE payments SET completed_at = now() WHERE id = ?', [payment]);
  expect(await found()).toBe(true);
  await look(id);
  expect(await isMet(id)).toBe(true);
  expect(await found()).toBe(false);
});

test('the sweep looks at conditions in turns, so payouts that wait for long keep no other from its turn', async () => {
  const named = newId('apiKey');
  const condition = { kind: 'approval', parameters: { api_key: named } } as const;
  await lookAtAll();
  for (let n = 0; n < 5; n += 1) await waiting(condition);
  const id = await waiting(condition);
  await insertApproval(database.owner, id, named, newId('request'));
  const looks = [];
  for (let n = 0; n < 4; n += 1) looks.push(await takePayoutsToRelease(database.app, 2));
  expect(looks.map(({ looked }) => looked)).toEqual([2, 2, 2, 0]);
  expect(looks.flatMap(({ payouts }) => payouts.map((payout) => payout.id))).toEqual([id]);
});

describe('the sweep finds what no timer has told its workflow', () => {
  const isFound = async (id: string) => (await lookAtAll()).includes(id);
  const isDue = async (id: string) => {
    const [seen] = await database.owner.query<{ isDue: boolean }>(
      `SELECT looked_at < now() - interval '1 minute' AS is_due FROM payout_conditions WHERE payout_id = ?`,
      [id],
    );
    return seen?.isDue;
  };

  test('a time that has passed', async () => {
    expect(await isFound(await waiting(PAST))).toBe(true);
  });

  test('a time that lies ahead is looked at when it has passed, and not each minute before', async () => {
    const id = await waiting(LATER);
    expect(await isDue(id)).toBe(false);
    expect(await isFound(id)).toBe(false);
    expect(await isDue(id)).toBe(false);
    const past = await waiting(PAST);
    expect(await isDue(past)).toBe(true);
  });

  test('a payout whose wait is over', async () => {
    const condition = { kind: 'approval', parameters: { api_key: newId('apiKey') } } as const;
    expect(await isFound(await waiting(condition, `now() + interval '1 hour'`))).toBe(false);
    expect(await isFound(await waiting(condition, 'now()'))).toBe(true);
  });
});

test('operators see a payout whose time or whose end passed more than a minute ago', async () => {
  const approval = { kind: 'approval', parameters: { api_key: newId('apiKey') } } as const;
  const overdue = [await waiting(PAST), await waiting(approval, `now() - interval '2 minutes'`)];
  const others = [await waiting(LATER), await waiting(approval, 'now()'), await waiting(approval)];
  const admin = new Admin(database.adminUrl);
  const { data } = await admin.json('payouts', 'attention', '--limit', '1000');
  const all = data as { id: string; cause: string }[];
  const listed = all.filter(({ id }) => [...overdue, ...others].includes(id));
  expect(listed.map(({ id, cause }) => [id, cause]).toSorted()).toEqual(
    overdue.map((id) => [id, 'overdue']).toSorted(),
  );
  const waits = await readWaiting(database.app);
  expect(waits.find(({ cause, mode }) => cause === 'overdue' && mode === 'test')?.count).toBe(
    all.length,
  );
});

test('a condition of a payout that waits no more is not looked at again', async () => {
  const id = await waiting({ kind: 'approval', parameters: { api_key: newId('apiKey') } });
  expect(await take(id, 'cancel')).toMatchObject({ status: 'cancelled' });
  await takePayoutsToRelease(database.app, 1_000);
  await database.owner.query(
    `UPDATE payout_conditions SET looked_at = looked_at - interval '1 hour'`,
  );
  const [seen] = await database.owner.query(
    `SELECT looked_at = 'infinity' AS is_over FROM payout_conditions WHERE payout_id = ?`,
    [id],
  );
  expect(seen).toEqual({ isOver: true });
});

describe('a payout does not follow a payment that was refunded', () => {
  const completed = async () => {
    const id = await insertPayment(database.owner, key, 'completed');
    await changePayment(id, `completed_at = now(), credited_amount = 10`);
    return id;
  };
  const changePayment = (id: string, change: string) =>
    database.owner.query(`UPDATE payments SET ${change} WHERE id = ?`, [id]);
  const waitingFor = (payment: string) => waiting({ kind: 'payment', parameters: { payment } });
  const invalidate = (id: string) =>
    database.app.transaction((tx) =>
      takeTransition(tx, id, 'invalidate', {}, 'awaits_release AND NOT payment_stands(id)'),
    );

  test.each([
    ['all of it went back', `status = 'refunded', refunded_amount = 10`],
    ['all of it is on its way back', 'reversed_amount = 10'],
  ])('%s after its condition was met', async (_, change) => {
    const payment = await completed();
    const id = await waitingFor(payment);
    await look(id);
    expect(await isMet(id)).toBe(true);
    await changePayment(payment, change);
    expect(await take(id, 'release')).toBeNull();
    expect(await invalidate(id)).toMatchObject({ status: 'failed', awaitsRelease: false });
  });

  test('a part of it went back: the payment is still completed', async () => {
    const payment = await completed();
    const id = await waitingFor(payment);
    await look(id);
    await changePayment(payment, 'reversed_amount = 9.99, refunded_amount = 9.99');
    expect(await invalidate(id)).toBeNull();
    expect(await take(id, 'release')).toMatchObject({ status: 'approved' });
  });

  test('it is refunded at the same moment: the payout waits for the refund', async () => {
    const payment = await completed();
    const id = await waitingFor(payment);
    await look(id);
    const releasing = await database.owner.transaction(async (tx) => {
      await tx.query(`UPDATE payments SET status = 'refunded' WHERE id = ?`, [payment]);
      const taking = take(id, 'release');
      await whenWaiting(database.owner, 1);
      return { taking };
    });
    expect(await releasing.taking).toBeNull();
  });
});

test('the approval of the named key counts, and no other', async () => {
  const named = newId('apiKey');
  const id = await waiting({ kind: 'approval', parameters: { api_key: named } });
  await insertApproval(database.owner, id, newId('apiKey'), newId('request'));
  await look(id);
  expect(await isMet(id)).toBe(false);
  await insertApproval(database.owner, id, named, newId('request'));
  await look(id);
  expect(await isMet(id)).toBe(true);
});

test('a payment is known to its own account and mode alone', async () => {
  const payment = await insertPayment(database.owner, key, 'pending');
  const release = { at: null, afterPayment: payment, approvalByKey: null, expiresAt: null };
  const other = await makeAccount(database.owner);
  const read = (accountId: string, mode: 'test' | 'live') =>
    readConditionFacts(database.app, { accountId, mode }, release);
  expect((await read(key.accountId, 'test')).payment).toMatchObject({ mayComplete: true });
  expect((await read(key.accountId, 'live')).payment).toBeNull();
  expect((await read(other, 'test')).payment).toBeNull();
});

describe('the recipient of a payout', () => {
  /** A recipient that waits for an hour, and a payout that waits for it. */
  async function waitingForRecipient() {
    const { owner } = database;
    const id = newId('recipient');
    await owner.query(
      `INSERT INTO recipients (id, account_id, mode, name, currency, destination_type, destination_value, created_by)
       VALUES (?, ?, 'test', 'Ada', 'USDT', 'email', 'ada@example.com', 'key')`,
      [id, key.accountId],
    );
    await setUsableFrom(id, `now() + interval '1 hour'`);
    const [recipient] = await owner.query<{ version: string }>(
      'SELECT extract(epoch FROM destination_since)::text AS version FROM recipients WHERE id = ?',
      [id],
    );
    const parameters = { recipient: id, version: recipient!.version, at: '2999-01-01T00:00:00Z' };
    return { id, payout: await waiting({ kind: 'recipient', parameters }) };
  }

  const setUsableFrom = (id: string, time: string) =>
    database.owner.transaction(async (tx) => {
      await tx.query(`SET LOCAL session_replication_role = 'replica'`);
      await tx.query(`UPDATE recipients SET usable_from = ${time} WHERE id = ?`, [id]);
    });

  const invalidate = (id: string) =>
    database.app.transaction((tx) =>
      takeTransition(tx, id, 'invalidate', {}, 'awaits_release AND NOT recipient_stands(id)'),
    );
  const isFound = async (id: string) => (await lookAtAll()).includes(id);

  test('counts from the time at which it may be paid, and lets the payout through then', async () => {
    const { id, payout } = await waitingForRecipient();
    await look(payout);
    expect([await isMet(payout), await isFound(payout)]).toEqual([false, false]);
    await setUsableFrom(id, 'now()');
    expect(await isFound(payout)).toBe(true);
    await look(payout);
    expect(await invalidate(payout)).toBeNull();
    expect(await take(payout, 'release')).toMatchObject({ status: 'approved' });
  });

  test('is among the conditions that `admin payouts show` lists', async () => {
    const { id, payout } = await waitingForRecipient();
    const admin = new Admin(database.adminUrl);
    const waits_for = `the recipient ${id} to be ready, not before 1 Jan 2999, 00:00 UTC`;
    expect(await admin.json('payouts', 'show', payout)).toMatchObject({
      id: payout,
      conditions: [{ type: 'recipient', waits_for, met_at: null }],
    });
    expect((await admin.run('payouts', 'show', payout)).stdout).toContain(waits_for);
  });

  test.each(['asking', 'review', 'block'])(
    'does not count before its screening is clear (%s)',
    async (screening) => {
      const { id, payout } = await waitingForRecipient();
      await setUsableFrom(id, `now(), screening = '${screening}'`);
      await look(payout);
      expect(await isMet(payout)).toBe(false);
      await setUsableFrom(id, `now(), screening = 'clear'`);
      await look(payout);
      expect(await isMet(payout)).toBe(true);
    },
  );

  test('does not count while another person has to approve it', async () => {
    const { id, payout } = await waitingForRecipient();
    await setUsableFrom(id, `now(), second_person = 'usr_maker'`);
    await look(payout);
    expect([await isMet(payout), await isFound(payout)]).toEqual([false, false]);
  });

  test.each([
    ['has another destination', `destination_value = 'eve@example.com'`],
    ['is deleted', 'deleted_at = now()'],
  ])('that %s holds the payout back, also when it was ready before', async (_what, change) => {
    const { id, payout } = await waitingForRecipient();
    await setUsableFrom(id, 'now()');
    await look(payout);
    expect(await isMet(payout)).toBe(true);
    await database.owner.query(`UPDATE recipients SET ${change} WHERE id = ?`, [id]);
    expect(await take(payout, 'release')).toBeNull();
    expect(await take(payout, 'approve')).toBeNull();
    expect(await isFound(payout)).toBe(true);
    expect(await invalidate(payout)).toMatchObject({ status: 'failed', awaitsRelease: false });
    expect(await isFound(payout)).toBe(false);
  });
});

test('conditions are read with the payout, and a payout without them has none', async () => {
  const id = await waiting(LATER);
  expect((await findPayout(database.app, id))?.conditions).toEqual([{ ...LATER, metAt: null }]);
  const plain = buildPayoutMoney('1');
  await insertPayout(database.owner, key, plain, 'requested');
  expect((await findPayout(database.app, plain.id))?.conditions).toBeNull();
});
