/** What a person makes above the account's amount waits for another owner, and for nobody else. */
import type { MerchantRole } from '../../src/domain/users';
import {
  buildPayout,
  buildRecipient,
  type MerchantClient,
} from '../support/merchant/merchant-client';
import { makeUser, type PageClient, signedIn } from '../support/merchant/page-client';
import {
  atProvider,
  checkoutOf,
  openedPayment,
  whenDetails,
  whenPayment,
  whenRefund,
} from '../support/payment/payment-steps';
import { openMerchant } from '../support/payout/payout-steps';
import { isSound, useSharedGateway } from '../support/servers/gateway';
import { started } from '../support/started';
import { waitFor } from '../support/wait-for';

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

const FORM = {
  currency: 'USDT',
  type: 'crypto_address',
  value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  network: 'tron',
};
let count = 0;

async function request(amount: string): Promise<string> {
  const reference = `second-${(count += 1)}`;
  const sent = await maker.post('/dashboard/test/payouts/new', { ...FORM, amount, reference });
  return sent.headers.get('location')!.split('/').at(-1)!;
}
const approve = (by: PageClient, id: string, version = '') =>
  by.post(`/dashboard/test/second-person/${id}/approve`, { version });
const read = async (id: string) => (await api.get(`/payouts/${id}`)).json.data;
const final = (id: string) =>
  waitFor(`${id} to end`, async () => {
    const payout = await read(id);
    return ['completed', 'cancelled'].includes(payout.status) ? payout : undefined;
  });

test('above the amount it waits, its maker and a developer do not release it, another owner does', async () => {
  const id = await request('100.00000001');
  expect((await read(id)).release.conditions).toEqual([{ type: 'second_person', met_at: null }]);
  const page = `/dashboard/test/payouts/${id}`;
  expect(await (await maker.get(page)).text()).toContain('Waiting for a second person');
  expect(await (await maker.get(page)).text()).not.toContain(`${id}/approve`);
  expect(await (await checker.get(page)).text()).toContain(`${id}/approve`);
  expect((await approve(maker, id)).status).toBe(409);
  expect((await approve(developer, id)).status).toBe(403);
  await gateway.temporal.workflow.getHandle(id).signal('approve', { by: 'olivia' });
  await gateway.db.query(
    `INSERT INTO person_approvals (object_id, user_id) SELECT ?, user_id FROM memberships
      WHERE account_id = ? AND role <> 'owner'`,
    [id, accountId],
  );
  await gateway.temporal.workflow.getHandle(id).executeUpdate('release');
  expect((await read(id)).release.conditions).toEqual([{ type: 'second_person', met_at: null }]);
  expect((await approve(checker, id)).status).toBe(303);
  expect(await final(id)).toMatchObject({ status: 'completed' });
});

test('at the amount, and from an API key, it does not wait', async () => {
  expect((await read(await request('100'))).release).toBeUndefined();
  const { json } = await api.createPayout(buildPayout({ amount: '101' }));
  expect(json.data.release).toBeUndefined();
});

test('a cancelled one returns its funds, and its time ends after seven days', async () => {
  const before = (await api.get('/balance')).json.balances;
  const id = await request('200');
  const { created_at: created, release } = await read(id);
  expect(Date.parse(release.expires_at) - Date.parse(created)).toBe(7 * 24 * 3_600_000);
  await checker.post(`/dashboard/test/payouts/${id}/cancel`, {});
  expect((await final(id)).status).toBe('cancelled');
  expect((await approve(checker, id)).status).toBe(409);
  const usdt = (all: { currency: string; available: string }[]) =>
    all.find(({ currency }) => currency === 'USDT')!.available;
  expect(usdt((await api.get('/balance')).json.balances)).toBe(usdt(before));
});

test('an approval and a cancel at the same moment: one of them wins', async () => {
  const id = await request('150');
  await Promise.all([approve(checker, id), maker.post(`/dashboard/test/payouts/${id}/cancel`, {})]);
  const { status, release } = await final(id);
  expect(status === 'completed').toBe(release.released_at !== null);
});

/** The version that the approver's page shows. */
const versionOn = async (page: string) =>
  /name="version" value="([^"]*)"/.exec(await (await checker.get(page)).text())![1]!;

async function requestBatch(amount: string): Promise<string> {
  const reference = `split-${(count += 1)}`;
  const row = (n: number) => `${reference}-${n};${amount};USDT;${FORM.value};tron`;
  const table = ['reference;amount;currency;destination;network', row(1), row(2)].join('\n');
  const sent = await maker.post('/dashboard/test/batches/create', { reference, table });
  expect(sent.status).toBe(303);
  return sent.headers.get('location')!.split('/').at(-1)!;
}
const readBatch = async (id: string) => (await api.get(`/payout_batches/${id}`)).json.data;
const whenBatch = (id: string, status: string) =>
  waitFor(`${id} to be ${status}`, async () => {
    const batch = await readBatch(id);
    return batch.status === status ? batch : undefined;
  });

test('the rows of a batch count together: it waits for another owner, who approves what the page shows', async () => {
  const id = await requestBatch('60');
  expect(await readBatch(id)).toMatchObject({ status: 'requested', awaits_second_person: true });
  const page = `/dashboard/test/batches/${id}`;
  expect(await (await maker.get(page)).text()).toContain('Waiting for a second person');
  expect(await (await maker.get(page)).text()).not.toContain(`${id}/approve`);
  const version = await versionOn(page);
  expect((await approve(maker, id, version)).status).toBe(409);
  expect((await approve(developer, id, version)).status).toBe(403);
  expect((await approve(checker, id, 'f'.repeat(64))).status).toBe(409);
  // Neither the signal of an operator nor a row of somebody else replaces the person.
  const handle = gateway.temporal.workflow.getHandle(id);
  await gateway.db.query(
    `INSERT INTO person_approvals (object_id, version, user_id)
     SELECT ?, ?, user_id FROM memberships WHERE account_id = ? AND role <> 'owner'`,
    [id, version, accountId],
  );
  await handle.signal('approve', { by: 'olivia', manifest: version });
  await whenDetails(gateway, id, /another person of the merchant must approve/);
  expect(await readBatch(id)).toMatchObject({ status: 'requested', awaits_second_person: true });
  expect((await approve(checker, id, version)).status).toBe(303);
  expect(await whenBatch(id, 'completed')).toMatchObject({ awaits_second_person: false });
  // Its rows have no conditions of their own, and below the amount nobody is asked.
  const below = await requestBatch('50');
  expect(await readBatch(below)).toMatchObject({ awaits_second_person: false });
  await whenBatch(below, 'completed');
});

test('an approval does not count for the rows that remain when others are left out', async () => {
  const id = await requestBatch('150');
  const page = `/dashboard/test/batches/${id}`;
  const version = await versionOn(page);
  const leave = await maker.post(`${page}/leave_out`, { row: '1' });
  expect(leave.status).toBe(303);
  expect((await approve(checker, id, version)).status).toBe(409);
  const now = await versionOn(page);
  expect(now).not.toBe(version);
  expect((await approve(checker, id, now)).status).toBe(303);
  await whenBatch(id, 'completed');
});

test('a batch that nobody approves in time is stopped, and an approval and a stop have one winner', async () => {
  const late = await requestBatch('80');
  const sql = `UPDATE payout_batches SET second_person_until = now() WHERE id = ?`;
  await gateway.db.query(sql, [late]);
  await gateway.temporal.workflow.getHandle(late).signal('wake');
  expect(await whenBatch(late, 'stopped')).toMatchObject({ rows: { returned: 2 } });
  const page = await (await maker.get(`/dashboard/test/batches/${late}`)).text();
  expect(page).toContain('No second person approved the batch in time.');

  const id = await requestBatch('70');
  const version = await versionOn(`/dashboard/test/batches/${id}`);
  await Promise.all([
    approve(checker, id, version),
    maker.post(`/dashboard/test/batches/${id}/stop`),
  ]);
  const { rows: seen }: { rows: Record<'sent' | 'returned', number> } = await waitFor(
    `${id} to end`,
    async () => {
      const batch = await readBatch(id);
      return batch.closed_at === null ? undefined : batch;
    },
  );
  expect(seen.sent + seen.returned).toBe(2);
});

test('one page lists everything that waits, with its amount, its maker and who may approve', async () => {
  const payout = await request('130');
  const batch = await requestBatch('90');
  const table = `reference;amount;currency;destination;network\nrent;140;USDT;${FORM.value};tron`;
  const schedule = await maker.post('/dashboard/test/schedules/create', {
    ...{ reference: 'rent', cron: '0 9 1 1 *', time_zone: 'UTC', table },
  });
  const scheduleId = schedule.headers.get('location')!.split('/').at(-1)!;
  const recipient = await maker.post('/dashboard/test/recipients/new', {
    ...FORM,
    name: 'Landlord',
  });
  const recipientId = recipient.headers.get('location')!.split('/').at(-1)!;
  const page = async (by = checker) => (await by.get('/dashboard/test/approvals')).text();
  const shown = await page();
  for (const path of [
    `payouts/${payout}`,
    `batches/${batch}`,
    `schedules/${scheduleId}`,
    `recipients/${recipientId}`,
  ]) {
    expect(shown).toContain(`/dashboard/test/${path}"`);
  }
  expect(shown).toMatch(/>130\.00<[^]*>180\.00<[^]*>140\.00</);
  const home = await (await developer.get('/dashboard/test')).text();
  expect(home).toMatch(/<b>\d+<\/b>\s*objects wait for a second person/);
  expect(await (await maker.get('/dashboard/live/approvals')).text()).toContain('Nothing waits');
  const other = await openMerchant(gateway, { mode: 'test' });
  const owner = await makeUser(gateway.db, 'merchant', 'owner', other.accountId);
  const stranger = await signedIn(gateway.baseUrl, owner);
  expect(await page(stranger)).toContain('Nothing waits');

  for (const id of [payout, scheduleId]) expect((await approve(checker, id)).status).toBe(303);
  await maker.post(`/dashboard/test/batches/${batch}/stop`);
  await maker.post(`/dashboard/test/schedules/${scheduleId}/end`);
  await maker.post(`/dashboard/test/recipients/${recipientId}/delete`);
  const after = await page();
  for (const id of [payout, batch, scheduleId, recipientId]) expect(after).not.toContain(id);
});

async function paid(): Promise<string> {
  const id = await openedPayment(api, { amount: '300' });
  await atProvider(gateway, id, 'pay');
  await whenPayment(api, id, 'completed');
  return id;
}

async function requestRefund(payment: string, amount: string): Promise<string> {
  const reference = `back-${(count += 1)}`;
  const form = { amount, reference, step: 'send' };
  const sent = await maker.post(`/dashboard/test/payments/${payment}/refund`, form);
  expect(sent.status).toBe(303);
  return sent.headers.get('location')!.split('/').at(-1)!;
}
const readRefund = async (id: string) => (await api.get(`/refunds/${id}`)).json.data;
const ordersOf = async (payment: string) => (await checkoutOf(gateway, payment)).refunds;
/** Afterwards the workflow has looked: it answers, or it had nothing left to do and ended. */
const look = (payment: string) =>
  gateway.temporal.workflow
    .getHandle(payment)
    .executeUpdate('verify')
    .catch(() => undefined);

test('a refund above the amount reserves its money, and the provider is asked after another owner approved', async () => {
  const payment = await paid();
  const below = await requestRefund(payment, '100');
  expect((await whenRefund(api, below, 'completed')).awaits_second_person).toBe(false);
  const id = await requestRefund(payment, '100.5');
  expect(await readRefund(id)).toMatchObject({ status: 'pending', awaits_second_person: true });
  const page = `/dashboard/test/refunds/${id}`;
  expect(await (await maker.get(page)).text()).toContain('Waiting for a second person');
  expect((await approve(maker, id)).status).toBe(409);
  expect((await approve(developer, id)).status).toBe(403);
  await gateway.db.query(
    `INSERT INTO person_approvals (object_id, user_id) SELECT ?, user_id FROM memberships
      WHERE account_id = ? AND role <> 'owner'`,
    [id, accountId],
  );
  await look(payment);
  expect((await ordersOf(payment)).map((one) => one.refund_reference)).toEqual([below]);
  expect((await approve(checker, id)).status).toBe(303);
  await whenRefund(api, id, 'completed');
  expect((await ordersOf(payment)).map((one) => one.refund_reference)).toEqual([below, id]);
  expect((await approve(checker, id)).status).toBe(409);
});

test('a refund is withdrawn, or its time ends: the money returns and the provider is not asked', async () => {
  const payment = await paid();
  const first = await requestRefund(payment, '200');
  expect((await maker.post(`/dashboard/test/refunds/${first}/withdraw`)).status).toBe(303);
  expect(await readRefund(first)).toMatchObject({ status: 'failed', balance_debit: '0.00000000' });
  expect((await maker.post(`/dashboard/test/refunds/${first}/withdraw`)).status).toBe(409);
  expect((await approve(checker, first)).status).toBe(409);
  const late = await requestRefund(payment, '300');
  const sql = 'UPDATE payment_refunds SET second_person_until = now() WHERE id = ?';
  await gateway.db.query(sql, [late]);
  await look(payment);
  expect((await whenRefund(api, late, 'failed')).failure_reason).toContain('in time');
  expect(await ordersOf(payment)).toEqual([]);
  expect((await api.get(`/payments/${payment}`)).json.data.net_amount).toBe('297.00000000');
});

test('an approval and a withdrawal of a refund at the same moment: one of them wins', async () => {
  const payment = await paid();
  const id = await requestRefund(payment, '150');
  await Promise.all([approve(checker, id), maker.post(`/dashboard/test/refunds/${id}/withdraw`)]);
  const refund = await waitFor(`${id} to end`, async () => {
    const seen = await readRefund(id);
    return seen.status === 'pending' ? undefined : seen;
  });
  expect((await ordersOf(payment)).length).toBe(refund.status === 'completed' ? 1 : 0);
});

test('the provider refunds by itself while a refund waits: that one gives way, and nobody is paid twice', async () => {
  const payment = await paid();
  const id = await requestRefund(payment, '300');
  await atProvider(gateway, payment, 'refund');
  await whenPayment(api, payment, 'refunded');
  expect(await readRefund(id)).toMatchObject({ status: 'failed', awaits_second_person: false });
  expect((await approve(checker, id)).status).toBe(409);
  const made = (await ordersOf(payment)).map((one) => one.refund_reference);
  expect(made).toEqual([expect.not.stringContaining(id)]);
});

async function addRecipient(by: PageClient, currency = 'USDT'): Promise<string> {
  const form = { ...FORM, currency, name: `R ${(count += 1)}` };
  const sent = await by.post('/dashboard/test/recipients/new', form);
  expect(sent.status).toBe(303);
  return sent.headers.get('location')!.split('/').at(-1)!;
}
const pay = (recipient: string) =>
  api.createPayout({ recipient, amount: '1', currency: 'USDT', reference: `to-${(count += 1)}` });

test('a recipient of a person is paid after another owner approved its present destination', async () => {
  const id = await addRecipient(maker);
  const page = `/dashboard/test/recipients/${id}`;
  const read = async () => (await api.get(`/recipients/${id}`)).json.data;
  expect(await read()).toMatchObject({ awaits_second_person: true });
  expect((await pay(id)).json.error.code).toBe('recipient_not_ready');
  const version = await versionOn(page);
  expect((await approve(maker, id, version)).status).toBe(409);
  const other = { ...FORM, name: 'Changed', value: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' };
  expect((await maker.post(`${page}/edit`, other)).status).toBe(303);
  expect((await approve(checker, id, version)).status).toBe(409);
  expect((await approve(checker, id, await versionOn(page))).status).toBe(303);
  expect(await read()).toMatchObject({ awaits_second_person: false });
  expect((await pay(id)).status).toBe(201);
  // A name is no destination; another destination waits again.
  await maker.post(`${page}/edit`, { ...other, name: 'Renamed' });
  expect(await read()).toMatchObject({ name: 'Renamed', awaits_second_person: false });
  await maker.post(`${page}/edit`, { ...other, value: FORM.value });
  expect(await read()).toMatchObject({ awaits_second_person: true });
  expect((await pay(id)).json.error.code).toBe('recipient_not_ready');
});

test('a recipient of an API key does not wait for a second person', async () => {
  const { json } = await api.createRecipient(buildRecipient());
  expect(json.data).toMatchObject({ awaits_second_person: false });
  expect((await pay(json.data.id)).status).toBe(201);
});

test('a person of finance makes and approves; one of support does neither', async () => {
  const [finance, support] = [await enter('finance'), await enter('support')];
  const form = { ...FORM, amount: '120', reference: `finance-${(count += 1)}` };
  const sent = await finance.post('/dashboard/test/payouts/new', form);
  const id = sent.headers.get('location')!.split('/').at(-1)!;
  expect((await approve(finance, id)).status).toBe(409);
  expect((await approve(support, id)).status).toBe(403);
  expect((await support.post('/dashboard/test/payouts/new', form)).status).toBe(403);
  const page = await (await support.get(`/dashboard/test/payouts/${id}`)).text();
  expect(page).toContain('Waiting for a second person');
  expect(page).not.toContain(`${id}/approve`);
  expect((await approve(maker, id)).status).toBe(303);
  expect((await final(id)).status).toBe('completed');
  const other = await request('130');
  expect((await approve(finance, other)).status).toBe(303);
  expect((await final(other)).status).toBe('completed');
});

test('an owner lowers the amount, and does not raise or remove it', async () => {
  const set = (above: string) => maker.post('/dashboard/test/second-person', { above });
  expect((await set('USDT=101')).status).toBe(409);
  expect((await set('')).status).toBe(409);
  expect((await set('USDT=100, BTC=1')).status).toBe(303);
});
