/** The dashboard and the console over HTTP: sign-in, sessions, and what protects them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { FAILURES_OF_PAIR_MAX } from '../../src/services/users/attempts';
import { disableUser, resetPassword } from '../../src/services/users/users';
import { signWebhook } from '../../src/webhooks/verify';
import { newId } from '../../src/lib/new-id';
import { createConsole } from '../../src/console/console';
import { createDashboard } from '../../src/dashboard/dashboard';
import { MERCHANT_ROLES, OPERATOR_ROLES } from '../../src/domain/users';
import { buildPayoutMoney, insertPayment, insertPayout } from '../support/merchant/ledger';
import { makeUser, PageClient, type TestUser } from '../support/merchant/page-client';
import { type Gateway, PUBLIC_URL, startHarness } from './http-harness';
import { started } from '../support/started';

const harness = started(startHarness);
let gateway: Gateway;
let accountId: string;
let owner: TestUser;
let operator: TestUser;

beforeAll(async () => {
  [gateway, accountId] = await Promise.all([
    harness.startGateway({ env: { TRUSTED_PROXY_HOPS: '1' } }),
    harness.createAccount(),
  ]);
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  operator = await makeUser(harness.owner, 'operator', 'admin');
});

const newClient = () => new PageClient(gateway.url);

test('who signs in gets a page, and who signs out gets none', async () => {
  const client = newClient();
  const first = await client.get('/dashboard/test');
  expect(first.status).toBe(303);
  expect(first.headers.get('location')).toBe('/dashboard/sign-in?next=%2Fdashboard%2Ftest');
  const signedIn = await client.signIn(owner);
  expect(signedIn.status).toBe(303);
  const token = client.cookies.get('__Host-gateway_dashboard');
  expect((await client.get('/dashboard/test')).status).toBe(200);
  expect((await client.post('/dashboard/sign-out')).status).toBe(303);
  expect(client.cookies.has('__Host-gateway_dashboard')).toBe(false);
  // The token itself is worth nothing any more.
  client.cookies.set('__Host-gateway_dashboard', token!);
  expect((await client.get('/dashboard/test')).status).toBe(303);
});

test('the cookie is for one site only and out of reach of scripts and other sites', async () => {
  const response = await newClient().signIn(operator);
  const [cookie] = response.headers.getSetCookie();
  // PUBLIC_URL of this gateway is https.
  expect(cookie).toMatch(
    /^__Host-gateway_console=[\w-]{43}; path=\/; expires=.*; samesite=strict; secure; httponly$/i,
  );
  expect(cookie).not.toMatch(/domain/i);
});

test('over https, a cookie that another host of the domain could set is no session', async () => {
  const client = newClient();
  await client.signIn(owner);
  const token = client.cookies.get('__Host-gateway_dashboard')!;
  const planted = newClient();
  planted.cookies.set('gateway_dashboard', token);
  expect((await planted.get('/dashboard/test')).status).toBe(303);
  planted.cookies.set('__Host-gateway_dashboard', token);
  expect((await planted.get('/dashboard/test')).status).toBe(200);
});

test('over http, as in development, the cookie has no prefix that browsers refuse there', async () => {
  const local = await harness.startGateway({ env: { PUBLIC_URL: 'http://localhost:3000' } });
  const client = new PageClient(local.url);
  const [cookie] = (await client.signIn(owner)).headers.getSetCookie();
  expect(cookie).toMatch(
    /^gateway_dashboard=[\w-]{43}; path=\/dashboard; expires=.*; samesite=strict; httponly$/i,
  );
  expect((await client.get('/dashboard/test')).status).toBe(200);
  await client.post('/dashboard/sign-out');
  expect(client.cookies.has('gateway_dashboard')).toBe(false);
});

test('every sign-in has a new token, and a token that was set before is not accepted', async () => {
  const client = newClient();
  const fixed = 'A'.repeat(43);
  client.cookies.set('__Host-gateway_dashboard', fixed);
  await client.signIn(owner);
  const first = client.cookies.get('__Host-gateway_dashboard');
  expect(first).not.toBe(fixed);
  await client.signIn(owner);
  expect(client.cookies.get('__Host-gateway_dashboard')).not.toBe(first);
  // The session before ended with the new one.
  client.cookies.set('__Host-gateway_dashboard', first!);
  expect((await client.get('/dashboard/test')).status).toBe(303);
});

test('an unknown email address, a wrong password and a disabled user get the same answer', async () => {
  const disabled = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  const by = { actor: 'test', reason: null };
  await disableUser(harness.owner, by, 'merchant', disabled.email, true);
  const withoutAccount = await makeUser(harness.owner, 'merchant', 'owner');
  const answers = await Promise.all(
    [
      { email: 'nobody@example.com', password: 'wrong-password' },
      { email: owner.email, password: 'wrong-password' },
      { email: disabled.email, password: disabled.password },
      { email: withoutAccount.email, password: withoutAccount.password },
      // An operator is no merchant.
      { email: operator.email, password: operator.password },
    ].map(async ({ email, password }) => {
      const client = newClient();
      const response = await client.post('/dashboard/sign-in', { email, password });
      const html = await response.text();
      return {
        status: response.status,
        cookies: [...client.cookies],
        html: html.replaceAll(email, ''),
      };
    }),
  );
  expect(answers[0]).toMatchObject({ status: 401, cookies: [] });
  expect(answers[0]!.html).toContain('The email address or the password is wrong.');
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

test('failures limit one address, and never the owner at another one', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  const stranger = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '203.0.113.9' };
  const wrong = { email: user.email, password: 'wrong-password' };
  for (let n = 0; n < FAILURES_OF_PAIR_MAX; n++) {
    expect((await newClient().post('/dashboard/sign-in', wrong, stranger)).status).toBe(401);
  }
  expect((await newClient().post('/dashboard/sign-in', wrong, stranger)).status).toBe(429);
  // Not even with the right password: it would tell that the guess was right.
  const right = { email: user.email, password: user.password };
  expect((await newClient().post('/dashboard/sign-in', right, stranger)).status).toBe(429);
  expect((await newClient().signIn(user)).status).toBe(303);
  // An IPv6 customer has a whole network of addresses.
  const v6 = (last: string) => ({ ...stranger, 'x-forwarded-for': `2001:db8:1:2::${last}` });
  for (let n = 1; n <= FAILURES_OF_PAIR_MAX; n++) {
    await newClient().post('/dashboard/sign-in', wrong, v6(String(n)));
  }
  expect((await newClient().post('/dashboard/sign-in', wrong, v6('ffff'))).status).toBe(429);
});

test('failures at the dashboard lock no operator of the same network out of the console', async () => {
  const from = { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '203.0.113.77' };
  await harness.owner.query(
    `INSERT INTO authentication_attempts (kind, email, step, network)
     SELECT 'merchant', 'shop-' || n || '@example.com', 'password', '203.0.113.77'
       FROM generate_series(1, 60) AS n`,
  );
  const signIn = (site: string, { email, password }: { email: string; password: string }) =>
    newClient().post(`/${site}/sign-in`, { email, password }, from);
  expect((await signIn('dashboard', owner)).status).toBe(429);
  expect((await signIn('console', await makeUser(harness.owner, 'operator', 'admin'))).status).toBe(
    303,
  );
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
  ['another port of the same host', { 'sec-fetch-site': 'same-site' }, 403],
  ['another port, in a browser that sends the origin only', { origin: 'http://127.0.0.1:1' }, 403],
  ['an opaque origin', { origin: 'null' }, 403],
  ['a program without either header', {}, 403],
  ['the public URL', { origin: 'https://pay.example.com' }, 303],
])('a form from %s', async (_, headers, status) => {
  const client = newClient();
  await client.signIn(owner);
  const before = new Map(client.cookies);
  const response = await client.post('/dashboard/sign-out', {}, headers);
  expect(response.status).toBe(status);
  if (status === 403) expect(client.cookies).toEqual(before);
});

test('a form that comes from the host itself is accepted', async () => {
  const client = newClient();
  await client.signIn(owner);
  const response = await client.post('/dashboard/sign-out', {}, { origin: gateway.url });
  expect(response.status).toBe(303);
});

test('sessions are listed and ended, and nobody ends those of others', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const [here, there, stranger] = [newClient(), newClient(), newClient()];
  await here.signIn(user);
  await there.signIn(user);
  await stranger.signIn(owner);
  const sessions = await harness.owner.query<{ id: string }>(
    'SELECT id FROM sessions WHERE user_id = ? ORDER BY created_at',
    [user.id],
  );
  expect(sessions).toHaveLength(2);
  const end = `/dashboard/sessions/${sessions[1]!.id}/end`;
  expect((await stranger.post(end)).status).toBe(404);
  expect((await there.get('/dashboard/test')).status).toBe(200);
  const page = await (await here.get('/dashboard/sessions')).text();
  expect(page).toContain('This session');
  expect((await here.post(end)).headers.get('location')).toBe('/dashboard/sessions?ended');
  expect((await there.get('/dashboard/test')).status).toBe(303);
  expect((await here.get('/dashboard/test')).status).toBe(200);
});

test('nobody switches to an account of others', async () => {
  const theirs = await harness.createAccount();
  await makeUser(harness.owner, 'merchant', 'viewer', theirs);
  const client = newClient();
  await client.signIn(owner);
  const switchTo = (account: string) => client.post('/dashboard/accounts', { account });
  expect((await switchTo(theirs)).status).toBe(404);
  expect((await switchTo(accountId)).status).toBe(303);
});

test('a disabled user, an ended membership and an idle session are signed out', async () => {
  const sql = {
    disabled: 'UPDATE users SET disabled_at = now() WHERE id = ?',
    membership: 'DELETE FROM memberships WHERE user_id = ?',
    idle: "UPDATE sessions SET last_seen_at = now() - interval '13 hours' WHERE user_id = ?",
    expired: 'UPDATE sessions SET expires_at = now() WHERE user_id = ?',
  };
  for (const statement of Object.values(sql)) {
    const user = await makeUser(harness.owner, 'merchant', 'owner', accountId);
    const client = newClient();
    await client.signIn(user);
    expect((await client.get('/dashboard/test')).status).toBe(200);
    await harness.owner.query(statement, [user.id]);
    expect((await client.get('/dashboard/test')).status).toBe(303);
  }
});

test('a merchant gets nothing from the console, and an operator nothing from the dashboard', async () => {
  const [merchant, other] = [newClient(), newClient()];
  await merchant.signIn(owner);
  await other.signIn(operator);
  expect((await other.get('/console/home')).status).toBe(200);
  merchant.cookies.set('__Host-gateway_console', merchant.cookies.get('__Host-gateway_dashboard')!);
  other.cookies.set('__Host-gateway_dashboard', other.cookies.get('__Host-gateway_console')!);
  expect((await merchant.get('/console/home')).status).toBe(303);
  expect((await other.get('/dashboard/test')).status).toBe(303);
});

test('a link cannot lead a sign-in to another site', async () => {
  for (const next of [
    'https://evil.example/',
    '//evil.example/dashboard/',
    '/\\evil.example',
    '/console/x',
  ]) {
    const client = newClient();
    const { email, password } = owner;
    await client.post('/dashboard/sign-in', { email, password, next });
    const done = await client.get(`/dashboard/sign-in/done?next=${encodeURIComponent(next)}`);
    expect(done.headers.get('location')).toBe('/dashboard/test');
  }
});

test('pages have strict headers, and errors have the request id', async () => {
  const client = newClient();
  await client.signIn(owner);
  const missing = await client.get('/dashboard/test/nothing');
  expect(missing.status).toBe(404);
  expect(await missing.text()).toContain(missing.headers.get('x-request-id')!);
  expect(Object.fromEntries(missing.headers)).toMatchObject({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'strict-transport-security': 'max-age=31536000',
    'cache-control': 'no-store',
  });
  const guide = await fetch(`${gateway.url}/docs/guides/quickstart`);
  expect(guide.headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  );
  expect((await client.get('/dashboard/other')).status).toBe(404);
  const notAForm = await fetch(`${gateway.url}/dashboard/sign-in`, {
    method: 'POST',
    body: '{}',
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
  });
  expect(notAForm.status).toBe(415);
  const huge = await client.post('/dashboard/sign-in', { email: 'x'.repeat(70_000) });
  expect(huge.status).toBe(413);
});

function assetsIn(html: string): string[] {
  return [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!);
}

test('assets are kept for ever, and compressed', async () => {
  const html = await (await newClient().get('/dashboard/sign-in')).text();
  const urls = assetsIn(html);
  expect(urls).toHaveLength(2);
  for (const url of urls) {
    const response = await fetch(gateway.url + url, { headers: { 'accept-encoding': 'br' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-encoding')).toBe('br');
  }
});

test('sign-in and home together load at most 60 KB', async () => {
  const client = newClient();
  const sizes = new Map<string, number>();
  const load = async (path: string) => {
    const page = await client.get(path, { 'accept-encoding': 'gzip' });
    expect(page.status).toBe(200);
    sizes.set(path, Number(page.headers.get('content-length')));
    const html = await page.text();
    for (const url of assetsIn(html)) {
      const response = await fetch(gateway.url + url, { headers: { 'accept-encoding': 'br' } });
      sizes.set(url, Number(response.headers.get('content-length')));
      if (!url.endsWith('.css')) continue;
      // A browser loads the first font for Latin text.
      const font = /url\((\/assets\/[^)]+inter-latin\.woff2)\)/.exec(await response.text());
      sizes.set(font![1]!, (await (await fetch(gateway.url + font![1]!)).arrayBuffer()).byteLength);
    }
  };
  await load('/dashboard/sign-in');
  await client.signIn(owner);
  await load('/dashboard/test');
  expect(sizes.size).toBe(5);
  expect([...sizes.values()].reduce((sum, bytes) => sum + bytes)).toBeLessThanOrEqual(60_000);
});

/** `fetch` sends the host of the URL whatever one asks for. */
async function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test('the pages are served on their own hosts, and not without a database login', async () => {
  const hosts = await harness.startGateway({
    env: { DASHBOARD_HOST: 'shop.example.com', CONSOLE_HOST: 'Ops.example.com' },
  });
  const hidden = { 'x-forwarded-host': 'ops.example.com', forwarded: 'host=ops.example.com' };
  for (const [host, path, status] of [
    ['ops.example.com', '/console/sign-in', 200],
    ['shop.example.com', '/console/sign-in', 404],
    ['pay.example.com', '/console/sign-in', 404],
    ['ops.example.com.', '/console/sign-in', 404],
    ['shop.example.com', '/dashboard/sign-in', 200],
    ['ops.example.com', '/dashboard/sign-in', 404],
  ] as const) {
    // What a client says about a proxy does not count.
    const headers = host === 'ops.example.com' ? { host } : { ...hidden, host };
    expect([host, path, await statusOf(hosts.url + path, headers)]).toEqual([host, path, status]);
  }
  const none = await harness.startGateway({ env: { DASHBOARD_DATABASE_URL: '' } });
  expect((await fetch(`${none.url}/dashboard/sign-in`)).status).toBe(404);
});

/** Of both sites, for every role. */
const OWN_PAGES = [
  'get /confirm',
  'post /confirm',
  'post /confirm/passkey',
  'get /security',
  'post /security/totp/start',
  'get /security/totp',
  'post /security/totp',
  'post /security/totp/remove',
  'get /security/recovery-codes',
  'post /security/recovery-codes',
  'get /security/passkeys/new',
  'get /security/password',
  'post /security/password',
  'post /security/passkeys/new',
  'post /security/passkeys/:id/remove',
  'get /sessions',
  'post /sessions/:id/end',
  'get /people',
];

/** Of both sites, for owners and admins. */
const PEOPLE_PAGES = [
  'get /people/invite',
  'post /people/invite',
  'get /people/invited',
  'post /people/invitations/:id/revoke',
  'post /people/:id/role',
  'post /people/:id/remove',
  'post /people/second-factor',
];

/** Who may use a route of the dashboard, by the first letter of the role; in test mode and in live mode. */
const DASHBOARD: Record<string, [test: string, live: string]> = {
  'get /': ['OFDSV', 'OFDSV'],
  'get /balances/:id': ['OFDSV', 'OFDSV'],
  'get /payments': ['OFDSV', 'OFDSV'],
  'get /payments/new': ['OFD', 'OFD'],
  'post /payments/new': ['OFD', 'OFD'],
  'get /payments/:id': ['OFDSV', 'OFDSV'],
  'post /payments/:id/cancel': ['OFD', 'OFD'],
  'get /payments/:id/refund': ['OFD', 'OF'],
  'post /payments/:id/refund': ['OFD', 'OF'],
  'get /refunds': ['OFDSV', 'OFDSV'],
  'get /refunds/:id': ['OFDSV', 'OFDSV'],
  'get /batches': ['OFDSV', 'OFDSV'],
  'get /batches/new': ['OFD', 'OF'],
  'get /batches/template.csv': ['OFD', 'OF'],
  'post /batches/new': ['OFD', 'OF'],
  'post /batches/faults.csv': ['OFD', 'OF'],
  'post /batches/create': ['OFD', 'OF'],
  'get /batches/:id': ['OFDSV', 'OFDSV'],
  'get /batches/:id/proof.csv': ['OFDSV', 'OFDSV'],
  'get /batches/:id/proof.json': ['OFDSV', 'OFDSV'],
  'post /batches/:id/stop': ['OFD', 'OF'],
  'post /batches/:id/leave_out': ['OFD', 'OF'],
  'get /payouts': ['OFDSV', 'OFDSV'],
  'get /payouts/new': ['OFD', 'OF'],
  'post /payouts/new': ['OFD', 'OF'],
  'get /payouts/:id': ['OFDSV', 'OFDSV'],
  'post /payouts/:id/cancel': ['OFD', 'OF'],
  'get /recipients': ['OFDSV', 'OFDSV'],
  'get /recipients/new': ['OFD', 'OF'],
  'post /recipients/new': ['OFD', 'OF'],
  'get /recipients/template.csv': ['OFD', 'OF'],
  'get /recipients/import': ['OFD', 'OF'],
  'post /recipients/import': ['OFD', 'OF'],
  'get /recipients/rules': ['O', 'O'],
  'post /recipients/rules': ['O', 'O'],
  'get /recipients/:id': ['OFDSV', 'OFDSV'],
  'get /recipients/:id/edit': ['OFD', 'OF'],
  'post /recipients/:id/edit': ['OFD', 'OF'],
  'post /recipients/:id/delete': ['OFD', 'OF'],
  'get /second-person': ['O', 'O'],
  'post /second-person': ['O', 'O'],
  'post /second-person/:id/approve': ['OF', 'OF'],
  'post /refunds/:id/withdraw': ['OFD', 'OF'],
  'get /transactions': ['OFDSV', 'OFDSV'],
  'get /transactions/export': ['OFDSV', 'OFDSV'],
  'get /statements': ['OFDSV', 'OFDSV'],
  'get /exports': ['OFDSV', 'OFDSV'],
  'get /exports/file': ['OFDSV', 'OFDSV'],
  'get /bookkeeping': ['OF', 'OF'],
  'post /bookkeeping': ['OF', 'OF'],
  'get /keys': ['OFDSV', 'OFDSV'],
  'get /keys/new': ['OD', 'O'],
  'post /keys/new': ['OD', 'O'],
  'get /keys/:id': ['OFDSV', 'OFDSV'],
  'get /keys/:id/limits': ['OD', 'O'],
  'post /keys/:id/limits': ['OD', 'O'],
  'post /keys/:id/rotate': ['OD', 'O'],
  'post /keys/:id/revoke': ['OD', 'O'],
  'get /webhooks/debugger': ['OFDSV', 'OFDSV'],
  'post /webhooks/debugger': ['OFDSV', 'OFDSV'],
  'get /webhooks/deliveries/:id': ['OFDSV', 'OFDSV'],
  'post /webhooks/deliveries/:id/retry': ['ODS', 'ODS'],
  'get /webhooks': ['OFDSV', 'OFDSV'],
  'get /webhooks/new': ['OD', 'O'],
  'post /webhooks/new': ['OD', 'O'],
  'get /webhooks/:id': ['OFDSV', 'OFDSV'],
  'post /webhooks/:id/ping': ['ODS', 'ODS'],
  'get /webhooks/:id/edit': ['OD', 'O'],
  'post /webhooks/:id/edit': ['OD', 'O'],
  'get /webhooks/:id/test': ['ODS', 'ODS'],
  'post /webhooks/:id/test': ['ODS', 'ODS'],
  'post /webhooks/:id/recover': ['ODS', 'ODS'],
  'post /webhooks/:id/replay': ['ODS', 'ODS'],
  'post /webhooks/:id/roll': ['OD', 'O'],
  'post /webhooks/:id/enable': ['OD', 'O'],
  'post /webhooks/:id/disable': ['OD', 'O'],
  'post /webhooks/:id/delete': ['OD', 'O'],
  'get /requests': ['OFDSV', 'OFDSV'],
  'get /requests/:id': ['OFDSV', 'OFDSV'],
  'get /search': ['OFDSV', 'OFDSV'],
  'get /audit-log': ['O', 'O'],
};

test('every route of the dashboard is for the roles that are written down, and no other', async () => {
  const parts = { services: {}, users: {}, once: {}, host: null, publicUrl: PUBLIC_URL } as never;
  const routes = createDashboard(parts).routes.filter(({ path }) => path.startsWith('/:mode'));
  const nameOf = ({ method, path }: { method: string; path: string }) =>
    `${method} ${path.slice('/:mode'.length) || '/'}`;
  expect(routes.map(nameOf).sort()).toEqual(Object.keys(DASHBOARD).sort());
  const found = Object.fromEntries(routes.map((route) => [nameOf(route), ['', ''] as string[]]));
  for (const role of MERCHANT_ROLES) {
    const client = newClient();
    // An account of its own, because the requests of an account are limited.
    const own = await harness.createAccount();
    await client.signIn(await makeUser(harness.owner, 'merchant', role, own));
    for (const route of routes) {
      for (const [index, mode] of ['test', 'live'].entries()) {
        const path = `/dashboard${route.path.replace(':mode', mode).replace(':id', 'none')}`;
        const { status } = await client[route.method](path);
        // A form without fields, an object that does not exist: both are past the role.
        expect([200, 303, 403, 404, 409, 422]).toContain(status);
        const letter = role.charAt(0).toUpperCase();
        const roles = found[nameOf(route)]!;
        if (status !== 403) roles[index] = `${roles[index] ?? ''}${letter}`;
      }
    }
  }
  expect(found).toEqual(DASHBOARD);
});

/** Who may use a route of the console: A admin, R reviewer, V viewer. */
const CONSOLE: Record<string, string> = {
  'get /home': 'ARV',
  'get /queue': 'ARV',
  'get /queue/selection': 'AR',
  'post /queue/approve': 'AR',
  'get /queue/decided': 'ARV',
  'get /batches': 'ARV',
  'get /batches/:id': 'ARV',
  'post /batches/:id/approve': 'AR',
  'post /batches/:id/reject': 'AR',
  'post /batches/:id/stop': 'AR',
  'post /batches/:id/leave_out': 'AR',
  'get /payouts': 'ARV',
  'get /payouts/:id': 'ARV',
  'post /payouts/:id/approve': 'AR',
  'post /payouts/:id/reject': 'AR',
  'post /payouts/:id/screening/allow': 'AR',
  'post /payouts/:id/screening/ask': 'AR',
  'get /in-doubt': 'ARV',
  'post /in-doubt/:id/ask': 'AR',
  'get /accounts': 'ARV',
  'get /accounts/:id': 'ARV',
  'get /accounts/:id/recipients': 'ARV',
  'get /accounts/:id/verify': 'A',
  'post /accounts/:id/verify': 'A',
  'get /accounts/:id/suspend': 'A',
  'post /accounts/:id/suspend': 'A',
  'get /accounts/:id/reinstate': 'A',
  'post /accounts/:id/reinstate': 'A',
  'get /accounts/:id/review': 'A',
  'post /accounts/:id/review': 'A',
  'get /accounts/:id/limits': 'A',
  'post /accounts/:id/limits': 'A',
  'get /accounts/:id/fees': 'A',
  'post /accounts/:id/fees': 'A',
  'get /accounts/:id/fees-end': 'A',
  'post /accounts/:id/fees-end': 'A',
  'post /proposals/:id/approve': 'A',
  'post /proposals/:id/reject': 'A',
  'get /four-eyes': 'ARV',
  'post /four-eyes': 'A',
  'post /four-eyes/confirm': 'A',
  'post /four-eyes/withdraw': 'A',
  'get /payments': 'ARV',
  'get /payments/:id': 'ARV',
  'post /payments/:id/ask': 'AR',
  'post /payments/:id/cancel': 'AR',
  'post /payments/:id/refund': 'AR',
  'post /payments/:id/reject': 'AR',
  'post /payments/:id/release': 'AR',
  'get /pauses': 'ARV',
  'post /pauses': 'A',
  'post /pauses/resume': 'A',
  'get /operations': 'ARV',
  'get /operations/ledger-proof': 'ARV',
  'post /operations/run': 'A',
  'get /audit-log': 'ARV',
  'get /cases': 'ARV',
  'get /cases/:id': 'ARV',
  'post /cases/:id/resolve': 'AR',
  'post /people/invitations/:id/approve': 'A',
  'post /people/:id/role/approve': 'A',
  'post /people/:id/role/reject': 'A',
  ...Object.fromEntries(OWN_PAGES.map((route) => [route, 'ARV'])),
  ...Object.fromEntries(PEOPLE_PAGES.map((route) => [route, 'A'])),
};

test('every route of the console is for the roles that are written down, and no other', async () => {
  const parts = { services: {}, users: {}, host: null, publicUrl: PUBLIC_URL } as never;
  const routes = createConsole(parts).routes.filter(({ needs }) => needs !== null);
  const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(routes.map(nameOf).sort()).toEqual(Object.keys(CONSOLE).sort());
  const roles = new Map(routes.map((route) => [nameOf(route), [] as string[]]));
  for (const role of OPERATOR_ROLES) {
    const client = newClient();
    await client.signIn(await makeUser(harness.owner, 'operator', role));
    for (const route of routes) {
      const { status } = await client[route.method](
        `/console${route.path.replace(/:\w+/g, 'none')}`,
      );
      // A form without fields, an object that does not exist: both are past the role.
      expect([route.path, [200, 303, 401, 403, 404, 409, 422]]).toEqual([
        route.path,
        expect.arrayContaining([status]),
      ]);
      if (status !== 403) roles.get(nameOf(route))!.push(role.charAt(0).toUpperCase());
    }
  }
  const found = [...roles].map(([route, letters]) => [route, letters.join('')]);
  expect(Object.fromEntries(found)).toEqual(CONSOLE);
});

test('every route about the person and the account is for the same roles in the dashboard', async () => {
  const parts = { services: {}, users: {}, once: {}, host: null, publicUrl: PUBLIC_URL } as never;
  const routes = createDashboard(parts).routes.filter(
    ({ needs, path }) => needs !== null && !path.startsWith('/:mode'),
  );
  const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
  expect(routes.map(nameOf).sort()).toEqual(
    [...OWN_PAGES, ...PEOPLE_PAGES, 'get /accounts', 'post /accounts'].sort(),
  );
  for (const role of MERCHANT_ROLES) {
    const client = newClient();
    await client.signIn(await makeUser(harness.owner, 'merchant', role, accountId));
    for (const route of routes) {
      const { status } = await client[route.method](
        `/dashboard${route.path.replace(':id', 'none')}`,
      );
      const isAllowed = role === 'owner' || !PEOPLE_PAGES.includes(nameOf(route));
      expect([role, nameOf(route), status === 403]).toEqual([role, nameOf(route), !isAllowed]);
    }
  }
});

test('without a session every route leads to the sign-in', async () => {
  const parts = { services: {}, users: {}, once: {}, host: null, publicUrl: PUBLIC_URL } as never;
  for (const site of [createDashboard(parts), createConsole(parts)]) {
    for (const { method, path, needs } of site.routes) {
      if (needs === null) continue;
      const url = site.prefix + path.replace(':mode', 'test').replace(':id', 'none');
      const response = await newClient()[method](url);
      expect(response.headers.get('location')).toMatch(`${site.prefix}/sign-in`);
    }
  }
});

test('objects of another account, of the other mode and with hostile ids do not exist', async () => {
  const other = await harness.createAccount();
  const [theirs, live, mine] = [
    await harness.createKey({ accountId: other }),
    await harness.createKey({ accountId, mode: 'live' }),
    await harness.createKey({ accountId }),
  ];
  const client = newClient();
  await client.signIn(owner);
  expect((await client.get(`/dashboard/test/keys/${mine.id}`)).status).toBe(200);
  for (const id of [theirs.id, live.id, '%00', "'%20OR%201=1", '..%2f', 'x'.repeat(500)]) {
    for (const list of ['keys', 'payments', 'payouts', 'webhooks', 'webhooks/deliveries']) {
      expect((await client.get(`/dashboard/test/${list}/${id}`)).status).toBe(404);
    }
  }
  expect((await client.get('/dashboard/test/payments?reference=%00')).status).toBe(422);
  expect((await client.post('/dashboard/sign-in', { email: '\0' })).status).toBe(422);
  const long = { email: `${'x'.repeat(300)}@example.com`, password: 'x' };
  expect((await newClient().post('/dashboard/sign-in', long)).status).toBe(401);
  const place = (account: string, mode: 'test' | 'live') => ({
    ...{ accountId: account, mode, currency: 'USDT' },
  });
  for (const [to, status] of [
    [place(accountId, 'test'), 200],
    [place(accountId, 'live'), 404],
    [place(other, 'test'), 404],
  ] as const) {
    const payment = await insertPayment(harness.owner, to, 'pending');
    const payout = buildPayoutMoney('1');
    await insertPayout(harness.owner, to, payout, 'completed');
    for (const page of [`payments/${payment}`, `payouts/${payout.id}`]) {
      expect((await client.get(`/dashboard/test/${page}`)).status).toBe(status);
    }
  }
  for (const change of [`keys/${theirs.id}/rotate`, `keys/${theirs.id}/revoke`]) {
    expect((await client.post(`/dashboard/test/${change}`)).status).toBe(404);
  }
});

test('a new role applies to the next request, and a new password ends all sessions', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  const client = newClient();
  await client.signIn(user);
  expect((await client.get('/dashboard/test/keys/new')).status).toBe(200);
  const sql = "UPDATE memberships SET role = 'viewer' WHERE user_id = ?";
  await harness.owner.query(sql, [user.id]);
  expect((await client.get('/dashboard/test/keys/new')).status).toBe(403);
  const token = client.cookies.get('__Host-gateway_dashboard')!;
  const [session] = await harness.owner.query<{ tokenHash: Buffer; hours: number }>(
    `SELECT token_hash, round(extract(epoch FROM expires_at - created_at) / 3600)::int AS hours
       FROM sessions WHERE user_id = ?`,
    [user.id],
  );
  expect(session).toEqual({
    tokenHash: createHash('sha256').update(token).digest(),
    hours: 7 * 24,
  });
  const by = { actor: 'tests', reason: null };
  await resetPassword(harness.owner, by, 'merchant', user.email);
  expect((await client.get('/dashboard/test')).status).toBe(303);
});

test('a key is created, shown once, rotated and revoked', async () => {
  const client = newClient();
  await client.signIn(owner);
  const wrong = await client.post('/dashboard/test/keys/new', {
    name: '',
    rate: '0',
    scopes: 'balance:read',
  });
  expect(wrong.status).toBe(422);
  expect(await wrong.text()).toContain('Enter a value.');
  for (const expires of ['31.12.2099', '2099-02-30', '2020-01-01', '2099']) {
    const form = { name: 'x', scopes: 'balance:read', expires };
    const refused = await client.post('/dashboard/test/keys/new', form);
    expect([expires, refused.status]).toEqual([expires, 422]);
  }
  const probe = '<script>alert(1)</script>';
  const created = await client.post('/dashboard/test/keys/new', {
    name: probe,
    scopes: 'balance:read',
    allow: '127.0.0.1, 10.0.0.0/8',
    rate: '7',
    expires: '2099-01-01',
  });
  expect(created.status).toBe(303);
  const path = created.headers.get('location')!;
  const stranger = newClient();
  await stranger.signIn(owner);
  stranger.cookies.set('gateway_secret', client.cookies.get('gateway_secret')!);
  expect(await (await stranger.get(path)).text()).not.toMatch(/sk_test_[0-9A-Za-z]{38}/);
  const first = await (await client.get(path)).text();
  const [secret] = /sk_test_[0-9A-Za-z]{38}/.exec(first)!;
  expect(first).not.toContain(probe);
  expect(first).toContain('&lt;script>alert(1)');
  expect(await (await client.get(path)).text()).not.toContain(secret);
  const balance = (key: string) =>
    fetch(`${gateway.url}/api/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
  expect((await balance(secret)).status).toBe(200);
  expect((await balance(secret)).headers.get('ratelimit-limit')).toBe('7');

  await client.post(`${path}/rotate`);
  expect((await balance(secret)).status).toBe(401);
  const [rotated] = /sk_test_[0-9A-Za-z]{38}/.exec(await (await client.get(path)).text())!;
  expect((await balance(rotated)).status).toBe(200);
  expect((await client.post(`${path}/revoke`, { confirm: 'no' })).status).toBe(422);
  expect((await balance(rotated)).status).toBe(200);
  expect((await client.post(`${path}/revoke`, { confirm: rotated.slice(-4) })).status).toBe(303);
  expect((await balance(rotated)).status).toBe(401);
  expect((await client.post(`${path}/rotate`)).status).toBe(409);
  const entries = await harness.owner.query<{ actor: string; action: string }>(
    'SELECT actor, action FROM audit_log WHERE object_id = ? ORDER BY id',
    [path.split('/').at(-1)!],
  );
  expect(entries).toEqual(
    ['create', 'rotate', 'revoke'].map((verb) => ({
      actor: owner.email,
      action: `api_key.${verb}`,
    })),
  );
});

test('the signature debugger says which part of a webhook is wrong', async () => {
  const client = newClient();
  await client.signIn(owner);
  const secret = `whsec_${'s'.repeat(43)}`;
  const event = { id: newId('event'), type: 'payout.completed', mode: 'test', data: { a: 1 } };
  const body = JSON.stringify(event);
  await harness.owner.query(
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body)
     VALUES (?, ?, 'test', ?, 'po_1', 1, ?)`,
    [event.id, accountId, event.type, Buffer.from(body)],
  );
  const now = Math.floor(Date.now() / 1000);
  const form = { signature: signWebhook(secret, now, body), event_id: event.id, body, secret };
  const probe = '<script>alert(1)</script>';
  const cases: [change: Partial<typeof form>, verdict: string][] = [
    [{}, 'The signature is valid'],
    [{ event_id: '' }, 'The signature is valid'],
    [{ signature: probe }, 'The header has the wrong format'],
    [{ signature: signWebhook(secret, now - 900, body) }, 'the timestamp is not'],
    [{ event_id: 'evt_other' }, 'the event id is not'],
    [{ secret: 'whsec_other' }, 'The secret is wrong'],
    [{ secret: ` ${secret} ` }, 'The secret has spaces around it'],
    [{ secret: secret.slice(6) }, 'The secret lacks its prefix'],
    [{ body: `${body}\n` }, 'spaces or line breaks around it'],
    [{ body: JSON.stringify(event, null, 2) }, 'it was parsed and written again'],
    [{ body: body.replace('1', '2') }, 'byte'],
    [{ body: probe, event_id: '' }, 'No signature matches'],
    [{ secret: ' ' }, 'Enter the signing secret'],
  ];
  for (const [change, verdict] of cases) {
    const answer = await client.post('/dashboard/test/webhooks/debugger', { ...form, ...change });
    const html = await answer.text();
    expect(html).toContain(verdict);
    expect(html).not.toContain(secret);
    expect(html).not.toContain(probe);
  }
  expect(JSON.stringify(gateway.log)).not.toContain('s'.repeat(43));
});
