/**
 * Notifications with a real database and a real SMTP server: who is told, once for each occasion, and what the
 * mail server's answers lead to.
 */
import { noteAlarms } from '../../../activities/provider-alarms';
import { addressNotifications } from '../../../activities/notifications/address';
import type { NotificationDeps } from '../../../activities/notifications/deps';
import { sendNotification } from '../../../activities/notifications/send';
import { connect } from '../../../src/db/connect';
import { appendEvent, transactionOfEvents } from '../../../src/db/webhooks/events';
import type { EventType } from '../../../src/domain/events';
import { openCase } from '../../../src/db/cases/cases';
import { listProviderAlarms, noteProviderAlarms } from '../../../src/db/cases/provider-alarms';
import { listProviderWallets } from '../../../src/db/operations/provider-wallets';
import type { Value } from '../../../src/platform/postgres/queries';
import type { Db } from '../../../src/db/transaction';
import type { Mode } from '../../../src/domain/mode';
import { createProviders } from '../../../src/adapters/providers/registry';
import { newId } from '../../../src/platform/lib/new-id';
import { findBalanceAlerts } from '../../../src/db/books/balance-alerts';
import { alertLowBalances } from '../../../src/features/books/balance-alerts';
import { createKey } from '../../../src/features/api-keys/api-keys';
import { pausePayouts } from '../../../src/features/accounts/payout-pauses';
import { makeUser } from '../../support/merchant/page-client';
import {
  buildPayoutMoney,
  fund,
  insertPayment,
  insertPayout,
  makeAccount,
} from '../../support/merchant/ledger';
import { notificationDeps } from '../../support/notification-deps';
import { readPdf } from '../../support/pdf-text';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { startHttpServer } from '../../support/servers/sandbox';
import { type MailServer, startMailServer } from '../../support/servers/mail-server';

const PEPPER = 'pepper-'.repeat(6);
const KEY = { name: 'Shop', scopes: ['payments:read' as const], allow: [] };
const NO_RULES = { currencies: [], payoutMax: [], dailyMax: [] };

let database: TestDatabase;
let owner: Db;
let worker: Db;
let server: MailServer;
let deps: NotificationDeps;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (url: string) => connect({ url, size: 4, applicationName: 'notifications-test' });
  [owner, worker] = [open(database.ownerUrl), open(database.workerUrl)];
  server = await startMailServer();
  deps = depsOf(server);
});

afterAll(async () => {
  await Promise.all([owner.destroy(), worker.destroy(), server.stop()]);
  await database.drop();
});

beforeEach(() => {
  server.mails.length = 0;
  server.refuseWith(null);
  server.beforeAnswer(null);
});

const depsOf = (mailServer: Pick<MailServer, 'url'>) => notificationDeps(worker, mailServer);

async function newOwner(accountId?: string) {
  const account = accountId ?? (await makeAccount(owner));
  return { account, user: await makeUser(owner, 'merchant', 'owner', account) };
}

async function makeKey(accountId: string) {
  const by = { actor: 'ada@example.com', reason: null };
  const subject = { accountId, mode: 'test' as const, pepper: PEPPER };
  return createKey.make(owner, by, subject, { ...KEY, ...NO_RULES });
}

/** One key of an account with one owner, and the message about it. */
async function oneMessage() {
  const { account, user } = await newOwner();
  const key = await makeKey(account);
  const [id] = await addressNotifications(deps);
  return { account, user, key, id: id! };
}

const statusOf = async (id: string) =>
  (await owner.query<{ status: string }>('SELECT status FROM notifications WHERE id = ?', [id]))[0]!
    .status;

test('a created key is told to the owners of its account only, once, and without the secret', async () => {
  const { account, user, key, id } = await oneMessage();
  await makeUser(owner, 'merchant', 'viewer', account);
  expect(await sendNotification(deps, id)).toBe('sent');
  expect(server.mails).toHaveLength(1);
  const [mail] = server.mails;
  expect(mail!.to).toEqual([user.email]);
  expect(mail!.source).toContain(key.id);
  expect(mail!.source).toContain('https://pay.example/dashboard/test/keys');
  expect(mail!.source).not.toContain(key.secret);
  expect(mail!.source).not.toContain('sk_test_');

  // Running it again tells nobody again.
  expect(await addressNotifications(deps)).toEqual([]);
  expect(await sendNotification(deps, id)).toBe('sent');
  expect(server.mails).toHaveLength(1);
});

test('a payment received is told to whoever has chosen it; underpaid ones and failed refunds to the others too', async () => {
  const { account, user } = await newOwner();
  const emit = (type: EventType, objectId: string) =>
    transactionOfEvents(owner, (tx) => {
      const owned = { accountId: account, mode: 'live' as const, createdAt: new Date() };
      const body = Buffer.from('{}');
      appendEvent(tx, { id: newId('event'), type, objectId, sequence: 1, body, ...owned });
      return Promise.resolve();
    });
  const told = async () => {
    server.mails.length = 0;
    for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
    return server.mails.map(({ source }) => /Subject: (.*) \(/.exec(source)?.[1]?.trim()).sort();
  };
  await emit('payment.completed', 'pay_1');
  await emit('payment.underpaid', 'pay_2');
  await emit('refund.failed', 're_1');
  expect(await told()).toEqual(['A payment was underpaid', 'A refund failed']);
  await owner.query(
    `INSERT INTO notification_choices (user_id, account_id, kind, by_email)
     VALUES (?, ?, 'payment_received', true)`,
    [user.id, account],
  );
  await emit('payment.completed', 'pay_3');
  expect(await told()).toEqual(['A payment was received']);
});

test('two accounts never see each other’s', async () => {
  const [one, two] = [await newOwner(), await newOwner()];
  const [first, second] = [await makeKey(one.account), await makeKey(two.account)];
  for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
  const of = (email: string) => server.mails.filter(({ to }) => to.includes(email));
  expect(server.mails).toHaveLength(2);
  expect(of(one.user.email)[0]!.source).toContain(first.id);
  expect(of(one.user.email)[0]!.source).not.toContain(second.id);
  expect(of(two.user.email)[0]!.source).toContain(second.id);
  expect(of(two.user.email)[0]!.source).not.toContain(first.id);
});

test.each([
  ['disabled', 'UPDATE users SET disabled_at = now() WHERE id = ?'],
  ['removed from the account', 'DELETE FROM memberships WHERE user_id = ?'],
  ['given a lower role', `UPDATE memberships SET role = 'support' WHERE user_id = ?`],
])('a person who was %s after the occasion gets nothing', async (_, change) => {
  const { user, id } = await oneMessage();
  await owner.query(change, [user.id]);
  expect(await sendNotification(deps, id)).toBe('dropped');
  expect(server.mails).toEqual([]);
});

test('a person who has chosen not to be told of a kind gets nothing', async () => {
  const { account, user } = await newOwner();
  await makeKey(account);
  const [id] = await addressNotifications(deps);
  await owner.query(
    `INSERT INTO notification_choices (user_id, account_id, kind, by_email)
     VALUES (?, ?, 'key_created', false)`,
    [user.id, account],
  );
  await makeKey(account);
  expect(await sendNotification(deps, id!)).toBe('dropped');
  expect(await addressNotifications(deps)).toEqual([]);
  expect(server.mails).toEqual([]);
});

test('a server that refuses for now gets the mail later; one that refuses for good does not', async () => {
  const later = await oneMessage();
  server.refuseWith(450);
  await expect(sendNotification(deps, later.id)).rejects.toThrow('450');
  expect(await statusOf(later.id)).toBe('waiting');
  server.refuseWith(null);
  expect(await sendNotification(deps, later.id)).toBe('sent');
  expect(server.mails).toHaveLength(1);

  const never = await oneMessage();
  server.refuseWith(550);
  expect(await sendNotification(deps, never.id)).toBe('refused');
  server.refuseWith(null);
  expect(await sendNotification(deps, never.id)).toBe('refused');
  expect(server.mails).toHaveLength(1);
});

test('a server that is away gets the mail once when it is back', async () => {
  const { id } = await oneMessage();
  const away = await startMailServer();
  await away.stop();
  await expect(sendNotification(depsOf(away), id)).rejects.toThrow('the message waits');
  expect(await sendNotification(deps, id)).toBe('sent');
  expect(server.mails).toHaveLength(1);
});

test('a call that follows one that died while it sent does not send again', async () => {
  const { id } = await oneMessage();
  // The second call comes while the server has the text and has not answered the first.
  let second: Promise<string> | undefined;
  server.beforeAnswer(async () => {
    second = sendNotification(deps, id);
    await second;
  });
  await sendNotification(deps, id);
  expect(await second).toBe('unclear');
  expect(await sendNotification(deps, id)).toBe('unclear');
  expect(server.mails).toHaveLength(1);
});

test('many occasions of a kind become three messages, and then one with their number', async () => {
  const { account, user } = await newOwner();
  const ids: string[] = [];
  for (let message = 0; message < 3; message += 1) {
    await makeKey(account);
    ids.push(...(await addressNotifications(deps)));
  }
  for (const id of ids) await sendNotification(deps, id);
  expect(server.mails).toHaveLength(3);

  for (let key = 0; key < 4; key += 1) await makeKey(account);
  expect(await addressNotifications(deps)).toEqual([]);
  const earlier = `UPDATE notifications SET created_at = created_at - interval '11 minutes' WHERE user_id = ?`;
  await owner.query(earlier, [user.id]);
  const [digest, ...others] = await addressNotifications(deps);
  expect(others).toEqual([]);
  await sendNotification(deps, digest!);
  expect(server.mails).toHaveLength(4);
  expect(server.mails[3]!.source).toContain('API keys created: 4');
});

test('operators are told of cases and of a ledger that was not checked, merchants are not', async () => {
  await newOwner();
  const operator = await makeUser(owner, 'operator', 'admin');
  await openCase(worker, 'unknown_transfer', 'tx_1', { amount: '1' });
  await openCase(worker, 'ledger_not_checked', 'ledger', { problem: 'late' });
  // It is open already.
  await openCase(worker, 'ledger_not_checked', 'ledger', { problem: 'late' });
  for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
  expect(server.mails.map(({ to }) => to)).toEqual([[operator.email], [operator.email]]);
  const subjects = server.mails.map(({ source }) => /^Subject: (.*)$/m.exec(source)![1]!.trim());
  expect(subjects.sort()).toEqual(['A case was opened', 'The ledger check failed']);
});

test('operators are told of each alarm of a provider once, and again when it comes back', async () => {
  const operator = await makeUser(owner, 'operator', 'viewer');
  const told = () => server.mails.filter(({ to }) => to.includes(operator.email));
  const alarm = (id: string, detail: string) => ({
    ...{ id, kind: 'signer_stopped', network: 'polygon', subject: '0xabc', detail },
    raisedAt: new Date('2026-11-01T00:00:00Z'),
  });
  const answer = async (mode: Mode, ...alarms: ReturnType<typeof alarm>[]) => {
    await noteProviderAlarms(worker, { provider: 'onchain_provider', mode }, alarms);
    for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
    return told().length;
  };
  expect(await answer('live', alarm('1', 'Nonce 4 is used.'))).toBe(1);
  expect(told()[0]!.source).toContain('signer_stopped on polygon (live mode)');
  expect(told()[0]!.source).toContain('https://ops.example/console/operations');
  // The page has the details; a mail has none.
  expect(told()[0]!.source).not.toContain('Nonce 4');
  expect(await answer('live', alarm('1', 'Nonces 4 and 5 are used.'))).toBe(1);
  expect(await listProviderAlarms(owner)).toMatchObject([{ detail: 'Nonces 4 and 5 are used.' }]);
  expect(await answer('test')).toBe(1);
  expect(await listProviderAlarms(owner)).toHaveLength(1);
  expect(await answer('live')).toBe(1);
  expect(await listProviderAlarms(owner)).toEqual([]);
  expect(await answer('live', alarm('2', 'Nonce 6 is used.'))).toBe(2);
  // A wallet whose database was restored gives an id again, here while the gateway knows the earlier alarm.
  const reused = { ...alarm('2', 'The database is old.'), kind: 'follower_stalled' };
  const later = { ...reused, raisedAt: new Date('2026-11-02T00:00:00Z') };
  expect(await answer('live', later)).toBe(3);
  expect(await listProviderAlarms(owner)).toMatchObject([{ kind: 'follower_stalled' }]);
});

test('while one of two programs of a provider is silent, its alarms stay, and those of the other change', async () => {
  const answers: Record<string, string[] | null> = { main: ['1'], tron: ['1'] };
  const programs = await Promise.all(
    Object.keys(answers).map((name) =>
      startHttpServer((_request, response) => {
        const ids = answers[name] ?? null;
        const alarms = ids?.map((id) => ({
          ...{ object: 'alarm', id, kind: `${name}_${id}`, network: 'tron', subject: 's' },
          ...{ detail: 'd', raised_at: '2026-11-01T00:00:00.000Z' },
        }));
        response.writeHead(alarms === undefined ? 503 : 200, {
          'content-type': 'application/json',
        });
        response.end(JSON.stringify({ alarms, unknown_transactions: [] }));
      }),
    ),
  );
  const [main, tron] = programs.map(({ url }) => url);
  const secrets = { apiKey: 'key', callbackSecret: 'secret' };
  const providers = createProviders({
    onchain_provider: {
      live: null,
      test: {
        ...{ ...secrets, baseUrl: main!, timeoutMs: 2_000 },
        programs: [{ ...secrets, baseUrl: tron!, networks: ['tron'] }],
      },
    },
    exchange_pay: { test: null, live: null },
  });
  const noted = async (next: Partial<typeof answers> = {}) => {
    Object.assign(answers, next);
    await noteAlarms({ db: worker, providers });
    return (await listProviderAlarms(owner)).map(({ kind }) => kind).sort();
  };
  expect(await noted()).toEqual(['main_1', 'tron_1']);
  expect(await noted({ tron: null, main: ['2'] })).toEqual(['main_2', 'tron_1']);
  expect(await noted({ tron: [], main: null })).toEqual(['main_2']);
  expect(await noted({ tron: null })).toEqual(['main_2']);
  expect(await noted({ tron: [], main: [] })).toEqual([]);
  await Promise.all([...programs.map(({ stop }) => stop()), providers.close()]);
});

test('balances of a provider stay while it is silent, and are none when it does not report them', async () => {
  const wallet = {
    ...{ object: 'wallet', network: 'base', address: '0xa', asset: 'ETH', balance: '1.5' },
    ...{ minimum: null, pays_fees: true },
  };
  let answer: [status: number, body: object] = [200, { wallets: [wallet] }];
  const program = await startHttpServer((request, response) => {
    const [status, body] = request.url?.includes('/wallets') === true ? answer : [503, {}];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  const own = { apiKey: 'key', callbackSecret: 'secret', baseUrl: program.url, timeoutMs: 2_000 };
  const providers = createProviders({
    onchain_provider: { live: null, test: own },
    exchange_pay: { test: null, live: null },
  });
  const noted = async (...next: typeof answer) => {
    answer = next;
    await noteAlarms({ db: worker, providers });
    return (await listProviderWallets(owner)).map(({ mode, wallets }) => ({ mode, wallets }));
  };
  const { object: _object, pays_fees: paysFees, ...told } = wallet;
  const stored = [{ mode: 'test', wallets: [{ ...told, paysFees, balance: '1.50000000' }] }];
  expect(await noted(...answer)).toEqual(stored);
  expect(await noted(503, {})).toEqual(stored);
  // A number may have lost digits.
  expect(await noted(200, { wallets: [{ ...wallet, balance: 1.5 }] })).toEqual(stored);
  expect(await noted(404, {})).toEqual([{ mode: 'test', wallets: [] }]);
  await Promise.all([program.stop(), providers.close()]);
});

/** The account, the mode and the mails that its people get. */
async function toldOf(make: (account: string) => Promise<string>, roles: readonly string[]) {
  const account = await makeAccount(owner);
  const people = new Map<string, string>();
  for (const role of roles) {
    people.set((await makeUser(owner, 'merchant', role, account)).email, role);
  }
  const objectId = await make(account);
  for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
  const mails = server.mails.filter(({ to }) => people.has(to[0]!));
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
  await insertPayout(owner, key, payout, status);
  return payout.id;
}

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
    await worker.query(
      `INSERT INTO payout_conditions (payout_id, kind) VALUES (?, 'second_person')`,
      [id],
    );
    return id;
  }, ROLES);
  expect(roles).toEqual(['finance', 'owner']);
  expect(source).toContain('A payout waits for two-person approval');
  expect(source).toContain(objectId);
});

const insert = (table: string, row: Record<string, Value>) =>
  owner.query(
    `INSERT INTO ${table} (${Object.keys(row).join(', ')})
     VALUES (${Object.keys(row)
       .map(() => '?')
       .join(', ')})`,
    Object.values(row),
  );

/** An account with an owner who made something, and another one. */
async function makerAnd() {
  const account = await makeAccount(owner);
  const maker = await makeUser(owner, 'merchant', 'owner', account);
  const other = await makeUser(owner, 'merchant', 'finance', account);
  await makeUser(owner, 'merchant', 'developer', account);
  return { account, maker, other, owned: { account_id: account, mode: 'live' } };
}

async function deliver(): Promise<void> {
  for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
}

const BATCH = {
  ...{ row_count: 1, totals: '[]', manifest_sha256: '0'.repeat(64), review_reasons: '{}' },
  ...{ reference: 'b', status: 'requested' },
};
const RECIPIENT = {
  ...{ name: 'Ada', currency: 'USDT', destination_type: 'exchange_id', destination_value: '77' },
};
const EVERY_DAY = { reference: 's', interval_seconds: 86_400, payouts: '[]' };

test('what waits for a second person is told to those who may approve it, and not to its maker', async () => {
  const { account, maker, other, owned } = await makerAnd();
  const rule = `UPDATE accounts SET second_person_above = '{"USDT": "10"}' WHERE id = ?`;
  await owner.query(rule, [account]);
  const ids = {
    payout: newId('payout'),
    batch: newId('payoutBatch'),
    schedule: newId('payoutSchedule'),
    small: newId('payoutSchedule'),
    recipient: newId('recipient'),
    refund: newId('refund'),
  };
  const money = { ...buildPayoutMoney('40'), id: ids.payout };
  await insertPayout(
    owner,
    { accountId: account, mode: 'live', currency: 'USDT' },
    money,
    'requested',
  );
  await owner.query('UPDATE payouts SET api_key_id = ? WHERE id = ?', [maker.id, ids.payout]);
  const condition = `INSERT INTO payout_conditions (payout_id, kind) VALUES (?, 'second_person')`;
  await worker.query(condition, [ids.payout]);
  const by = { api_key_id: maker.id };
  await insert('payout_batches', {
    ...{ id: ids.batch, ...owned, ...BATCH, ...by, second_person: maker.id },
  });
  const schedule = { ...owned, ...EVERY_DAY, ...by, start_at: new Date() };
  const totals = (amount: string) => JSON.stringify([{ currency: 'USDT', amount }]);
  await insert('payout_schedules', { ...schedule, id: ids.schedule, totals: totals('20') });
  await insert('payout_schedules', {
    ...{ ...schedule, id: ids.small, reference: 's2', totals: totals('5') },
    // Below what this person may pay alone in a day.
    api_key_id: other.id,
  });
  await insert('recipients', {
    ...{ id: ids.recipient, ...owned, ...RECIPIENT },
    ...{ created_by: maker.id, second_person: maker.id },
  });
  const payment = await insertPayment(
    owner,
    { accountId: account, mode: 'live', currency: 'USDT' },
    'completed',
  );
  await insert('payment_refunds', {
    ...{ id: ids.refund, payment_id: payment, reference: 'r1', amount: '1', taken: '1', fee: '0' },
    ...{ state: 'ordered', second_person: maker.id, awaits_person: true },
  });
  // Another name is no other destination.
  await owner.query(`UPDATE recipients SET name = 'Bob' WHERE id = ?`, [ids.recipient]);
  await deliver();
  const told = server.mails.map(({ to, source }) => [to[0], /Subject: (.*?) \(/.exec(source)?.[1]]);
  expect(told.sort()).toEqual(
    ['batch', 'payout', 'recipient', 'refund', 'schedule'].map((what) => [
      other.email,
      `A ${what} waits for two-person approval`,
    ]),
  );
  const all = server.mails.map(({ source }) => source).join('\n');
  for (const [path, id] of [
    ['batches', ids.batch],
    ['schedules', ids.schedule],
    ['recipients', ids.recipient],
    ['refunds', ids.refund],
  ]) {
    expect(all).toContain(`https://pay.example/dashboard/live/${path}/${id}`);
  }
  expect(all).not.toContain(ids.small);
});

test('a low balance is told once until it has recovered, to those who keep the books', async () => {
  const { account, maker, other } = await makerAnd();
  const key = { accountId: account, mode: 'live', currency: 'USDT' } as const;
  const by = { actor: maker.email, reason: null };
  const set = (below: string[]) => alertLowBalances.make(owner, by, key, { below });
  await fund(owner, key, '100');
  await set(['USDT=50', 'BTC=1']);
  await deliver();
  // BTC has no balance.
  const people = [maker.email, other.email].sort();
  const told = () => {
    const mails = server.mails.splice(0);
    return {
      to: mails.flatMap(({ to }) => to).sort(),
      paths: [...new Set(mails.map(({ source }) => /live\/balances\/\w+/.exec(source)?.[0]))],
    };
  };
  expect(told()).toEqual({ to: people, paths: ['live/balances/BTC'] });

  await set(['USDT=100.00000001']);
  await deliver();
  expect(told()).toEqual({ to: people, paths: ['live/balances/USDT'] });
  await deliver();
  expect(told().to).toEqual([]);
  await fund(owner, key, '1');
  await deliver();
  expect(told().to).toEqual([]);
  await set(['USDT=200']);
  await deliver();
  expect(told()).toEqual({ to: people, paths: ['live/balances/USDT'] });
  // The amounts of the other mode, and of others, are their own.
  const elsewhere = { ...key, mode: 'test' as const };
  await alertLowBalances.make(owner, by, elsewhere, { below: [] });
  expect(await findBalanceAlerts(owner, key)).toEqual({ USDT: '200.00000000' });
  expect(await findBalanceAlerts(owner, elsewhere)).toEqual({});
  await expect(set(['USDT=x'])).rejects.toThrow();
});

test('a live payout that waits for review or is in doubt for long is told to operators, once', async () => {
  const reviewer = await makeUser(owner, 'operator', 'reviewer');
  const viewer = await makeUser(owner, 'operator', 'viewer');
  const account = await makeAccount(owner);
  const late = async (mode: 'live' | 'test', change: string) => {
    const key = { accountId: account, mode, currency: 'USDT' } as const;
    const payout = { ...buildPayoutMoney('4'), id: newId('payout') };
    await insertPayout(owner, key, payout, 'under_review');
    await owner.query(`UPDATE payouts SET ${change} WHERE id = ?`, [payout.id]);
    return payout.id;
  };
  const review = await late('live', `created_at = now() - interval '61 minutes'`);
  await late('live', `created_at = now() - interval '59 minutes'`);
  await late('test', `created_at = now() - interval '61 minutes'`);
  const doubt = await late(
    'live',
    `status = 'processing', in_doubt_since = now() - interval '16 minutes'`,
  );
  await late('live', `status = 'processing', in_doubt_since = now() - interval '14 minutes'`);
  await deliver();
  await deliver();
  const own = server.mails.filter(({ to }) => to.includes(reviewer.email));
  const ids = own.map(({ source }) => /console\/payouts\/(po_\w+)/.exec(source)?.[1]);
  expect(ids.sort()).toEqual([review, doubt].sort());
  expect(server.mails.filter(({ to }) => to.includes(viewer.email))).toEqual([]);
});

test('an endpoint that fails is told once a day to those who may send again', async () => {
  const { roles, source, objectId } = await toldOf(async (account) => {
    const endpoint = newId('webhookEndpoint');
    await owner.query(
      `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
       VALUES (?, ?, 'test', 'https://shop.example/secret-path', '\\x00', 'key')`,
      [endpoint, account],
    );
    for (const event of ['evt_1', 'evt_2']) {
      const delivery = newId('webhookDelivery');
      await owner.query(
        `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, check_at)
         VALUES (?, ?, ?, now(), now())`,
        [delivery, event, endpoint],
      );
      await worker.query(
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

test('a pause of payouts is told to the operators', async () => {
  const operator = await makeUser(owner, 'operator', 'viewer');
  const by = { actor: 'alice@example.com', reason: 'maintenance' };
  const everything = { scope: 'global', target: '', mode: null } as const;
  await pausePayouts.make(owner, by, everything, { reason: by.reason });
  for (const id of await addressNotifications(deps)) await sendNotification(deps, id);
  const own = server.mails.filter(({ to }) => to.includes(operator.email));
  expect(own).toHaveLength(1);
  expect(own[0]!.source).toContain('https://ops.example/console/pauses');
});

test('without a mail server nobody is told, also not after one is set', async () => {
  const { account } = await newOwner();
  await makeKey(account);
  expect(await addressNotifications({ ...deps, mail: null })).toEqual([]);
  expect(await addressNotifications(deps)).toEqual([]);
});

test('the statement of a month that has ended comes as a PDF to those who chose it, once', async () => {
  const { account, user } = await newOwner();
  await newOwner(account);
  await owner.query(
    `INSERT INTO notification_choices (user_id, account_id, kind, by_email) VALUES (?, ?, 'statement_closed', true)`,
    [user.id, account],
  );
  await fund(owner, { accountId: account, mode: 'live', currency: 'USDT' }, '1250.5');
  const now = new Date();
  const later = (days: number, hours: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1 + days, hours));
  const note = (at: Date) => owner.query('SELECT note_closed_statements(?)', [at]);
  const month = now.toISOString().slice(0, 7);

  for (const at of [later(0, 0), later(7, 0)]) await note(at);
  expect(await addressNotifications(deps)).toEqual([]);
  for (const at of [later(0, 2), later(0, 3), later(1, 0)]) await note(at);
  const [id, ...others] = await addressNotifications(deps);
  expect(others).toEqual([]);
  expect(await sendNotification(deps, id!)).toBe('sent');
  expect(server.mails).toHaveLength(1);
  const { to, source } = server.mails[0]!;
  expect(to).toEqual([user.email]);
  expect(source).toContain(`/dashboard/live/statements?month`);
  const [, encoded = ''] =
    /filename=statement-[0-9-]+\.pdf\r?\n(?:.+\r?\n)*\r?\n([A-Za-z0-9+/=\r\n]+)/.exec(source)!;
  expect(source).toContain(`filename=statement-${month}.pdf`);
  const [page] = await readPdf(Buffer.from(encoded, 'base64'));
  expect(page).toEqual(expect.arrayContaining([`Statement ${month}`, '1,250.50000000']));
  await note(later(2, 0));
  expect(await addressNotifications(deps)).toEqual([]);
});
