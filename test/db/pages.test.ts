/** The dashboard and the console over HTTP: sign-in, sessions, and what protects them. */
import { rows } from '../../src/db/transaction';
import { FAILURES_OF_PAIR_MAX } from '../../src/services/users/sign-in';
import { disableUser } from '../../src/services/users/users';
import { makeUser, PageClient, type TestUser } from '../support/page-client';
import { type Gateway, type Harness, startHarness } from './http-harness';

let harness: Harness;
let gateway: Gateway;
let accountId: string;
let owner: TestUser;
let operator: TestUser;

beforeAll(async () => {
  harness = await startHarness();
  [gateway, accountId] = await Promise.all([
    harness.startGateway({ env: { TRUSTED_PROXY_HOPS: '1' } }),
    harness.createAccount(),
  ]);
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  operator = await makeUser(harness.owner, 'operator', 'admin');
});

afterAll(() => harness.stop());

const newClient = () => new PageClient(gateway.url);

test('who signs in gets a page, and who signs out gets none', async () => {
  const client = newClient();
  const first = await client.get('/dashboard/test');
  expect(first.status).toBe(303);
  expect(first.headers.get('location')).toBe('/dashboard/sign-in?next=%2Fdashboard%2Ftest');
  const signedIn = await client.signIn(owner);
  expect(signedIn.status).toBe(303);
  const token = client.cookies.get('gateway_dashboard');
  expect((await client.get('/dashboard/test')).status).toBe(200);
  expect((await client.post('/dashboard/sign-out')).status).toBe(303);
  expect(client.cookies.has('gateway_dashboard')).toBe(false);
  // The token itself is worth nothing any more.
  client.cookies.set('gateway_dashboard', token!);
  expect((await client.get('/dashboard/test')).status).toBe(303);
});

test('the cookie is for one site only and out of reach of scripts and other sites', async () => {
  const response = await newClient().signIn(operator);
  const [cookie] = response.headers.getSetCookie();
  // PUBLIC_URL of this gateway is https.
  expect(cookie).toMatch(
    /^gateway_console=[\w-]{43}; path=\/console; expires=.*; samesite=strict; secure; httponly$/i,
  );
});

test('every sign-in has a new token, and a token that was set before is not accepted', async () => {
  const client = newClient();
  const fixed = 'A'.repeat(43);
  client.cookies.set('gateway_dashboard', fixed);
  await client.signIn(owner);
  const first = client.cookies.get('gateway_dashboard');
  expect(first).not.toBe(fixed);
  await client.signIn(owner);
  expect(client.cookies.get('gateway_dashboard')).not.toBe(first);
  // The session before ended with the new one.
  client.cookies.set('gateway_dashboard', first!);
  expect((await client.get('/dashboard/test')).status).toBe(303);
});

test('an unknown e-mail address, a wrong password and a disabled user get the same answer', async () => {
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
  expect(answers[0]!.html).toContain('The e-mail address or the password is wrong.');
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
  const sessions = await rows<{ id: string }>(
    harness.owner,
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
    await rows(harness.owner, statement, [user.id]);
    expect((await client.get('/dashboard/test')).status).toBe(303);
  }
});

test('a merchant gets nothing from the console, and an operator nothing from the dashboard', async () => {
  const [merchant, other] = [newClient(), newClient()];
  await merchant.signIn(owner);
  await other.signIn(operator);
  expect((await other.get('/console/home')).status).toBe(200);
  merchant.cookies.set('gateway_console', merchant.cookies.get('gateway_dashboard')!);
  other.cookies.set('gateway_dashboard', other.cookies.get('gateway_console')!);
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
  expect(missing.headers.get('content-security-policy')).toContain(
    "default-src 'none'; script-src 'self'",
  );
  expect(missing.headers.get('cache-control')).toBe('no-store');
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

test('assets are kept for ever, and compressed', async () => {
  const html = await (await newClient().get('/dashboard/sign-in')).text();
  const urls = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url]) => url!);
  expect(urls).toHaveLength(2);
  for (const url of urls) {
    const response = await fetch(gateway.url + url, { headers: { 'accept-encoding': 'br' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-encoding')).toBe('br');
  }
});

test('the pages are served on their own hosts, and not without a database login', async () => {
  const hosts = await harness.startGateway({
    env: { DASHBOARD_HOST: 'shop.example.com', CONSOLE_HOST: 'ops.example.com' },
  });
  expect((await fetch(`${hosts.url}/dashboard/sign-in`)).status).toBe(404);
  const none = await harness.startGateway({ env: { DASHBOARD_DATABASE_URL: '' } });
  expect((await fetch(`${none.url}/dashboard/sign-in`)).status).toBe(404);
});
