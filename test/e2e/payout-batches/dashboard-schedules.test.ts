/** Schedules that people made on the dashboard, when their time comes: who approves them, and who may still pay. */
import { verifyLedger } from '../../../src/db/ledger/ledger-verify';
import { createMerchant, fund, type Merchant } from '../../support/merchant/merchant';
import { MerchantClient } from '../../support/merchant/merchant-client';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(useSharedGateway, isSound);
const PATH = '/dashboard/test/schedules';
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
let merchant: Merchant;
let api: MerchantClient;
let maker: PageClient;
let makerUser: TestUser;
let checker: PageClient;
let checkerUser: TestUser;
let viewer: PageClient;

async function enter(role: string, accountId: string): Promise<[PageClient, TestUser]> {
  const client = new PageClient(new URL(gateway.baseUrl).origin);
  const user = await makeUser(gateway.db, 'merchant', role, accountId);
  await client.signIn(user);
  return [client, user];
}

beforeAll(async () => {
  merchant = await createMerchant(gateway.db, gateway.pepper);
  await fund(gateway.db, merchant.accountId, 'test', 'USDT', '10000');
  api = new MerchantClient(gateway.baseUrl, merchant.testKey);
  [maker, makerUser] = await enter('finance', merchant.accountId);
  [checker, checkerUser] = await enter('owner', merchant.accountId);
  [viewer] = await enter('viewer', merchant.accountId);
  const { accountId } = merchant;
  const rule = JSON.stringify({ USDT: '100.00000000' });
  await gateway.db.query(
    `UPDATE accounts SET second_person_above = ?::jsonb, time_zone = 'Europe/Berlin' WHERE id = ?`,
    [rule, accountId],
  );
});

const tableOf = (...amounts: string[]) =>
  [
    'reference;amount;currency;destination;network',
    ...amounts.map((amount, index) => `row-${index + 1};${amount};USDT;${ADDRESS};tron`),
  ].join('\r\n');
const DAILY = { interval: '24', unit: 'hours' };

async function send(path: string, form: Record<string, string>, by = maker) {
  const response = await by.post(`${PATH}/${path}`, { table: tableOf('10,5'), ...form });
  return { status: response.status, text: await response.text(), response };
}

async function create(form: Record<string, string>): Promise<string> {
  const { response } = await send('create', form);
  return response.headers.get('location')?.split('/').at(-1) ?? '';
}

const show = async (id: string, by = maker) => (await by.get(`${PATH}/${id}`)).text();
const read = async (id: string) => (await api.get(`/payout_schedules/${id}`)).json.data;
const lastRun = (id: string, status: string) =>
  waitFor(`a run of ${id} to be ${status}`, async () => {
    const { last_run: run } = await read(id);
    return run?.status === status ? run : undefined;
  });

/** The shortest interval of the form is a minute. */
async function quicken(id: string): Promise<void> {
  await gateway.db.query('UPDATE payout_schedules SET interval_seconds = 5 WHERE id = ?', [id]);
  for (const verb of ['pause', 'resume']) await api.post(`/payout_schedules/${id}/${verb}`);
}

test('above the amount its runs pay nothing until another person approves it, and a batch does not ask again', async () => {
  const form = { reference: 'salaries', ...DAILY, table: tableOf('60', '60') };
  const checked = await send('new', form);
  expect(checked.text).toContain('Another person of your account');
  const id = await create(form);
  expect(await read(id)).toMatchObject({ awaits_second_person: true });
  await quicken(id);

  const failed = await lastRun(id, 'failed');
  expect(failed.failure.message).toContain('waits for a second person');
  expect((await api.get('/payouts?limit=1')).json.data).toEqual([]);
  expect(await show(id)).toContain('Waiting for two-person approval');
  expect(await show(id)).not.toContain(`second-person/${id}/approve`);
  const approve = (by: PageClient) =>
    by.post(`/dashboard/test/second-person/${id}/approve`, { version: '' });
  expect((await approve(maker)).status).toBe(409);
  expect((await approve(viewer)).status).toBe(403);
  expect(await read(id)).toMatchObject({ awaits_second_person: true });
  expect(await show(id, checker)).toContain(`second-person/${id}/approve`);
  expect((await approve(checker)).status).toBe(303);
  expect(await read(id)).toMatchObject({ awaits_second_person: false });

  const { batch_id: batchId } = await lastRun(id, 'created');
  await waitFor(`${batchId} to complete`, async () => {
    const { status } = (await api.get(`/payout_batches/${batchId}`)).json.data;
    return status === 'completed' ? true : undefined;
  });
  expect(await show(id)).toContain(`batches/${batchId}`);
  expect(await show(id)).toContain('waits for a second person, and nothing of this run was paid');

  // An approval counts as long as that person may approve.
  await gateway.db.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = ?`, [
    checkerUser.id,
  ]);
  expect(await read(id)).toMatchObject({ awaits_second_person: true });
  await lastRun(id, 'failed');
  await gateway.db.query(`UPDATE memberships SET role = 'owner' WHERE user_id = ?`, [
    checkerUser.id,
  ]);
  // What the second person approved does not count against the person who made it.
  await maker.post(`${PATH}/${id}/end`);
  expect((await verifyLedger(gateway.db)).filter((one) => one.broken > 0)).toEqual([]);
});

test('an operator reads the schedules of an account: rows, next run, state and last result', async () => {
  const id = await create({ reference: 'seen', ...DAILY });
  await quicken(id);
  const { batch_id: batchId } = await lastRun(id, 'created');
  await api.post(`/payout_schedules/${id}/pause`);
  const { accountId } = merchant;
  const user = await makeUser(gateway.db, 'operator', 'viewer');
  const operator = new PageClient(new URL(gateway.baseUrl).origin);
  await operator.signIn(user);
  const page = (account: string, mode: string) =>
    operator.read(`/console/accounts/${account}/schedules?mode=${mode}`);
  const shown = await page(accountId, 'test');
  for (const text of [id, 'seen', ADDRESS, 'Every 5 seconds', 'Paused', `batches/${batchId}`]) {
    expect(shown).toContain(text);
  }
  expect(await page(accountId, 'live')).toContain('No schedules');
  const other = await createMerchant(gateway.db, gateway.pepper);
  expect(await page(other.accountId, 'test')).toContain('No schedules');
  await api.post(`/payout_schedules/${id}/end`);
});

test('the runs of a person who may no longer pay fail with that reason', async () => {
  const id = await create({ reference: 'left', ...DAILY });
  await quicken(id);
  await lastRun(id, 'created');
  await gateway.db.query(`UPDATE memberships SET role = 'support' WHERE user_id = ?`, [
    makerUser.id,
  ]);
  const { failure } = await lastRun(id, 'failed');
  expect(failure).toMatchObject({
    code: 'insufficient_scope',
    message: expect.stringContaining('may no longer make payouts'),
  });
  await api.post(`/payout_schedules/${id}/end`);
});
