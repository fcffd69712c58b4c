/** A person keeps recipients and the rules of keys on the dashboard, without JavaScript; an operator reads them. */
import { buildPayout, type MerchantClient } from '../../support/merchant/merchant-client';
import { makeUser, type PageClient, signedIn } from '../../support/merchant/page-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const FORM = {
  name: 'Ada Lovelace',
  currency: 'USDT',
  type: 'crypto_address',
  value: ADDRESS,
  network: 'tron',
  tags: 'payroll, london',
};
let accountId: string;
let api: MerchantClient;
let client: PageClient;

beforeAll(async () => {
  const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1000' } });
  ({ accountId, client: api } = merchant);
  const user = await makeUser(gateway.db, 'merchant', 'owner', accountId);
  client = await signedIn(gateway.baseUrl, user);
});

async function send(path: string, form: Record<string, string>, mode = 'test') {
  const response = await client.post(`/dashboard/${mode}/${path}`, form);
  const location = response.headers.get('location') ?? '';
  return { status: response.status, location, text: await response.text() };
}
const read = (path: string) => client.read(path);

test('a recipient is added once by two clicks, changed, paid and deleted', async () => {
  const key = 'dashboard-req_01M897YEP5MGA679C0FVGFQSYX';
  const clicks = await Promise.all([1, 2].map(() => send('recipients/new', { ...FORM, key })));
  const [path, again] = clicks.map(({ location }) => location);
  expect(path).toMatch(/^\/dashboard\/test\/recipients\/rcp_/);
  expect(again).toBe(path);
  const id = path!.split('/').at(-1)!;
  expect(await read(path!)).toContain('payroll, london');
  expect(await read('/dashboard/test/recipients?name=lovelace')).toContain(id);
  expect(await read('/dashboard/test/recipients?tag=paris')).not.toContain(id);

  const change = { ...FORM, name: 'Ada King', tags: '' };
  expect((await send(`recipients/${id}/edit`, change)).location).toBe(path);
  expect(await read(path!)).toContain('Ada King');

  const form = await read(`/dashboard/test/payouts/new?recipient=${id}`);
  expect(form).toContain(ADDRESS);
  const payout = { recipient: id, amount: '10', currency: 'USDT', reference: 'to-ada' };
  const sent = await send('payouts/new', payout);
  expect(sent.location).toMatch(/^\/dashboard\/test\/payouts\/po_/);
  expect(await read(sent.location)).toContain(id);
  expect(await read(path!)).toContain('to-ada');

  await send(`recipients/${id}/delete`, {});
  const refused = await send('payouts/new', { ...payout, reference: 'late' });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('does not exist')]);
  const audit = await gateway.db.query<{ action: string; via: string }>(
    'SELECT action, via FROM audit_log WHERE object_id = ? ORDER BY id',
    [id],
  );
  expect(audit).toEqual(
    ['create', 'edit', 'delete'].map((verb) => ({ action: `recipient.${verb}`, via: 'dashboard' })),
  );
});

test('a fault of the form is shown at its field, and nothing is lost', async () => {
  const { status, text } = await send('recipients/new', { ...FORM, value: 'TNoAddress' });
  expect(status).toBe(422);
  expect(text).toContain('Ada Lovelace');
  expect(text).toContain('aria-invalid="true"');
});

test('a table is imported as a whole, and a table that is sent twice adds nothing twice', async () => {
  const table = ['name;currency;destination;network;tags', `Bob;USDT;${ADDRESS};tron;import`];
  const faulty = [...table, 'Eve;USDT;TNoAddress;tron;import', 'Mallory;XYZ;T1;tron;import'];
  const key = 'dashboard-req_01M897YEP5MGA679C0FVGFQSYY';
  const refused = await send('recipients/import', { key, table: faulty.join('\n') });
  expect([refused.status, refused.text]).toEqual([
    422,
    expect.stringContaining('2 rows must be corrected. Nothing was added.'),
  ]);
  expect((await api.get('/recipients?tag=import')).json.data).toEqual([]);
  table.push(`Carol;USDT;${ADDRESS};tron;"import, other"`);
  for (let time = 0; time < 2; time += 1) {
    const sent = await send('recipients/import', { key, table: table.join('\n') });
    expect(sent.location).toBe('/dashboard/test/recipients');
  }
  expect((await api.get('/recipients?tag=import')).json.data).toMatchObject([
    { name: 'Carol', tags: ['import', 'other'] },
    { name: 'Bob' },
  ]);
});

test('a row of a batch table names a recipient', async () => {
  const { location } = await send('recipients/new', { ...FORM, key: '' });
  const id = location.split('/').at(-1)!;
  const table = `reference;amount;currency;recipient\nrow-1;2;USDT;${id}`;
  const checked = await send('batches/new', { reference: 'to-recipients', table });
  expect(checked.text).toContain('1 payout');
  expect(checked.text).toContain('Reserve the funds and create');
});

test('the account’s rules are changed by an owner after a recent sign-in', async () => {
  const stale = `UPDATE sessions SET authenticated_at = now() - interval '1 hour' WHERE account_id = ?`;
  const form = { waitHours: '48', payTo: 'recipients' };
  await gateway.db.query(stale, [accountId]);
  const again = await send('recipients/rules', form, 'live');
  expect(again.location).toContain('confirm');
  await gateway.db.query(`UPDATE sessions SET authenticated_at = now() WHERE account_id = ?`, [
    accountId,
  ]);
  expect((await send('recipients/rules', form, 'live')).location).toBe(
    '/dashboard/live/recipients',
  );
  expect(await read('/dashboard/live/recipients')).toContain('48 hours');
  const wrong = await send('recipients/rules', { ...form, waitHours: '999' }, 'live');
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('out of range')]);
});

test('the rules of a key are set on its page, and hold from the next request on', async () => {
  const [key] = await gateway.db.query<{ id: string }>(
    `SELECT id FROM api_keys WHERE account_id = ? AND mode = 'test'`,
    [accountId],
  );
  const path = `keys/${key!.id}/limits`;
  const faulty = await send(path, { payTo: 'anywhere', payoutMax: 'USDT', currencies: '' });
  expect([faulty.status, faulty.text]).toEqual([
    422,
    expect.stringContaining('USDT is not a limit.'),
  ]);
  const rules = {
    payTo: 'anywhere',
    payoutMax: 'USDT=5',
    dailyMax: 'USDT=7.5',
    currencies: 'USDT',
  };
  expect((await send(path, rules)).location).toBe(`/dashboard/test/keys/${key!.id}`);
  expect(await read(`/dashboard/test/keys/${key!.id}`)).toContain('7.50000000 USDT');
  expect(await read(`/dashboard/test/${path}`)).toContain('name="payoutMax.amount" value="5.00"');
  const refused = await api.createPayout(buildPayout({ amount: '6' }));
  expect(refused.json.error.details).toMatchObject({ limit: 'key_per_transaction' });
  await send(path, { payTo: 'anywhere' });
  expect((await api.createPayout(buildPayout({ amount: '6' }))).status).toBe(201);
});

test('an operator reads the recipients of an account', async () => {
  const viewer = await makeUser(gateway.db, 'operator', 'viewer');
  const operator = await signedIn(gateway.baseUrl, viewer);
  const path = `/console/accounts/${accountId}/recipients`;
  const page = await (await operator.get(`${path}?mode=test`)).text();
  expect(page).toContain(ADDRESS);
  expect(await (await operator.get(path)).text()).toContain('48 hours');
});
