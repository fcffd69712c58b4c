/** Sign-in and sessions of the dashboard and the console over HTTP, and what protects them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { FAILURES_OF_PAIR_MAX } from '../../../src/kit/service/attempts';
import { newId } from '../../../src/platform/lib/new-id';
import { hashPassword } from '../../../src/features/people/passwords';
import type { SecretBox } from '../../../src/platform/lib/secret-box';
import { noteOwnChange, type SignedIn, startSession } from '../../../src/kit/service/sessions';
import {
  changeOwnPassword,
  createUser,
  disableUser,
  resetPassword,
} from '../../../src/features/people/users';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway({ env: { TRUSTED_PROXY_HOPS: '1' } }));
let accountId: string;
let owner: TestUser;
let operator: TestUser;

beforeAll(async () => {
  accountId = await harness.createAccount();
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

test('a password is the same in the forms that keyboards and systems send it in', async () => {
  const typed = {
    composed: 'Gr\u00fcezi f\u00fcr Caf\u00e9',
    decomposed: 'Gru\u0308ezi fu\u0308r Cafe\u0301',
  };
  const by = { actor: 'test', reason: null };
  const email = () => `${newId('user').toLowerCase()}@example.com`;
  const create = (password: string) =>
    createUser(harness.owner, by, {
      kind: 'merchant',
      email: email(),
      role: 'viewer',
      accountId,
      password,
    });
  const isIn = async (user: { email: string }, password: string) =>
    (await new PageClient(gateway.url).post('/dashboard/sign-in', { email: user.email, password }))
      .status === 303;
  for (const password of Object.values(typed)) {
    const user = await create(password);
    for (const other of Object.values(typed)) expect(await isIn(user, other)).toBe(true);
    // A hash of before is of what the browser sent.
    const old = await hashPassword(password);
    await harness.owner.query('UPDATE users SET password_hash = ? WHERE id = ?', [old, user.id]);
    for (const other of Object.values(typed)) expect(await isIn(user, other)).toBe(true);
    expect(await isIn(user, 'Gruezi fur Cafe')).toBe(false);
  }
  // The forms of one password are one attempt.
  const user = await create(typed.composed);
  for (let failure = 1; failure <= 4; failure += 1) {
    expect(await isIn(user, `${typed.decomposed}x`)).toBe(false);
  }
  expect(await isIn(user, typed.decomposed)).toBe(true);
  // The length is that of the form that is hashed.
  const long = await create('\u00fc\u00e9\u00e0\u00f6'.repeat(50));
  expect(await isIn(long, 'u\u0308e\u0301a\u0300o\u0308'.repeat(50))).toBe(true);
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

describe('a password reset while a form of the old session is on its way', () => {
  const AFTERWARDS = 'of whoever had the session';
  const by = { actor: 'test', reason: null };

  test('the form that was begun before it changes nothing', async () => {
    const user = await makeUser(harness.owner, 'merchant', 'viewer', await harness.createAccount());
    const client = newClient();
    await client.signIn(user);
    const isRead = async () =>
      (
        await harness.owner.query(
          "SELECT 1 FROM sessions WHERE user_id = ? AND last_seen_at > now() - interval '1 minute'",
          [user.id],
        )
      ).length > 0 || undefined;
    await harness.owner.query(
      "UPDATE sessions SET last_seen_at = now() - interval '2 minutes' WHERE user_id = ?",
      [user.id],
    );
    const body = new URLSearchParams({ password: AFTERWARDS }).toString();
    const sending = request(`${gateway.url}/dashboard/security/password`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': body.length,
        'sec-fetch-site': 'same-origin',
        cookie: [...client.cookies].map((pair) => pair.join('=')).join('; '),
      },
    });
    sending.write(body.slice(0, 5));
    await waitFor('the session to be read', isRead);
    const { password } = await resetPassword(harness.owner, by, 'merchant', user.email);
    sending.end(body.slice(5));
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    expect(answer.headers.location).toMatch(/sign-in/);
    const isIn = async (tried: string) => {
      const sent = { email: user.email, password: tried };
      return (await newClient().post('/dashboard/sign-in', sent)).status === 303;
    };
    expect([await isIn(AFTERWARDS), await isIn(password)]).toEqual([false, true]);
  });

  test('a sign-in whose password was checked before it opens no session', async () => {
    const user = await makeUser(harness.owner, 'merchant', 'viewer', await harness.createAccount());
    const [{ passwordHash } = { passwordHash: '' }] = await harness.owner.query<{
      passwordHash: string;
    }>('SELECT password_hash FROM users WHERE id = ?', [user.id]);
    const browser = { address: '203.0.113.7', userAgent: '', device: null };
    const signIn = {
      accountId: null,
      hours: 1,
      signedInBy: 'local',
      authenticatedAt: null,
    } as const;
    const checked = { id: user.id, kind: 'merchant', passwordHash } as const;
    const box = {} as SecretBox;
    await resetPassword(harness.owner, by, 'merchant', user.email);
    expect(await startSession(harness.owner, box, checked, browser, signIn)).toBeNull();
    expect(
      await harness.owner.query('SELECT id FROM sessions WHERE user_id = ?', [user.id]),
    ).toEqual([]);
  });

  test('changes to the person’s own sign-in ask in their transaction whether the session is open', async () => {
    const user = await makeUser(harness.owner, 'merchant', 'viewer', await harness.createAccount());
    const client = newClient();
    await client.signIn(user);
    const [session] = await harness.owner.query<{ sessionId: string; accountId: string }>(
      'SELECT id AS session_id, account_id FROM sessions WHERE user_id = ?',
      [user.id],
    );
    const signedIn: SignedIn = {
      ...{ sessionId: session!.sessionId, userId: user.id, email: user.email, name: '' },
      ...{ accounts: 1, isRecent: true, mustEnrol: false, byDirectory: false },
      actor: {
        kind: 'merchant',
        role: 'viewer',
        accountName: 'Shop',
        accountId: session!.accountId,
      },
    };
    await resetPassword(harness.owner, by, 'merchant', user.email);
    await expect(changeOwnPassword(harness.owner, signedIn, AFTERWARDS)).rejects.toThrow(
      'does not exist',
    );
    const change = harness.owner.transaction((tx) => noteOwnChange(tx, signedIn, 'user.add_totp'));
    await expect(change).rejects.toThrow('does not exist');
  });
});
