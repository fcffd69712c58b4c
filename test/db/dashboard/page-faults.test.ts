/** What a visitor sends to the pages never makes a fault of ours: no 5xx, and no error line. */
import { connect } from 'node:net';
import { makeUser, PageClient } from '../../support/merchant/page-client';
import { startHarness } from '../http-harness';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let merchant: PageClient;
let operator: PageClient;

beforeAll(async () => {
  const accountId = await harness.createAccount();
  merchant = new PageClient(gateway.url);
  operator = new PageClient(gateway.url);
  await merchant.signIn(await makeUser(harness.owner, 'merchant', 'owner', accountId));
  await operator.signIn(await makeUser(harness.owner, 'operator', 'admin'));
});

const faults = () => gateway.log.filter(({ level }) => Number(level) >= 50);

const FORM = 'email=nobody%40example.com&password=wrong';

test.each([
  ['broken off', FORM.slice(0, 6), 100],
  ['whole', FORM, 0],
])('the form of a visitor who has left is no fault of ours: %s', async (_, form, afterMs) => {
  const before = gateway.log.length;
  for (let i = 0; i < 5; i++) {
    const socket = connect(gateway.port, '127.0.0.1', () => {
      socket.write(
        'POST /dashboard/sign-in HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\n' +
          // A cookie makes the gateway ask the database before it reads the form.
          'Cookie: __Host-gateway_dashboard=of-an-earlier-session\r\n' +
          'Content-Type: application/x-www-form-urlencoded\r\n' +
          `Content-Length: ${FORM.length}\r\n\r\n`,
      );
      socket.write(form, () =>
        afterMs === 0
          ? socket.resetAndDestroy()
          : setTimeout(() => socket.resetAndDestroy(), afterMs),
      );
    });
  }
  const lines = await waitFor('the lines of the requests', () => {
    const own = gateway.log.slice(before).filter(({ msg }) => msg === 'request');
    return own.length < 5 ? undefined : own;
  });
  expect(lines.filter(({ status }) => status !== 400)).toEqual([]);
  expect(faults()).toEqual([]);
});

const NO_TIMES = [
  ...['from=2026-02-30', 'to=2026-02-31', 'from=0000-01-01', 'from=9999-99-99'],
  'after=2026-99-99T00:00:00.000000Z~x',
  'after=2026-02-30T99:99:99.000000Z~x',
];

test.each(NO_TIMES)(
  '?%s is no time: a list says so instead of showing everything',
  async (query) => {
    // What is no position starts the list.
    const status = query.startsWith('after') ? 200 : 422;
    const lists = ['payments', 'payouts', 'transactions', 'transactions/export', 'requests'];
    for (const list of lists) {
      const response = await merchant.get(`/dashboard/test/${list}?${query}`);
      expect([list, response.status]).toEqual([list, list === 'requests' ? 200 : status]);
      await response.text();
    }
    expect((await merchant.get(`/dashboard/audit?${query}`)).status).toBeLessThan(500);
    for (const list of ['cases', 'accounts', 'payments', 'payouts', 'queue', 'audit-log']) {
      expect((await operator.get(`/console/${list}?${query}`)).status).toBeLessThan(500);
    }
    expect(faults()).toEqual([]);
  },
);

test('a filter with a value that does not exist is refused, and an export too', async () => {
  const asked = ['payments?status=paid', 'payouts?provider=x', 'transactions/export?type=fee'];
  for (const path of asked) {
    const response = await merchant.get(`/dashboard/test/${path}`);
    expect([path, response.status]).toEqual([path, 422]);
    expect(await response.text()).toContain('Filter not valid');
  }
  const all = await operator.get('/console/payouts?status=stuck');
  expect(all.status).toBe(422);
});

test('who may not is told whom to ask', async () => {
  const viewer = await makeUser(harness.owner, 'merchant', 'viewer', await harness.createAccount());
  const client = new PageClient(gateway.url);
  await client.signIn(viewer);
  const response = await client.get('/dashboard/test/keys/new');
  expect(response.status).toBe(403);
  expect(await response.text()).toContain('Ask an owner of the account.');
});

test('the front door and a guide that does not exist are pages', async () => {
  const front = await fetch(`${gateway.url}/`, { redirect: 'manual' });
  expect([front.status, front.headers.get('location')]).toEqual([302, '/docs']);
  const guide = await fetch(`${gateway.url}/docs/guides/none`);
  expect(guide.status).toBe(404);
  expect(guide.headers.get('content-type')).toContain('text/html');
  expect(await guide.text()).toContain('Page not found');
});

test('an export whose first page cannot be read is an error page, not a file that is cut off', async () => {
  await harness.owner.query('ALTER TABLE ledger_transactions RENAME TO away');
  try {
    const response = await merchant.get('/dashboard/test/transactions/export');
    expect(response.status).toBe(500);
    expect(response.headers.get('content-disposition')).toBeNull();
  } finally {
    await harness.owner.query('ALTER TABLE away RENAME TO ledger_transactions');
    gateway.log.length = 0;
  }
});

test('JSON that is too deep for a parser is refused', async () => {
  const created = await merchant.post('/dashboard/test/webhooks/new', {
    url: 'https://1.1.1.1/hooks',
    events: 'all',
  });
  const page = created.headers.get('location') ?? (await created.text());
  const [endpoint] = /we_\w{26}/.exec(page) ?? [];
  const deep = `{"a":${'['.repeat(7_000)}${']'.repeat(7_000)}}`;
  const response = await merchant.post(`/dashboard/test/webhooks/${endpoint}/test`, { data: deep });
  expect(response.status).toBeLessThan(500);
  expect(await response.text()).toContain('at most 32 levels');
  expect(faults()).toEqual([]);
});

test('a form of very many fields is refused before it is taken apart', async () => {
  for (const path of ['reconcile', 'batches/new', 'webhooks/new']) {
    const form = new URLSearchParams(Array.from({ length: 5_001 }, () => ['a', '']));
    const response = await merchant.post(`/dashboard/test/${path}`, form);
    expect([path, response.status]).toEqual([path, 413]);
  }
});
