/** What the people of an account are told: payouts, approvals, balances, endpoints, statements. */
import { addressNotifications } from '../../../activities/notifications/address';
import { sendNotification } from '../../../activities/notifications/send';
import { newId } from '../../../src/platform/lib/new-id';
import { findBalanceAlerts } from '../../../src/db/books/balance-alerts';
import { alertLowBalances } from '../../../src/features/books/balance-alerts';
import { makeUser } from '../../support/merchant/page-client';
import {
  buildPayoutMoney,
  fund,
  insertPayment,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { readPdf } from '../../support/pdf-text';
import { insertRow } from '../one-of-each';
import { startedNotifications } from './notifications-world';

const world = startedNotifications();

/** The account, the mode and the mails that its people get. */
async function toldOf(make: (account: string) => Promise<string>, roles: readonly string[]) {
  const account = await makeAccount(world.owner);
  const people = new Map<string, string>();
  for (const role of roles) {
    people.set((await makeUser(world.owner, 'merchant', role, account)).email, role);
  }
  const objectId = await make(account);
  await world.deliver();
  const mails = world.server.mails.filter(({ to }) => people.has(to[0]!));
  return {
    roles: mails.map(({ to }) => people.get(to[0]!)!).sort(),
    source: mails[0]?.source ?? '',
    objectId,
  };
}

const ROLES = ['owner', 'finance', 'developer', 'support', 'viewer'];

async function newPayout(account: string, status: 'failed' | 'requested') {
  const key = { accountId: account, mode: 'live', currency: 'USDT' } as const;
  const payout = { ...buildPayoutMoney('4'), id: newId('payout') };
  await insertPayout(world.owner, key, payout, status);
  return payout.id;
}

const awaitPerson = (payoutId: string) =>
  world.worker.query(
    `INSERT INTO payout_conditions (payout_id, kind) VALUES (?, 'second_person')`,
    [payoutId],
  );

test('a failed payout is told to those who may pay', async () => {
  const { roles, source, objectId } = await toldOf(
    (account) => newPayout(account, 'failed'),
    ROLES,
  );
  expect(roles).toEqual(['developer', 'finance', 'owner']);
  expect(source).toContain(`https://pay.example/dashboard/live/payouts/${objectId}`);
  // The mail wraps its lines.
  expect(source.replace(/=\r?\n/g, '')).toMatch(new RegExp(`4 USDT, .*\\(${objectId}\\)`));
});

test('a payout that waits for a second person is told to those who may approve', async () => {
  const { roles, source, objectId } = await toldOf(async (account) => {
    const id = await newPayout(account, 'requested');
    await awaitPerson(id);
    return id;
  }, ROLES);
  expect(roles).toEqual(['finance', 'owner']);
  expect(source).toContain('A payout waits for two-person approval');
  expect(source).toContain(objectId);
});

const PLACE = { mode: 'live', currency: 'USDT' } as const;
const TOTALS = { totals: JSON.stringify([{ currency: 'USDT', amount: '20' }]) };
const BATCH = { row_count: 1, manifest_sha256: '0'.repeat(64), review_reasons: '{}' };
const EVERY_DAY = { reference: 's', interval_seconds: 86_400, payouts: '[]' };

/** An account that asks a second person from 10 USDT a day on, with an owner who makes something, and another one. */
async function makerAnd() {
  const account = await makeAccount(world.owner);
  const maker = await makeUser(world.owner, 'merchant', 'owner', account);
  const other = await makeUser(world.owner, 'merchant', 'finance', account);
  await makeUser(world.owner, 'merchant', 'developer', account);
  const rule = `UPDATE accounts SET second_person_above = '{"USDT": "10"}' WHERE id = ?`;
  await world.owner.query(rule, [account]);
  const insert = (table: string, row: Record<string, unknown>) =>
    insertRow(world.owner, table, { account_id: account, mode: 'live', ...row });
  return { account, maker, other, insert };
}
type Makers = Awaited<ReturnType<typeof makerAnd>>;

/** What each makes; the object waits for a second person. @returns its id */
const WAITING: Record<string, (by: Makers) => Promise<string>> = {
  payout: async ({ account, maker }) => {
    const payout = buildPayoutMoney('40');
    const columns = { api_key_id: maker.id };
    await insertPayout(world.owner, { ...PLACE, accountId: account }, payout, 'requested', columns);
    await awaitPerson(payout.id);
    return payout.id;
  },
  batch: async ({ maker, insert }) => {
    const id = newId('payoutBatch');
    const by = { api_key_id: maker.id, second_person: maker.id };
    await insert('payout_batches', { id, ...BATCH, ...TOTALS, ...by, ...REQUESTED });
    return id;
  },
  schedule: async ({ maker, insert }) => {
    const id = newId('payoutSchedule');
    const by = { api_key_id: maker.id, start_at: new Date() };
    await insert('payout_schedules', { id, ...EVERY_DAY, ...TOTALS, ...by });
    return id;
  },
  recipient: async ({ maker, insert }) => {
    const id = newId('recipient');
    await insert('recipients', {
      ...{ id, name: 'Ada', currency: 'USDT', destination_type: 'exchange_id' },
      ...{ destination_value: '77', created_by: maker.id, second_person: maker.id },
    });
    // Another name is no other destination.
    await world.owner.query(`UPDATE recipients SET name = 'Bob' WHERE id = ?`, [id]);
    return id;
  },
  refund: async ({ account, maker }) => {
    const id = newId('refund');
    const payment = await insertPayment(world.owner, { ...PLACE, accountId: account }, 'completed');
    await insertRow(world.owner, 'payment_refunds', {
      ...{ id, payment_id: payment, reference: 'r1', amount: '1', taken: '1', fee: '0' },
      ...{ state: 'ordered', second_person: maker.id, awaits_person: true },
    });
    return id;
  },
};
const REQUESTED = { reference: 'b', status: 'requested' };

test.each([
  ['payout', 'payouts'],
  ['batch', 'batches'],
  ['schedule', 'schedules'],
  ['recipient', 'recipients'],
  ['refund', 'refunds'],
])(
  'a %s that waits for a second person is told once to those who may approve it, and not to its maker',
  async (what, path) => {
    const by = await makerAnd();
    const id = await WAITING[what]!(by);
    await world.deliver();
    expect(world.server.mails.map(({ to }) => to)).toEqual([[by.other.email]]);
    const { source } = world.server.mails[0]!;
    expect(source).toContain(`Subject: A ${what} waits for two-person approval`);
    expect(source).toContain(`https://pay.example/dashboard/live/${path}/${id}`);
  },
);

test('a schedule that its maker may pay alone is told to nobody', async () => {
  const { other, insert } = await makerAnd();
  const totals = JSON.stringify([{ currency: 'USDT', amount: '5' }]);
  const by = { api_key_id: other.id, start_at: new Date(), totals };
  await insert('payout_schedules', { id: newId('payoutSchedule'), ...EVERY_DAY, ...by });
  await world.deliver();
  expect(world.server.mails).toEqual([]);
});

test('a low balance is told once until it has recovered, to those who keep the books', async () => {
  const { account, maker, other } = await makerAnd();
  const key = { accountId: account, mode: 'live', currency: 'USDT' } as const;
  const by = { actor: maker.email, reason: null };
  const set = (below: string[]) => alertLowBalances.make(world.owner, by, key, { below });
  await fund(world.owner, key, '100');
  await set(['USDT=50', 'BTC=1']);
  await world.deliver();
  // BTC has no balance.
  const people = [maker.email, other.email].sort();
  const told = () => {
    const mails = world.server.mails.splice(0);
    return {
      to: mails.flatMap(({ to }) => to).sort(),
      paths: [...new Set(mails.map(({ source }) => /live\/balances\/\w+/.exec(source)?.[0]))],
    };
  };
  expect(told()).toEqual({ to: people, paths: ['live/balances/BTC'] });

  await set(['USDT=100.00000001']);
  await world.deliver();
  expect(told()).toEqual({ to: people, paths: ['live/balances/USDT'] });
  await world.deliver();
  expect(told().to).toEqual([]);
  await fund(world.owner, key, '1');
  await world.deliver();
  expect(told().to).toEqual([]);
  await set(['USDT=200']);
  await world.deliver();
  expect(told()).toEqual({ to: people, paths: ['live/balances/USDT'] });
  // The amounts of the other mode, and of others, are their own.
  const elsewhere = { ...key, mode: 'test' as const };
  await alertLowBalances.make(world.owner, by, elsewhere, { below: [] });
  expect(await findBalanceAlerts(world.owner, key)).toEqual({ USDT: '200.00000000' });
  expect(await findBalanceAlerts(world.owner, elsewhere)).toEqual({});
  await expect(set(['USDT=x'])).rejects.toThrow();
});

test('an endpoint that fails is told once a day to those who may send again', async () => {
  const { roles, source, objectId } = await toldOf(async (account) => {
    const endpoint = newId('webhookEndpoint');
    await world.owner.query(
      `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
       VALUES (?, ?, 'test', 'https://shop.example/secret-path', '\\x00', 'key')`,
      [endpoint, account],
    );
    for (const event of ['evt_1', 'evt_2']) {
      const delivery = newId('webhookDelivery');
      await world.owner.query(
        `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, check_at)
         VALUES (?, ?, ?, now(), now())`,
        [delivery, event, endpoint],
      );
      await world.worker.query(
        `UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL, finished_at = now() WHERE id = ?`,
        [delivery],
      );
    }
    return endpoint;
  }, ROLES);
  expect(roles).toEqual(['developer', 'owner', 'support']);
  expect(source).toContain(`https://pay.example/dashboard/test/webhooks/${objectId}`);
  // Addresses of receivers can contain secrets.
  expect(source).not.toContain('secret-path');
});

test('the statement of a month that has ended comes as a PDF to those who chose it, once', async () => {
  const { account, user } = await world.newOwner();
  await world.newOwner(account);
  await world.owner.query(
    `INSERT INTO notification_choices (user_id, account_id, kind, by_email) VALUES (?, ?, 'statement_closed', true)`,
    [user.id, account],
  );
  await fund(world.owner, { accountId: account, mode: 'live', currency: 'USDT' }, '1250.5');
  const now = new Date();
  const later = (days: number, hours: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1 + days, hours));
  const note = (at: Date) => world.owner.query('SELECT note_closed_statements(?)', [at]);
  const month = now.toISOString().slice(0, 7);

  for (const at of [later(0, 0), later(7, 0)]) await note(at);
  expect(await addressNotifications(world.deps)).toEqual([]);
  for (const at of [later(0, 2), later(0, 3), later(1, 0)]) await note(at);
  const [id, ...others] = await addressNotifications(world.deps);
  expect(others).toEqual([]);
  expect(await sendNotification(world.deps, id!)).toBe('sent');
  expect(world.server.mails).toHaveLength(1);
  const { to, source } = world.server.mails[0]!;
  expect(to).toEqual([user.email]);
  expect(source).toContain(`/dashboard/live/statements?month`);
  const [, encoded = ''] =
    /filename=statement-[0-9-]+\.pdf\r?\n(?:.+\r?\n)*\r?\n([A-Za-z0-9+/=\r\n]+)/.exec(source)!;
  expect(source).toContain(`filename=statement-${month}.pdf`);
  const [page] = await readPdf(Buffer.from(encoded, 'base64'));
  expect(page).toEqual(expect.arrayContaining([`Statement ${month}`, '1,250.50000000']));
  await note(later(2, 0));
  expect(await addressNotifications(world.deps)).toEqual([]);
});
