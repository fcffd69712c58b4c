/** A payout of a person above the account's amount waits for another owner, and for nobody else. */
import { createMerchant, fund, type Merchant } from '../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../support/merchant/merchant-client';
import { makeUser, PageClient } from '../support/merchant/page-client';
import { isSound, useSharedGateway } from '../support/servers/gateway';
import { started } from '../support/started';
import { waitFor } from '../support/wait-for';

const gateway = started(useSharedGateway, isSound);
let merchant: Merchant;
let api: MerchantClient;
let maker: PageClient;
let checker: PageClient;
let developer: PageClient;

beforeAll(async () => {
  merchant = await createMerchant(gateway.db, gateway.pepper);
  await fund(gateway.db, merchant.accountId, 'test', 'USDT', '10000');
  api = new MerchantClient(gateway.baseUrl, merchant.testKey);
  const enter = async (role: 'owner' | 'developer') => {
    const client = new PageClient(new URL(gateway.baseUrl).origin);
    await client.signIn(await makeUser(gateway.db, 'merchant', role, merchant.accountId));
    return client;
  };
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
const approve = (by: PageClient, id: string) =>
  by.post(`/dashboard/test/payouts/${id}/second_approve`, {});
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
  expect(await (await maker.get(page)).text()).not.toContain('second_approve');
  expect(await (await checker.get(page)).text()).toContain('second_approve');
  expect((await approve(maker, id)).status).toBe(409);
  expect((await approve(developer, id)).status).toBe(403);
  await gateway.temporal.workflow.getHandle(id).signal('approve', { by: 'olivia' });
  await gateway.db.query(
    `INSERT INTO payout_person_approvals SELECT ?, user_id FROM memberships
      WHERE account_id = ? AND role <> 'owner'`,
    [id, merchant.accountId],
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

test('the rows of a table are not more together than one person may request', async () => {
  const row = (n: number) => `split-${n};60;USDT;${FORM.value};tron`;
  const table = ['reference;amount;currency;destination;network', row(1), row(2)].join('\n');
  const checked = await maker.post('/dashboard/test/batches/new', { reference: 'split', table });
  expect(await checked.text()).toContain('need a second person');
});

test('an owner lowers the amount, and does not raise or remove it', async () => {
  const set = (above: string) => maker.post('/dashboard/test/second-person', { above });
  expect((await set('USDT=101')).status).toBe(409);
  expect((await set('')).status).toBe(409);
  expect((await set('USDT=100, BTC=1')).status).toBe(303);
});
