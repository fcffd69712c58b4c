/** What a person makes above the account's amount waits for another person; who may be that is second-person-rights. */
import type { SecondPersonKind } from '../../../src/domain/second-person';
import type { MerchantRole } from '../../../src/domain/users';
import {
  buildPayout,
  buildRecipient,
  MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import { makeUser, type PageClient, signedIn } from '../../support/merchant/page-client';
import {
  approveAs,
  DESTINATION,
  LISTS,
  makeBatch,
  makePayout,
  makeRecipient,
  makeRefund,
  makeSchedule,
  paidFor,
  versionOn,
} from '../../support/merchant/second-person';
import {
  atProvider,
  checkoutOf,
  whenPayment,
  whenRefund,
} from '../../support/payment/payment-steps';
import { openMerchant, whenFinal } from '../../support/payout/payout-steps';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(useSharedGateway, isSound);
let accountId: string;
let api: MerchantClient;
let maker: PageClient;
let checker: PageClient;
let developer: PageClient;

const enter = async (role: MerchantRole) =>
  signedIn(gateway.baseUrl, await makeUser(gateway.db, 'merchant', role, accountId));

beforeAll(async () => {
  const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDT: '10000' } });
  ({ accountId, client: api } = merchant);
  [maker, checker, developer] = [
    await enter('owner'),
    await enter('owner'),
    await enter('developer'),
  ];
  const set = await maker.post('/dashboard/test/second-person', { above: 'USDT=100' });
  expect(set.status).toBe(303);
});

const read = async (id: string) => (await api.get(`/payouts/${id}`)).json.data;

test('at the amount, and from an API key of an operator, it does not wait; above it in 24 hours, it does', async () => {
  const alone = await enter('owner');
  expect((await read(await makePayout(alone, '60'))).release).toBeUndefined();
  expect((await read(await makePayout(alone, '40'))).release).toBeUndefined();
  expect((await read(await makePayout(alone, '1'))).release.conditions).toHaveLength(1);
  const batch = await makeBatch(alone, '1', '1');
  expect(await readBatch(batch)).toMatchObject({ awaits_second_person: true });
  const { json } = await api.createPayout(buildPayout({ amount: '101' }));
  expect(json.data.release).toBeUndefined();
});

test('a key of a person counts as that person until another one approves it', async () => {
  const alone = await enter('owner');
  const form = { name: 'Till', scopes: 'payouts:write' };
  const made = await alone.post('/dashboard/test/keys/new', form);
  const page = made.headers.get('location')!;
  const [, secret = ''] = /(sk_test_[\w-]+)/.exec(await alone.read(page)) ?? [];
  const own = new MerchantClient(gateway.baseUrl, secret);
  const conditionsOf = async (amount: string) =>
    (await own.createPayout(buildPayout({ amount }))).json.data.release?.conditions ?? [];
  expect(await conditionsOf('100')).toEqual([]);
  expect(await conditionsOf('1')).toEqual([{ type: 'second_person', met_at: null }]);
  expect((await read(await makePayout(alone, '1'))).release.conditions).toHaveLength(1);
  const id = page.split('/').at(-1)!;
  expect(await alone.read(page)).not.toContain(`/second-person/${id}/approve`);
  expect(await checker.read('/dashboard/test/approvals')).toContain(page);
  const [, version = ''] = /name="version" value="([^"]*)"/.exec(await checker.read(page)) ?? [];
  expect((await approveAs(alone, id, version)).status).toBe(409);
  expect((await approveAs(checker, id, version)).status).toBe(303);
  expect(await conditionsOf('500')).toEqual([]);
  // Other limits are another key to approve.
  await alone.post(`${page}/limits`, { payTo: 'anywhere' });
  expect(await conditionsOf('500')).toEqual([{ type: 'second_person', met_at: null }]);
});

test('a cancelled one returns its funds, and its time ends after seven days', async () => {
  const before = (await api.get('/balance')).json.balances;
  const id = await makePayout(maker, '200');
  const { created_at: created, release } = await read(id);
  expect(Date.parse(release.expires_at) - Date.parse(created)).toBe(7 * 24 * 3_600_000);
  await checker.post(`/dashboard/test/payouts/${id}/cancel`, {});
  expect((await whenFinal(api, id)).status).toBe('cancelled');
  expect((await approveAs(checker, id)).status).toBe(409);
  const usdt = (all: { currency: string; available: string }[]) =>
    all.find(({ currency }) => currency === 'USDT')!.available;
  expect(usdt((await api.get('/balance')).json.balances)).toBe(usdt(before));
});

const readBatch = async (id: string) => (await api.get(`/payout_batches/${id}`)).json.data;
const whenBatch = (id: string, status: string) =>
  waitFor(`${id} to be ${status}`, async () => {
    const batch = await readBatch(id);
    return batch.status === status ? batch : undefined;
  });

test('the rows of a batch count together, and do not wait at the amount', async () => {
  const above = await makeBatch(maker, '50', '50.00000001');
  expect(await readBatch(above)).toMatchObject({ status: 'requested', awaits_second_person: true });
  const version = await versionOn(checker, 'payoutBatch', above);
  expect((await approveAs(checker, above, version)).status).toBe(303);
  // Its rows have no conditions of their own.
  expect(await whenBatch(above, 'completed')).toMatchObject({ awaits_second_person: false });
  const below = await makeBatch(await enter('owner'), '50', '50');
  expect(await readBatch(below)).toMatchObject({ awaits_second_person: false });
  await whenBatch(below, 'completed');
});

test('an approval does not count for the rows that remain when others are left out', async () => {
  const id = await makeBatch(maker, '150', '150');
  const version = await versionOn(checker, 'payoutBatch', id);
  const leave = await maker.post(`/dashboard/test/batches/${id}/leave_out`, { row: '1' });
  expect(leave.status).toBe(303);
  expect((await approveAs(checker, id, version)).status).toBe(409);
  const now = await versionOn(checker, 'payoutBatch', id);
  expect(now).not.toBe(version);
  expect((await approveAs(checker, id, now)).status).toBe(303);
  await whenBatch(id, 'completed');
});

test('a batch that nobody approves in time is stopped', async () => {
  const id = await makeBatch(maker, '80', '80');
  const sql = `UPDATE payout_batches SET second_person_until = now() WHERE id = ?`;
  await gateway.db.query(sql, [id]);
  await gateway.temporal.workflow.getHandle(id).signal('wake');
  expect(await whenBatch(id, 'stopped')).toMatchObject({ rows: { returned: 2 } });
  const page = await (await maker.get(`/dashboard/test/batches/${id}`)).text();
  expect(page).toContain('No second person approved the batch in time.');
});

test('one page lists everything that waits, with its amount, its maker and who may approve', async () => {
  const made: [SecondPersonKind, id: string, amount: string | null][] = [
    ['payout', await makePayout(maker, '130'), '130.00'],
    ['payoutBatch', await makeBatch(maker, '90', '90'), '180.00'],
    ['payoutSchedule', await makeSchedule(maker, '140'), '140.00'],
    ['refund', await makeRefund(maker, await paidFor(gateway, api), '120'), '120.00'],
    ['recipient', await makeRecipient(maker), null],
  ];
  const page = async (by = checker) => (await by.get('/dashboard/test/approvals')).text();
  const shown = await page();
  for (const [kind, id, amount] of made) {
    const rows = shown.split('<tr').filter((row) => row.includes(`${LISTS[kind].pages}/${id}"`));
    expect([kind, rows.length]).toEqual([kind, 1]);
    if (amount !== null) expect(rows[0]).toContain(`>${amount}<`);
  }
  const home = await (await developer.get('/dashboard/test')).text();
  expect(home).toMatch(/<b>\d+<\/b>\s*items wait for two-person approval/);
  expect(await (await maker.get('/dashboard/live/approvals')).text()).toContain('Nothing waits');
  const other = await openMerchant(gateway, { mode: 'test' });
  const owner = await makeUser(gateway.db, 'merchant', 'owner', other.accountId);
  const stranger = await signedIn(gateway.baseUrl, owner);
  expect(await page(stranger)).toContain('Nothing waits');

  const [payout, batch, schedule, refund, recipient] = made.map(([, id]) => id);
  for (const id of [payout!, schedule!]) {
    expect((await approveAs(checker, id)).status).toBe(303);
  }
  await maker.post(`/dashboard/test/batches/${batch}/stop`);
  await maker.post(`/dashboard/test/refunds/${refund}/withdraw`);
  await maker.post(`/dashboard/test/recipients/${recipient}/delete`);
  await maker.post(`/dashboard/test/schedules/${schedule}/end`);
  const after = await page();
  for (const [, id] of made) expect(after).not.toContain(id);
});

const readRefund = async (id: string) => (await api.get(`/refunds/${id}`)).json.data;
const ordersOf = async (payment: string) => (await checkoutOf(gateway, payment)).refunds;
/** Afterwards the workflow has looked: it answers, or it had nothing left to do and ended. */
const look = (payment: string) =>
  gateway.temporal.workflow
    .getHandle(payment)
    .executeUpdate('verify')
    .catch(() => undefined);

test('a refund above the amount reserves its money, and the provider is asked after another owner approved', async () => {
  const payment = await paidFor(gateway, api);
  const below = await makeRefund(await enter('owner'), payment, '100');
  expect((await whenRefund(api, below, 'completed')).awaits_second_person).toBe(false);
  const id = await makeRefund(maker, payment, '100.5');
  expect(await readRefund(id)).toMatchObject({ status: 'pending', awaits_second_person: true });
  await look(payment);
  expect((await ordersOf(payment)).map((one) => one.refund_reference)).toEqual([below]);
  expect((await approveAs(checker, id)).status).toBe(303);
  await whenRefund(api, id, 'completed');
  expect((await ordersOf(payment)).map((one) => one.refund_reference)).toEqual([below, id]);
});

test('a refund is withdrawn, or its time ends: the money returns and the provider is not asked', async () => {
  const payment = await paidFor(gateway, api);
  const first = await makeRefund(maker, payment, '200');
  expect((await maker.post(`/dashboard/test/refunds/${first}/withdraw`)).status).toBe(303);
  expect(await readRefund(first)).toMatchObject({ status: 'failed', balance_debit: '0.00000000' });
  expect((await maker.post(`/dashboard/test/refunds/${first}/withdraw`)).status).toBe(409);
  expect((await approveAs(checker, first)).status).toBe(409);
  const late = await makeRefund(maker, payment, '300');
  const sql = 'UPDATE payment_refunds SET second_person_until = now() WHERE id = ?';
  await gateway.db.query(sql, [late]);
  await look(payment);
  expect((await whenRefund(api, late, 'failed')).failure_reason).toContain('in time');
  expect(await ordersOf(payment)).toEqual([]);
  expect((await api.get(`/payments/${payment}`)).json.data.net_amount).toBe('297.00000000');
});

test('the provider refunds by itself while a refund waits: that one gives way, and nobody is paid twice', async () => {
  const payment = await paidFor(gateway, api);
  const id = await makeRefund(maker, payment, '300');
  await atProvider(gateway, payment, 'refund');
  await whenPayment(api, payment, 'refunded');
  expect(await readRefund(id)).toMatchObject({ status: 'failed', awaits_second_person: false });
  expect((await approveAs(checker, id)).status).toBe(409);
  const made = (await ordersOf(payment)).map((one) => one.refund_reference);
  expect(made).toEqual([expect.not.stringContaining(id)]);
});

const pay = (recipient: string) =>
  api.createPayout({
    recipient,
    amount: '1',
    currency: 'USDT',
    reference: `to-${randomKey()}`.slice(0, 40),
  });

test('a recipient of a person is paid after another owner approved its present destination', async () => {
  const id = await makeRecipient(maker);
  const page = `/dashboard/test/recipients/${id}`;
  const read = async () => (await api.get(`/recipients/${id}`)).json.data;
  expect(await read()).toMatchObject({ awaits_second_person: true });
  expect((await pay(id)).json.error.code).toBe('recipient_not_ready');
  const version = await versionOn(checker, 'recipient', id);
  const other = { ...DESTINATION, name: 'Changed', value: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' };
  expect((await maker.post(`${page}/edit`, other)).status).toBe(303);
  expect((await approveAs(checker, id, version)).status).toBe(409);
  expect((await approveAs(checker, id, await versionOn(checker, 'recipient', id))).status).toBe(
    303,
  );
  expect(await read()).toMatchObject({ awaits_second_person: false });
  expect((await pay(id)).status).toBe(201);
  // A name is no destination; another destination waits again.
  await maker.post(`${page}/edit`, { ...other, name: 'Renamed' });
  expect(await read()).toMatchObject({ name: 'Renamed', awaits_second_person: false });
  await maker.post(`${page}/edit`, { ...other, value: DESTINATION.value });
  expect(await read()).toMatchObject({ awaits_second_person: true });
  expect((await pay(id)).json.error.code).toBe('recipient_not_ready');
});

test('a recipient of an API key does not wait for a second person', async () => {
  const { json } = await api.createRecipient(buildRecipient());
  expect(json.data).toMatchObject({ awaits_second_person: false });
  expect((await pay(json.data.id)).status).toBe(201);
});

test('an owner lowers the amount, and does not raise or remove it', async () => {
  const set = (above: string) => maker.post('/dashboard/test/second-person', { above });
  expect((await set('USDT=101')).status).toBe(409);
  expect((await set('')).status).toBe(409);
  expect((await set('USDT=100, BTC=1')).status).toBe(303);
});
