/** A person pays many recipients from a spreadsheet, without JavaScript. */
import { makeUser, type PageClient, signedIn } from '../../support/merchant/page-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);
const PATH = '/dashboard/test/batches';
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
let accountId: string;
let client: PageClient;

beforeAll(async () => {
  const merchant = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1000' } });
  ({ accountId } = merchant);
  const user = await makeUser(gateway.db, 'merchant', 'developer', accountId);
  client = await signedIn(gateway.baseUrl, user);
});

const HEAD = 'reference;amount;currency;destination;network';
const line = (reference: string, amount: string, destination = ADDRESS) =>
  `${reference};${amount};USDT;${destination};tron`;

async function send(path: string, form: Record<string, string>) {
  const response = await client.post(`${PATH}/${path}`, form);
  return { status: response.status, text: await response.text(), response };
}

const WORDS_OF_THE_API = /Send |Set |Omit |GET \/|details|decimal string|destination\./;

test('the faults of a table are shown at their rows, and the table is downloaded with them', async () => {
  const table = [
    HEAD,
    line('a-1', '10,50'),
    line('a-2', '0'),
    line('a-3', '5', 'TNoAddress'),
    line('a-4', '0,5'),
    line('a-5', '5').replace('tron', 'nowhere'),
    line('a-6', '5').replace('tron', ''),
    line('a-7', '5').replace('USDT', 'XYZ'),
    line('a-8', '60000'),
    line('a-1', '5'),
  ].join('\r\n');
  const form = { reference: 'faulty', description: '', table };
  const checked = await send('new', form);
  expect(checked.status).toBe(200);
  expect(checked.text).toContain('8 of 9 rows must be corrected. Nothing was reserved.');
  expect(checked.text).not.toContain('Reserve the funds and create');
  const { response, text } = await send('faults.csv', form);
  expect(response.headers.get('content-disposition')).toContain('batch-faults.csv');
  const [head, ...rows] = text.trimEnd().split('\r\n');
  expect(head).toMatch(/;what to correct$/);
  expect(rows).toEqual([
    expect.stringMatching(/^a-1;10,50;USDT;.*;$/),
    expect.stringMatching(/^a-2;0;USDT;.*Amount: write a number above zero .* such as 12\.50\./),
    expect.stringMatching(/^a-3;5;USDT;TNoAddress;tron;.*Destination: .*address/),
    expect.stringContaining('Amount: The minimum amount is 1.00000000 USDT.'),
    expect.stringMatching(/Network: .*Use one of: .*tron/),
    expect.stringMatching(/Network: write one of .*tron/),
    expect.stringContaining('Currency: XYZ is not supported for payouts.'),
    expect.stringContaining('Amount: the limit of one payout is'),
    expect.stringContaining('Reference: Row 1 has the same reference.'),
  ]);
  expect(text).not.toMatch(WORDS_OF_THE_API);
  // The file itself is corrected and checked again; what it says beside the rows is no part of them.
  const mended = [head, rows[0]].join('\r\n');
  const again = await send('new', { ...form, table: mended });
  expect(again.text).toContain('1 payout<');
  expect(again.text).toContain('Reserve the funds and create');
});

test('cells are corrected in place, and what was corrected is shown before it is created', async () => {
  const table = [HEAD, line('in-1', '0'), line('in-2', '5'), line('in-3', '5')].join('\r\n');
  const form = { reference: 'in-place', description: '', table };
  const faulty = await send('new', form);
  expect(faulty.text).toMatch(/name="cell-1-amount" value="0"/);
  expect(faulty.text).toContain('Row 2 has the same recipient and amount.');
  const cells = { 'cell-1-amount': '10,25', 'cell-1-reference': 'in-1' };
  const shown = await send('create', { ...form, ...cells });
  expect(shown.text).toContain('Reserve the funds and create');
  expect(shown.text).toContain('in-1;10,25;USDT');
  expect(shown.text).toContain('Who must approve');
});

test('a table that is no table is refused with a sentence', async () => {
  const { status, text } = await send('new', { reference: 'none', table: 'hello' });
  expect(status).toBe(422);
  expect(text).toContain('The table has no rows below its headings.');
});

test('a sound table is previewed, and created once by two clicks', async () => {
  const lines = Array.from({ length: 20 }, (_, n) => line(`pay-${n + 1}`, '2,25'));
  const table = [HEAD, ...lines].join('\r\n');
  const form = { reference: 'payroll', description: 'Payroll', table };
  const checked = await send('new', form);
  expect(checked.text).toContain('20 payouts');
  expect(checked.text).toContain('45.00000000');
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(checked.text) ?? [];
  const clicks = await Promise.all([1, 2].map(() => send('create', { ...form, key })));
  const [page, again] = clicks.map(({ response }) => response.headers.get('location'));
  expect(page).toBe(again);
  const path = page ?? '';
  expect(await (await client.get(path)).text()).toContain('Payroll');
  const proof = await (await client.get(`${path}/proof.csv`)).text();
  expect(proof.split('\r\n')).toHaveLength(22);
  expect(proof).toContain('pay-20,requested,USDT,2.25000000');
  expect(await (await client.get(PATH)).text()).toContain('payroll');
});

test('rows that need a person are first, and can be left out before the approval', async () => {
  await gateway.db.query('UPDATE accounts SET rehearse_review = true WHERE id = ?', [accountId]);
  const table = [HEAD, ...[1, 2, 3].map((n) => line(`left-${n}`, '3'))].join('\r\n');
  const form = { reference: 'left-out', description: '', table };
  const { response } = await send('create', form);
  const path = response.headers.get('location') ?? '';
  const page = await (await client.get(path)).text();
  expect(page).toMatch(/id="batch-progress" data-follow/);
  expect(page).toContain('Leave out row 3');
  const leave = (rowNumbers: string) =>
    client.post(`${path}/leave_out`, { row: '1', rows: rowNumbers });
  const refused = await leave('2, 3');
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringMatching(/value="2, 3"[^]*At least one row must remain/),
  ]);
  expect((await leave('3')).status).toBe(303);
  const after = await (await client.get(path)).text();
  expect(after).toMatch(/Left out<\/dt><dd[^>]*>2</);
  const proof = await (await client.get(`${path}/proof.csv`)).text();
  expect(proof).toContain('left-1,cancelled');
  expect(proof).toContain('left-2,under_review');
  await client.post(`${path}/stop`, {});
});
