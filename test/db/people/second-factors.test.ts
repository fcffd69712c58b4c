/** Second factors over HTTP: enrolment, the second step of a sign-in, recovery codes, "sign in again". */
import { generate } from 'otplib';
import { FAILURES_OF_EMAIL_MAX, FAILURES_OF_PAIR_MAX } from '../../../src/kit/service/attempts';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { type Gateway, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
let gateway: Gateway;
let accountId: string;

beforeAll(async () => {
  [gateway, accountId] = await Promise.all([
    harness.startGateway({ env: { TRUSTED_PROXY_HOPS: '1' } }),
    harness.createAccount(),
  ]);
});

const newClient = () => new PageClient(gateway.url);
const newOwner = () => makeUser(harness.owner, 'merchant', 'owner', accountId);
const STEP = '/dashboard/sign-in/second-step';
const HOME = '/dashboard/test';

/** A code of the step that is `offset` steps from now. */
const codeOf = (secret: string, offset = 0) =>
  generate({ secret, epoch: Math.floor(Date.now() / 1000) + offset * 30 });

/** Sets up an app; the code that confirmed it may be used again, so that no test waits for the next. */
async function enrol(client: PageClient): Promise<{ secret: string; recoveryCodes: string[] }> {
  await client.post('/dashboard/security/totp/start');
  const page = await (await client.get('/dashboard/security/totp')).text();
  const [secret] = /[A-Z2-7]{32}/.exec(page)!;
  const code = await codeOf(secret);
  const confirmed = await client.post('/dashboard/security/totp', { code });
  expect(confirmed.headers.get('location')).toBe('/dashboard/security/recovery-codes');
  const shown = await (await client.get('/dashboard/security/recovery-codes')).text();
  const recoveryCodes = [...shown.matchAll(/<code>([^<]+)<\/code>/g)].map(([, code]) => code!);
  await harness.owner.query('UPDATE totp_secrets SET last_step = 0');
  return { secret, recoveryCodes };
}

/** Attempts that were refused, each from a network of its own. */
async function insertFailures(email: string, step: 'password' | 'code'): Promise<void> {
  await harness.owner.query(
    `INSERT INTO authentication_attempts (kind, email, step, network)
     SELECT 'merchant', ?, ?, '192.0.2.0'::inet + n FROM generate_series(1, ?) AS n`,
    [email, step, FAILURES_OF_EMAIL_MAX],
  );
}

async function enrolledUser(): Promise<{
  user: TestUser;
  client: PageClient;
  secret: string;
  recoveryCodes: string[];
}> {
  const user = await newOwner();
  const client = newClient();
  await client.signIn(user);
  return { user, client, ...(await enrol(client)) };
}

/** A browser after the password. */
async function secondStep(user: TestUser): Promise<PageClient> {
  const client = newClient();
  const answer = await client.signIn(user);
  expect(answer.headers.get('location')).toMatch(STEP);
  expect((await client.get(HOME)).status).toBe(303);
  expect((await client.get(STEP)).status).toBe(200);
  return client;
}

test('an app is set up with a QR code or its key, and is asked for after the password', async () => {
  const user = await newOwner();
  const client = newClient();
  await client.signIn(user);
  await client.post('/dashboard/security/totp/start');
  const page = await (await client.get('/dashboard/security/totp')).text();
  expect(page).toContain('<svg');
  expect(page).not.toContain('style=');
  const wrong = await client.post('/dashboard/security/totp', { code: '000000x' });
  expect(wrong.status).toBe(422);
  // It is not a second factor before a code was right.
  expect((await newClient().signIn(user)).headers.get('location')).toMatch('/sign-in/done');
  const { secret, recoveryCodes } = await enrol(client);
  expect(new Set(recoveryCodes).size).toBe(10);
  const [stored] = await harness.owner.query<{ sealed: Buffer }>(
    'SELECT sealed FROM totp_secrets WHERE user_id = ?',
    [user.id],
  );
  expect(stored!.sealed.toString('latin1')).not.toContain(secret);

  const other = await secondStep(user);
  expect((await other.post(STEP, { code: '12345' })).status).toBe(401);
  const fixed = 'A'.repeat(43);
  other.cookies.set('__Host-gateway_dashboard', fixed);
  const done = await other.post(STEP, { code: await codeOf(secret), next: '/dashboard/live' });
  expect(other.cookies.get('__Host-gateway_dashboard')).not.toBe(fixed);
  expect(done.headers.get('location')).toMatch('done?next=%2Fdashboard%2Flive');
  expect((await other.get(HOME)).status).toBe(200);
});

test('a code works once, also in sign-ins at the same time, and not after the password changed', async () => {
  const { user, secret } = await enrolledUser();
  const clients = await Promise.all([1, 2, 3, 4].map(() => secondStep(user)));
  const code = await codeOf(secret);
  const answers = await Promise.all(clients.map((client) => client.post(STEP, { code })));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401]);
  // Not an earlier one either.
  const earlier = await codeOf(secret, -1);
  expect((await (await secondStep(user)).post(STEP, { code: earlier })).status).toBe(401);
  const late = await secondStep(user);
  await harness.owner.query("UPDATE users SET password_hash = 'x' WHERE id = ?", [user.id]);
  const answer = await late.post(STEP, { code: await codeOf(secret, 1) });
  expect(answer.headers.get('location')).toBe('/dashboard/sign-in?expired');
});

test('a second step of another site, or a forged one, leads back to the password', async () => {
  const { user, secret } = await enrolledUser();
  const client = await secondStep(user);
  const step = client.cookies.get('gateway_dashboard_step')!;
  const code = await codeOf(secret);
  for (const [path, cookie, value] of [
    ['/console/sign-in/second-step', 'gateway_console_step', step],
    [STEP, 'gateway_dashboard_step', `${step.slice(0, -4)}AAAA`],
    [STEP, 'gateway_dashboard_step', 'x'],
  ] as const) {
    const other = newClient();
    other.cookies.set(cookie, value);
    expect((await other.post(path, { code })).headers.get('location')).toMatch('sign-in?expired');
  }
  const cross = await client.post(STEP, { code }, { 'sec-fetch-site': 'same-site' });
  expect(cross.status).toBe(403);
  expect((await client.post(STEP, { code })).status).toBe(303);
});

test('each recovery code works once, also at the same time, and new codes replace them', async () => {
  const { user, client, recoveryCodes } = await enrolledUser();
  const clients = await Promise.all([1, 2, 3].map(() => secondStep(user)));
  const [code, second] = recoveryCodes;
  const answers = await Promise.all(
    clients.map((one) => one.post(STEP, { code: code!.toUpperCase() })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
  expect(await (await client.get('/dashboard/security')).text()).toContain('9 of 10');
  // They are shown once.
  const again = await client.get('/dashboard/security/recovery-codes');
  expect(again.headers.get('location')).toBe('/dashboard/security');
  const replaced = await client.post('/dashboard/security/recovery-codes');
  expect(replaced.headers.get('location')).toBe('/dashboard/security/recovery-codes');
  expect((await (await secondStep(user)).post(STEP, { code: second! })).status).toBe(401);
});

test('wrong codes from elsewhere do not lock out a known browser or a recovery code', async () => {
  const { user, client, secret, recoveryCodes } = await enrolledUser();
  const from = (n: number) => ({
    'sec-fetch-site': 'same-origin',
    'x-forwarded-for': `203.0.113.${n}`,
  });
  const { email, password } = user;
  const attacker = newClient();
  await insertFailures(email, 'code');
  await attacker.post('/dashboard/sign-in', { email, password }, from(1));
  // The right code is not even checked there.
  const limited = await attacker.post(STEP, { code: await codeOf(secret) }, from(99));
  expect(limited.status).toBe(429);
  await client.post('/dashboard/sign-out');
  await client.post('/dashboard/sign-in', { email, password }, from(100));
  expect((await client.post(STEP, { code: await codeOf(secret) }, from(100))).status).toBe(303);
  const phone = newClient();
  await phone.post('/dashboard/sign-in', { email, password }, from(101));
  expect((await phone.post(STEP, { code: recoveryCodes[0]! }, from(101))).status).toBe(303);
});

test('passwords that many networks try are slowed down, but not where the user is known', async () => {
  const user = await newOwner();
  const home = newClient();
  const from = (address: string) => ({
    'sec-fetch-site': 'same-origin',
    'x-forwarded-for': address,
  });
  const { email, password } = user;
  const right = { email, password };
  await home.post('/dashboard/sign-in', right, from('198.51.100.7'));
  await home.post('/dashboard/sign-out');
  const nobody = { email: `not-${email}`, password };
  // Attempts that are just as many for an email address that nobody has get the same answer.
  for (const form of [right, nobody]) {
    await insertFailures(form.email, 'password');
    const limited = await newClient().post('/dashboard/sign-in', form, from('203.0.113.99'));
    expect(limited.status).toBe(429);
  }
  // The same network with another browser, and the same browser in another network.
  const sameNetwork = await newClient().post('/dashboard/sign-in', right, from('198.51.100.7'));
  expect(sameNetwork.status).toBe(303);
  expect((await home.post('/dashboard/sign-in', right, from('203.0.113.98'))).status).toBe(303);
});

test('changes of the second factor ask to sign in again, and lead back', async () => {
  const { user, client, secret } = await enrolledUser();
  await harness.owner.query(
    "UPDATE sessions SET authenticated_at = now() - interval '11 minutes' WHERE user_id = ?",
    [user.id],
  );
  const confirm = '/dashboard/confirm?next=%2Fdashboard%2Fsecurity';
  for (const path of ['totp/remove', 'recovery-codes', 'totp/start']) {
    const answer = await client.post(
      `/dashboard/security/${path}`,
      {},
      { 'sec-fetch-site': 'same-origin', referer: `${gateway.url}/dashboard/security` },
    );
    expect(answer.headers.get('location')).toBe(confirm);
  }
  expect((await client.get(confirm)).status).toBe(200);
  const { password } = user;
  const next = '/dashboard/security';
  for (const form of [
    { password: 'wrong-password', code: await codeOf(secret) },
    { password, code: '000000x' },
    { password, code: '' },
  ]) {
    expect((await client.post('/dashboard/confirm', { ...form, next })).status).toBe(401);
  }
  const code = await codeOf(secret);
  const confirmed = await client.post('/dashboard/confirm', { password, code, next });
  expect(confirmed.headers.get('location')).toBe(next);
  const evil = await client.post('/dashboard/confirm', {
    password,
    code: await codeOf(secret, 1),
    next: 'https://evil.example/dashboard/',
  });
  expect(evil.headers.get('location')).toBe(HOME);
  expect((await client.post('/dashboard/security/totp/remove')).status).toBe(303);
  expect((await newClient().signIn(user)).headers.get('location')).toMatch('/sign-in/done');
  const log = await harness.owner.query<{ action: string }>(
    'SELECT action FROM audit_log WHERE object_id = ? ORDER BY id',
    [user.id],
  );
  expect(log.map(({ action }) => action)).toEqual([
    'user.create',
    'user.sign_in',
    'user.add_totp',
    'user.remove_totp',
    'user.sign_in',
  ]);
});

test('a known browser has a budget of its own, and not without end', async () => {
  const user = await newOwner();
  const client = newClient();
  await client.signIn(user);
  const wrong = { email: user.email, password: 'wrong-password' };
  for (let n = 0; n < FAILURES_OF_PAIR_MAX; n++) {
    expect((await client.post('/dashboard/sign-in', wrong)).status).toBe(401);
  }
  expect((await client.post('/dashboard/sign-in', wrong)).status).toBe(429);
});

test('forged and malformed answers of a passkey prove nothing', async () => {
  const user = await newOwner();
  const client = newClient();
  const page = await client.get('/dashboard/sign-in/passkey');
  expect(page.status).toBe(200);
  const ticket = client.cookies.get('gateway_dashboard_passkey')!;
  const answers = ['', '{', 'null', '[]', '{"id":1}', '{"id":"x"}', '{"id":"x","response":{}}'];
  for (const response of answers) {
    expect((await client.post('/dashboard/sign-in/passkey', { response })).status).toBe(401);
    client.cookies.set('gateway_dashboard_passkey', ticket);
  }
  await client.signIn(user);
  expect((await client.get('/dashboard/security/passkeys/new')).status).toBe(200);
  for (const response of answers) {
    const form = { response, name: 'x' };
    expect((await client.post('/dashboard/security/passkeys/new', form)).status).toBe(422);
    expect((await client.post('/dashboard/confirm/passkey', { response })).status).toBe(401);
  }
});

test('a person changes the password, and the other sessions end', async () => {
  const user = await newOwner();
  const [here, there] = [newClient(), newClient()];
  await Promise.all([here.signIn(user), there.signIn(user)]);
  const change = (password: string) => here.post('/dashboard/security/password', { password });
  expect((await change('short')).status).toBe(422);
  const password = 'a new password of 12 or more';
  expect((await change(password)).headers.get('location')).toBe('/dashboard/security?changed');
  expect((await here.get(HOME)).status).toBe(200);
  expect((await there.get(HOME)).status).toBe(303);
  const { email } = user;
  expect((await newClient().post('/dashboard/sign-in', { email, password })).status).toBe(303);
});
