/** A person makes a schedule on the dashboard: what is checked, what is refused, and who may. */
import { createMerchant, fund, type Merchant } from '../../support/merchant/merchant';
import { MerchantClient } from '../../support/merchant/merchant-client';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);
const PATH = '/dashboard/test/schedules';
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
let merchant: Merchant;
let api: MerchantClient;
let maker: PageClient;
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
  [maker] = await enter('finance', merchant.accountId);
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

test('a table is checked with its next runs in the time zone of the account, and made once by two clicks', async () => {
  const form = {
    reference: 'rent',
    cron: '0 9 1 * *',
    time_zone: 'Europe/Berlin',
    end: '2099-06-01T00:00',
  };
  const checked = await send('new', form);
  expect(checked.status).toBe(200);
  expect(checked.text).toContain('1 payout at each time');
  const times = checked.text.match(/\d{4}-\d\d-01 09:00:00 <span class="muted">UTC\+0[12]:00/g);
  expect(times).toHaveLength(5);
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(checked.text) ?? [];
  const clicks = await Promise.all([1, 2].map(() => send('create', { ...form, key })));
  const [location, again] = clicks.map(({ response }) => response.headers.get('location'));
  expect(location).toBe(again);
  const id = location?.split('/').at(-1) ?? '';
  expect(await read(id)).toMatchObject({
    reference: 'rent',
    cron: '0 9 1 * *',
    time_zone: 'Europe/Berlin',
    end_at: '2099-05-31T22:00:00.000Z',
    awaits_second_person: false,
  });
  expect(await show(id)).toContain(ADDRESS);
  expect(await (await maker.get(PATH)).text()).toContain('rent');
  await api.post(`/payout_schedules/${id}/end`);
});

test('faults are shown at their fields and rows, and nothing is lost', async () => {
  const faulty = await send('new', {
    reference: 'no good',
    cron: '0 9 1 * MON',
    interval: 'often',
    end: '2020-01-01T00:00',
  });
  expect(faulty.status).toBe(422);
  expect(faulty.text).toMatch(/value="often"[^]*field-interval-error/);
  expect(faulty.text).toContain('field-reference-error');
  expect(faulty.text).toContain('field-cron-error');
  expect(faulty.text).toContain('row-1;10,5;USDT');
  const past = await send('new', { reference: 'past', ...DAILY, end: '2020-01-01T00:00' });
  expect(past.text).toMatch(/field-end-error[^]*Send end_at after the first time/);
  const rows = await send('new', { reference: 'rows', ...DAILY, table: tableOf('10', '0') });
  expect(rows.text).toContain('1 of 2 rows must be corrected.');
  expect(rows.text).not.toContain('Create the schedule</button>');
});

test('a viewer and a developer in live mode cannot make or change one, and another account sees none', async () => {
  const id = await create({ reference: 'roles', ...DAILY });
  expect(await show(id, viewer)).not.toContain(`${id}/pause`);
  expect((await viewer.post(`${PATH}/${id}/pause`)).status).toBe(403);
  expect((await send('create', { reference: 'viewer', ...DAILY }, viewer)).status).toBe(403);
  const [developer] = await enter('developer', merchant.accountId);
  expect((await developer.post('/dashboard/live/schedules/create')).status).toBe(403);
  const other = await createMerchant(gateway.db, gateway.pepper);
  const [stranger] = await enter('owner', other.accountId);
  expect((await stranger.get(`${PATH}/${id}`)).status).toBe(404);
  expect((await stranger.post(`${PATH}/${id}/end`)).status).toBe(404);
  expect((await maker.get(`/dashboard/live/schedules/${id}`)).status).toBe(404);
  expect((await maker.post(`${PATH}/${id}/pause`)).status).toBe(303);
  expect((await read(id)).status).toBe('paused');
  expect(await show(id)).toContain('None while it is paused.');
  expect((await maker.post(`${PATH}/${id}/resume`)).status).toBe(303);
  expect((await maker.post(`${PATH}/${id}/end`)).status).toBe(303);
  expect((await read(id)).status).toBe('ended');
});
