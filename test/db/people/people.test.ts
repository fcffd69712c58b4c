/** People and invitations over HTTP: who may invite whom, what a link does, and who cannot be removed. */
import { generate } from 'otplib';
import { addMembership } from '../../../src/db/people/people';
import { withClient } from '../../../src/db/provision';
import { newId } from '../../../src/platform/lib/new-id';
import { requireSecondFactor } from '../../../src/features/people/second-factors';
import { disableUser, resetPassword, vouchForUser } from '../../../src/features/people/users';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { approveAs } from '../../support/merchant/second-person';
import { type Gateway, startHarness } from '../http-harness';
import { started } from '../../support/started';

const PASSWORD = 'a password of 12 or more';
const PROBE = '<script>alert(1)</script>';

const harness = started(startHarness);
let gateway: Gateway;
let accountId: string;
let owner: TestUser;
let client: PageClient;

beforeAll(async () => {
  [gateway, accountId] = await Promise.all([harness.startGateway(), harness.createAccount()]);
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  client = newClient();
  await client.signIn(owner);
});

const newClient = () => new PageClient(gateway.url);
let count = 0;
const newEmail = () => `invited-${++count}@example.com`;

/** @returns the token of the link */
async function invite(
  by: PageClient,
  email: string,
  role: string,
  site = '/dashboard',
): Promise<string> {
  const created = await by.post(`${site}/people/invite`, { email, role });
  expect(created.headers.get('location')).toBe(`${site}/people/invited`);
  const shown = await (await by.get(`${site}/people/invited`)).text();
  const [, token] = /https:\/\/pay\.example\.com\S*\/invitation\?token=([\w-]{43})/.exec(shown)!;
  // It is shown once.
  expect((await by.get(`${site}/people/invited`)).status).toBe(303);
  return token!;
}

/** With the approval of another admin. @returns the token of the link */
async function inviteOperator(by: PageClient, email: string, role: string): Promise<string> {
  const token = await invite(by, email, role, '/console');
  const other = newClient();
  await other.signIn(await makeUser(harness.owner, 'operator', 'admin'));
  const sql = 'SELECT id FROM invitations WHERE email = ? ORDER BY created_at DESC LIMIT 1';
  const [found] = await harness.owner.query<{ id: string }>(sql, [email]);
  const approved = await other.post(`/console/people/invitations/${found!.id}/approve`);
  expect(approved.status).toBe(303);
  return token;
}

const accept = (token: string, more: Record<string, string> = {}, site = '/dashboard') =>
  newClient().post(`${site}/invitation`, { token, name: 'New', password: PASSWORD, ...more });

async function signedIn(email: string, site = '/dashboard', password = PASSWORD) {
  const browser = newClient();
  const answer = await browser.post(`${site}/sign-in`, { email, password });
  return { browser, isIn: answer.headers.get('location')?.includes('done') === true };
}

/** The code that confirmed it may be used again, so that no test waits for the next. */
async function enrolTotp(browser: PageClient): Promise<string> {
  await browser.post('/dashboard/security/totp/start');
  const page = await (await browser.get('/dashboard/security/totp')).text();
  const [secret = ''] = /[A-Z2-7]{32}/.exec(page) ?? [];
  await browser.post('/dashboard/security/totp', { code: await generate({ secret }) });
  await harness.owner.query('UPDATE totp_secrets SET last_step = 0');
  return secret;
}

const idOf = async (email: string) => {
  const [user] = await harness.owner.query<{ id: string }>('SELECT id FROM users WHERE email = ?', [
    email,
  ]);
  return user!.id;
};

test('the link of an invitation works for the days that the page says', async () => {
  const email = newEmail();
  await invite(client, email, 'developer');
  const [found] = await harness.owner.query<{ days: number }>(
    `SELECT extract(epoch FROM expires_at - created_at)::float / 86400 AS days FROM invitations WHERE email = ?`,
    [email],
  );
  expect(found?.days).toBeCloseTo(3, 3);
  const form = await (await client.get('/dashboard/people/invite')).text();
  expect(form).toContain('It works once, for 3 days.');
});

test('an invited person sets a name and a password, signs in, and gets the role', async () => {
  const email = newEmail();
  const token = await invite(client, email, 'developer');
  const page = await (await newClient().get(`/dashboard/invitation?token=${token}`)).text();
  expect(page).toContain(email);
  expect((await accept(token, { password: 'short' })).status).toBe(422);
  expect((await accept(token, { name: ' ' })).status).toBe(422);
  expect((await accept(token, { name: 'x'.repeat(101) })).status).toBe(422);
  const accepted = await accept(token, { name: PROBE });
  // The password signs in at once, and the link alone never.
  expect(accepted.headers.get('location')).toMatch(/^\/dashboard\/sign-in\/done/);
  expect(accepted.headers.getSetCookie().join()).toContain('gateway_dashboard=');
  const { browser, isIn } = await signedIn(email);
  expect(isIn).toBe(true);
  expect((await browser.get('/dashboard/test/keys/new')).status).toBe(200);
  expect((await browser.get('/dashboard/people/invite')).status).toBe(403);
  const people = await (await client.get('/dashboard/people')).text();
  expect(people).not.toContain(PROBE);
  expect(people).toContain('&lt;script>alert(1)');
});

test('a link works once, also at the same time, and not when revoked or expired, or elsewhere', async () => {
  const token = await invite(client, newEmail(), 'viewer');
  expect((await newClient().get(`/console/invitation?token=${token}`)).status).toBe(404);
  expect((await accept(token, {}, '/console')).status).toBe(404);
  const answers = await Promise.all([1, 2, 3].map(() => accept(token)));
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  expect((await accept(token)).status).toBe(404);
  // Also for somebody who has a user already.
  const member = await makeUser(harness.owner, 'merchant', 'viewer', await harness.createAccount());
  const joining = await invite(client, member.email, 'viewer');
  const { password } = member;
  const joined = await Promise.all([1, 2, 3].map(() => accept(joining, { password })));
  expect(joined.filter(({ status }) => status === 303)).toHaveLength(1);

  const revoked = await invite(client, newEmail(), 'viewer');
  const list = await (await client.get('/dashboard/people')).text();
  const [, id] = /invitations\/(inv_\w+)\/revoke/.exec(list)!;
  const other = await harness.createAccount();
  const stranger = newClient();
  await stranger.signIn(await makeUser(harness.owner, 'merchant', 'owner', other));
  const revoke = `/dashboard/people/invitations/${id}/revoke`;
  expect((await stranger.post(revoke)).status).toBe(404);
  expect((await client.post(revoke)).status).toBe(303);
  expect((await accept(revoked)).status).toBe(404);
  const opened = await newClient().get(`/dashboard/invitation?token=${revoked}`);
  expect(opened.status).toBe(404);

  const expired = await invite(client, newEmail(), 'viewer');
  await harness.owner.query('UPDATE invitations SET expires_at = now()');
  expect((await accept(expired)).status).toBe(404);
  for (const wrong of ['', 'x', 'A'.repeat(43), 'x'.repeat(500)]) {
    expect((await newClient().get(`/dashboard/invitation?token=${wrong}`)).status).toBe(404);
  }
  const [stored] = await harness.owner.query<{ hash: Buffer }>(
    'SELECT token_hash AS hash FROM invitations LIMIT 1',
  );
  expect(stored!.hash).toHaveLength(32);
});

test('inviting does not tell who has a user, and the owner of the user joins with its password', async () => {
  const other = await harness.createAccount();
  const known = await makeUser(harness.owner, 'merchant', 'owner', other);
  const token = await invite(client, known.email, 'viewer');
  const unknown = await invite(client, newEmail(), 'viewer');
  const pages = await Promise.all(
    [token, unknown].map(async (one) => {
      const html = await (await newClient().get(`/dashboard/invitation?token=${one}`)).text();
      return html.replaceAll(one, '').replaceAll(/[\w-]+@example\.com/g, '');
    }),
  );
  expect(pages[0]).toBe(pages[1]);
  expect((await accept(token)).status).toBe(401);
  expect((await accept(token, { password: known.password })).status).toBe(303);
  const { browser } = await signedIn(known.email, '/dashboard', known.password);
  const page = await (await browser.get('/dashboard/accounts')).text();
  expect(page).toContain(accountId);
  expect((await browser.get('/dashboard/people/invite')).status).toBe(200);
  const switched = await browser.post('/dashboard/accounts', { account: accountId });
  expect(switched.headers.get('location')).toBe('/dashboard/test');
  // A viewer there.
  expect((await browser.get('/dashboard/people/invite')).status).toBe(403);
  const foreign = await harness.createAccount();
  expect((await browser.post('/dashboard/accounts', { account: foreign })).status).toBe(404);
});

test('roles change at once, removed people are signed out, and the last owner stays', async () => {
  const id = await harness.createAccount();
  const [first, second] = [
    await makeUser(harness.owner, 'merchant', 'owner', id),
    await makeUser(harness.owner, 'merchant', 'owner', id),
  ];
  const [one, two] = [newClient(), newClient()];
  await Promise.all([one.signIn(first), two.signIn(second)]);
  // Each removes the other at the same time: one is left.
  const answers = await Promise.all([
    one.post(`/dashboard/people/${second.id}/remove`),
    two.post(`/dashboard/people/${first.id}/remove`),
  ]);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 303).length).toBeGreaterThanOrEqual(1);
  const left = await harness.owner.query<{ userId: string }>(
    'SELECT user_id FROM memberships WHERE account_id = ?',
    [id],
  );
  expect(left).toHaveLength(1);
  const [winner, loser] = left[0]!.userId === first.id ? [one, two] : [two, one];
  expect((await loser.get('/dashboard/test')).headers.get('location')).toMatch('sign-in');
  const self = left[0]!.userId;
  expect((await winner.post(`/dashboard/people/${self}/remove`)).status).toBe(409);
  expect((await winner.post(`/dashboard/people/${self}/role`, { role: 'viewer' })).status).toBe(
    409,
  );
  expect((await winner.post(`/dashboard/people/${self}/role`, { role: 'admin' })).status).toBe(422);
  expect((await winner.post(`/dashboard/people/${owner.id}/role`, { role: 'viewer' })).status).toBe(
    404,
  );
  const member = await makeUser(harness.owner, 'merchant', 'viewer', id);
  const browser = newClient();
  await browser.signIn(member);
  const role = `/dashboard/people/${member.id}/role`;
  expect((await winner.post(role, { role: 'owner' })).status).toBe(303);
  expect((await browser.get('/dashboard/people/invite')).status).toBe(200);
});

test('operators are invited, removed and invited again, and the last admin stays', async () => {
  const admin = await makeUser(harness.owner, 'operator', 'admin');
  const console = newClient();
  await console.signIn(admin);
  expect((await console.post(`/console/people/${admin.id}/remove`)).status).toBe(409);
  const email = newEmail();
  const token = await inviteOperator(console, email, 'reviewer');
  expect((await accept(token, {}, '/console')).status).toBe(303);
  const { browser, isIn } = await signedIn(email, '/console');
  expect(isIn).toBe(true);
  const taken = await console.post('/console/people/invite', { email, role: 'viewer' });
  expect(taken.status).toBe(409);
  expect((await console.post(`/console/people/${await idOf(email)}/remove`)).status).toBe(303);
  expect((await browser.get('/console/home')).status).toBe(303);
  expect((await signedIn(email, '/console')).isIn).toBe(false);
  // Nobody becomes this user by a link; the admin command brings the person back.
  const again = await console.post('/console/people/invite', { email, role: 'viewer' });
  expect(again.status).toBe(409);
  expect(await again.text()).toContain('belongs to an operator who was removed or disabled');
  const by = { actor: 'shell', reason: null };
  await disableUser(harness.owner, by, 'operator', email, false);
  expect((await signedIn(email, '/console')).isIn).toBe(true);
});

describe('two admins', () => {
  let first: TestUser;
  let second: TestUser;
  let one: PageClient;
  let two: PageClient;

  beforeEach(async () => {
    [first, second] = [
      await makeUser(harness.owner, 'operator', 'admin'),
      await makeUser(harness.owner, 'operator', 'admin'),
    ];
    [one, two] = [newClient(), newClient()];
    await Promise.all([one.signIn(first), two.signIn(second)]);
  });

  const invitationOf = async (email: string) => {
    const sql = 'SELECT id FROM invitations WHERE email = ?';
    const [found] = await harness.owner.query<{ id: string }>(sql, [email]);
    return found!.id;
  };
  const roleOf = async ({ id }: Pick<TestUser, 'id'>) => {
    const sql = 'SELECT operator_role AS role FROM users WHERE id = ?';
    const [found] = await harness.owner.query<{ role: string }>(sql, [id]);
    return found!.role;
  };

  test('let an operator in: the link of one works after the approval of the other', async () => {
    const email = newEmail();
    const token = await invite(one, email, 'admin', '/console');
    expect((await accept(token, {}, '/console')).status).toBe(404);
    const path = `/console/people/invitations/${await invitationOf(email)}/approve`;
    const own = await one.post(path);
    expect(own.status).toBe(409);
    expect(await own.text()).toContain('proposed this change');
    expect(await (await one.get('/console/people')).text()).toContain('Another admin must approve');
    const answers = await Promise.all([two.post(path), two.post(path)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect((await accept(token, {}, '/console')).status).toBe(303);
    expect((await signedIn(email, '/console')).isIn).toBe(true);
  });

  test('raise a role; a lower one takes effect at once', async () => {
    const person = await makeUser(harness.owner, 'operator', 'viewer');
    const role = (wish: string) => one.post(`/console/people/${person.id}/role`, { role: wish });
    const approve = (by: PageClient) => by.post(`/console/people/${person.id}/role/approve`);
    expect((await role('admin')).status).toBe(303);
    expect(await roleOf(person)).toBe('viewer');
    expect((await approve(one)).status).toBe(409);
    expect(await (await two.get('/console/people')).text()).toContain('proposed by');
    expect((await approve(two)).status).toBe(303);
    expect(await roleOf(person)).toBe('admin');
    expect((await approve(two)).status).toBe(409);
    expect((await role('viewer')).status).toBe(303);
    expect(await roleOf(person)).toBe('viewer');
    // A proposal that was rejected cannot be approved.
    expect((await role('reviewer')).status).toBe(303);
    expect((await two.post(`/console/people/${person.id}/role/reject`)).status).toBe(303);
    expect((await approve(two)).status).toBe(409);
    expect(await roleOf(person)).toBe('viewer');
  });

  test('are not two when one brought in the other in the last 30 days, and the page says why', async () => {
    const email = newEmail();
    const token = await invite(one, email, 'admin', '/console');
    await two.post(`/console/people/invitations/${await invitationOf(email)}/approve`);
    expect((await accept(token, {}, '/console')).status).toBe(303);
    const { browser: hat } = await signedIn(email, '/console');
    // The second hat approves nothing of the first, and the first nothing of the second.
    const next = newEmail();
    await invite(one, next, 'admin', '/console');
    const path = `/console/people/invitations/${await invitationOf(next)}/approve`;
    const refused = await hat.post(path);
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('does not count with the proposal of');
    const third = newEmail();
    await invite(hat, third, 'admin', '/console');
    const back = `/console/people/invitations/${await invitationOf(third)}/approve`;
    expect((await one.post(back)).status).toBe(409);
    // An amount for two approvals as well.
    const change = { currency: 'BTC', above: '3', reason: 'A test' };
    expect((await one.post('/console/four-eyes', change)).status).toBe(303);
    const confirmed = await hat.post('/console/four-eyes/confirm', change);
    expect(confirmed.status).toBe(409);
    expect(await confirmed.text()).toContain('does not count with the proposal of');
    expect((await two.post('/console/four-eyes/confirm', change)).status).toBe(303);
    // A month later they are two.
    await withoutAuditGuard(
      `UPDATE audit_log SET at = now() - interval '31 days' WHERE action = 'user.join' AND after->>'email' = '${email}'`,
    );
    expect((await hat.post(path)).status).toBe(303);
  });
});

/** The audit log refuses every change, also to the owner. */
async function withoutAuditGuard(sql: string): Promise<void> {
  await withClient(harness.database.ownerUrl, async (superuser) => {
    await superuser.query("SET session_replication_role = 'replica'");
    await superuser.query(sql);
  });
}

test('a disabled operator stays disabled whoever invites', async () => {
  const by = { actor: 'test', reason: null };
  const console = newClient();
  await console.signIn(await makeUser(harness.owner, 'operator', 'admin'));
  const gone = await makeUser(harness.owner, 'operator', 'reviewer');
  await disableUser(harness.owner, by, 'operator', gone.email, true);
  const wish = { email: gone.email.toUpperCase(), role: 'admin' };
  expect((await console.post('/console/people/invite', wish)).status).toBe(409);
  // Also when the invitation is older than the user's end.
  const email = newEmail();
  const token = await inviteOperator(console, email, 'admin');
  expect((await accept(token, {}, '/console')).status).toBe(303);
  await harness.owner.query('UPDATE invitations SET accepted_at = NULL WHERE email = ?', [email]);
  expect((await console.post(`/console/people/${await idOf(email)}/remove`)).status).toBe(303);
  expect((await accept(token, {}, '/console')).status).toBe(401);
  expect((await signedIn(email, '/console')).isIn).toBe(false);
});

describe('an address that an account has invited', () => {
  let attacker: PageClient;
  let email: string;
  let secret: string;
  let invited: string;

  /** The owner of an account invites a stranger's address, uses the link, and sets up factors. */
  beforeEach(async () => {
    email = newEmail();
    expect((await accept(await invite(client, email, 'owner'))).status).toBe(303);
    ({ browser: attacker } = await signedIn(email));
    secret = await enrolTotp(attacker);
    await harness.owner.query(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name)
       VALUES (?, ?, ?, '', 0, '{}', 'of the attacker')`,
      [newId('passkey'), await idOf(email), newId('passkey')],
    );
    const other = await harness.createAccount();
    const colleague = newClient();
    await colleague.signIn(await makeUser(harness.owner, 'merchant', 'owner', other));
    invited = await invite(colleague, email, 'owner');
  });

  test('acts in no other account before an operator vouches', async () => {
    const refused = await accept(invited, { password: 'what the person chose' });
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('nobody has confirmed yet that the address is yours');
    expect((await accept(invited)).status).toBe(409);
    // A second step that a sign-in began is no way around it.
    const step = newClient();
    await step.post('/dashboard/sign-in', { email, password: PASSWORD });
    const form = { token: invited, code: await generate({ secret }) };
    expect((await step.post('/dashboard/invitation/second-step', form)).status).toBe(409);
    expect((await step.get(`/dashboard/invitation?token=${invited}`)).status).toBe(200);
  });

  test('joins no account even if the page forgets to ask', async () => {
    const other = await harness.createAccount();
    const membership = { userId: await idOf(email), accountId: other, role: 'owner' as const };
    const add = () => harness.owner.transaction((tx) => addMembership(tx, membership));
    expect(await add()).toBe(false);
    // A membership of before the rule has no effect.
    const insert = "INSERT INTO memberships (user_id, account_id, role) VALUES (?, ?, 'owner')";
    await harness.owner.query(insert, [membership.userId, other]);
    expect((await attacker.post('/dashboard/accounts', { account: other })).status).toBe(404);
    expect(await (await attacker.get('/dashboard/accounts')).text()).not.toContain(other);
    const move = 'UPDATE sessions SET account_id = ? WHERE user_id = ?';
    await harness.owner.query(move, [other, membership.userId]);
    expect((await attacker.get('/dashboard/test')).headers.get('location')).toMatch('sign-in');
  });

  test('belongs to the person alone once an operator has vouched', async () => {
    const by = { actor: 'test', reason: 'answered from the address' };
    const reset = await resetPassword(harness.owner, by, 'merchant', email);
    expect(reset.removed).toEqual({ totp: true, passkeys: 1 });
    expect((await attacker.get('/dashboard/test')).headers.get('location')).toMatch('sign-in');
    // A new password says nothing about the address.
    expect((await accept(invited, { password: reset.password })).status).toBe(409);
    const { password } = await vouchForUser(harness.owner, by, email);
    expect((await accept(invited)).status).toBe(401);
    expect((await accept(invited, { password })).status).toBe(303);
    expect((await signedIn(email, '/dashboard', password)).isIn).toBe(true);
    expect((await signedIn(email, '/dashboard', reset.password)).isIn).toBe(false);
    const left = await harness.owner.query('SELECT id FROM passkeys WHERE user_id = ?', [
      await idOf(email),
    ]);
    expect(left).toEqual([]);
    // The other account has brought the person in since, which is vouched for once more.
    await vouchForUser(harness.owner, by, email);
    await expect(vouchForUser(harness.owner, by, email)).rejects.toThrow('was confirmed already');
  });
});

describe('one session is not two people', () => {
  type Person = [id: string, browser: PageClient, user: TestUser | null];
  let account: string;
  let made: Person;
  let independent: Person;

  beforeEach(async () => {
    account = await harness.createAccount();
    const rule = `UPDATE accounts SET second_person_above = '{"USDT": "100"}' WHERE id = ?`;
    await harness.owner.query(rule, [account]);
    made = await newPerson('owner');
    independent = await newPerson('owner');
  });

  async function newPerson(role: string): Promise<Person> {
    const user = await makeUser(harness.owner, 'merchant', role, account);
    const browser = newClient();
    await browser.signIn(user);
    return [user.id, browser, user];
  }

  async function sockPuppet([, by]: Person, role = 'owner'): Promise<Person> {
    const email = newEmail();
    expect((await accept(await invite(by, email, role))).status).toBe(303);
    return [await idOf(email), (await signedIn(email)).browser, null];
  }

  /** As if the link had been mailed, or the invitation were a month old. */
  const prove = ([id]: Person) =>
    harness.owner.query('UPDATE users SET bound_account_id = NULL WHERE id = ?', [id]);

  /** What comes of the approval of a recipient that the maker made. */
  async function approves([user, by]: Person, [makerId]: Person = made) {
    const id = newId('recipient');
    const [{ version } = { version: '' }] = await harness.owner.query<{ version: string }>(
      `INSERT INTO recipients (id, account_id, mode, name, currency, network, destination_type,
                               destination_value, created_by, second_person)
       VALUES (?, ?, 'test', 'Ada', 'USDT', 'tron', 'crypto_address', 'T1', ?, ?)
       RETURNING extract(epoch FROM destination_since)::text AS version`,
      [id, account, makerId, makerId],
    );
    const page = `/dashboard/test/recipients/${id}`;
    const offers = (await by.read(page)).includes(`/second-person/${id}/approve`);
    const answer = await approveAs(by, id, version);
    const says = /class="problem">.*?<\/section>/s.exec(await answer.text())?.[0] ?? '';
    // The guard decides, whatever a page asks.
    await harness.owner.query(
      `INSERT INTO person_approvals (object_id, version, user_id) VALUES (?, ?, ?)
       ON CONFLICT DO NOTHING`,
      [id, version, user],
    );
    const waits = (await by.read(page)).includes('Waiting for two-person approval');
    return { status: answer.status, says, offers, waits };
  }
  const refused = (says: string) => ({
    status: 409,
    says: expect.stringContaining(says),
    offers: false,
    waits: true,
  });
  const counted = expect.objectContaining({ status: 303, offers: true, waits: false });
  const RELATED = 'one of you invited the other';

  test('an address that the maker invited, and reads the link of, approves nothing', async () => {
    const puppet = await sockPuppet(made);
    expect(await approves(puppet)).toEqual(refused(RELATED));
    await prove(puppet);
    expect(await approves(puppet)).toEqual(refused(RELATED));
    // Nor the other way round.
    expect(await approves(made, puppet)).toEqual(refused(RELATED));
    expect(await approves(independent, puppet)).toEqual(counted);
  });

  test('nor does whom that person brings in, or a second one whom the maker invited', async () => {
    const puppet = await sockPuppet(made);
    const other = await sockPuppet(puppet, 'finance');
    const sibling = await sockPuppet(made, 'finance');
    for (const one of [puppet, other, sibling]) await prove(one);
    expect(await approves(other)).toEqual(refused(RELATED));
    expect(await approves(other, sibling)).toEqual(refused(RELATED));
    expect(await approves(independent)).toEqual(counted);
  });

  test('nor who got the role or a new password from the maker, in the last 30 days', async () => {
    const viewer = await newPerson('viewer');
    const raise = `/dashboard/people/${viewer[0]}/role`;
    expect((await made[1].post(raise, { role: 'finance' })).status).toBe(303);
    expect(await approves(viewer)).toEqual(refused(RELATED));
    const [id, browser, user] = await newPerson('finance');
    expect(await approves([id, browser, user])).toEqual(counted);
    const by = { actor: made[2]!.email, reason: 'asked for it' };
    const { password } = await resetPassword(harness.owner, by, 'merchant', user!.email);
    await browser.signIn({ ...user!, password });
    expect(await approves([id, browser, user])).toEqual(refused(RELATED));
    const old = `UPDATE audit_log SET at = now() - interval '31 days' WHERE object_id = '${id}'`;
    await withoutAuditGuard(old);
    expect(await approves([id, browser, user])).toEqual(counted);
  });

  test('a person whose address nobody has proven approves nothing before an operator vouches', async () => {
    const [id, browser] = await sockPuppet(independent);
    const unproven = refused('nobody has confirmed that the email address');
    expect(await approves([id, browser, null])).toEqual(unproven);
    const [user] = await harness.owner.query<{ email: string }>(
      'SELECT email FROM users WHERE id = ?',
      [id],
    );
    const by = { actor: 'test', reason: 'answered from the address' };
    const { password } = await vouchForUser(harness.owner, by, user!.email);
    const vouched: Person = [
      id,
      (await signedIn(user!.email, '/dashboard', password)).browser,
      null,
    ];
    expect(await approves(vouched)).toEqual(counted);
    // Vouching tells the two people apart as well.
    expect(await approves(vouched, independent)).toEqual(counted);
  });
});

test('who has a user accepts with the password and the second factor', async () => {
  const member = await makeUser(harness.owner, 'merchant', 'viewer', await harness.createAccount());
  const home = newClient();
  await home.signIn(member);
  const secret = await enrolTotp(home);
  const token = await invite(client, member.email, 'developer');
  const browser = newClient();
  const form = { token, name: 'Known', password: member.password };
  const asked = await browser.post('/dashboard/invitation', form);
  const step = '/dashboard/invitation/second-step';
  expect(asked.headers.get('location')).toBe(`${step}?token=${token}`);
  expect(await (await home.get('/dashboard/accounts')).text()).not.toContain(accountId);
  expect(await (await browser.get(`${step}?token=${token}`)).text()).toContain('Second step');
  expect((await browser.post(step, { token, code: '000000' })).status).toBe(401);
  expect((await browser.post(`${step}/passkey`, { token, response: '{}' })).status).toBe(401);
  // The step is of one person.
  const foreign = await invite(client, newEmail(), 'developer');
  const code = await generate({ secret });
  expect((await browser.post(step, { token: foreign, code })).status).toBe(404);
  const without = await newClient().post(step, { token, code });
  expect(without.headers.get('location')).toBe(`/dashboard/invitation?token=${token}`);
  expect(await (await home.get('/dashboard/accounts')).text()).not.toContain(accountId);
  const accepted = await browser.post(step, { token, code });
  expect(accepted.headers.get('location')).toBe('/dashboard/sign-in?accepted');
  expect(await (await home.get('/dashboard/accounts')).text()).toContain(accountId);
});

test('where a second factor is required, nothing else is served before it is set up', async () => {
  const id = await harness.createAccount();
  const member = await makeUser(harness.owner, 'merchant', 'owner', id);
  const browser = newClient();
  await browser.signIn(member);
  const on = await browser.post('/dashboard/people/second-factor', { required: 'yes' });
  expect(on.status).toBe(303);
  for (const path of ['/dashboard/test', '/dashboard/people', '/dashboard/test/keys']) {
    expect((await browser.get(path)).headers.get('location')).toBe('/dashboard/security');
  }
  const security = await (await browser.get('/dashboard/security')).text();
  expect(security).toContain('Set up two-step verification to continue.');
  const back = '/dashboard/people/second-factor';
  expect((await browser.post(back, { required: 'no' })).headers.get('location')).toBe(
    '/dashboard/security',
  );
  await requireSecondFactor(harness.owner, { actor: 'test', reason: null }, id, false);
  expect((await browser.get('/dashboard/test')).status).toBe(200);
  // Others are not concerned.
  expect((await client.get('/dashboard/test')).status).toBe(200);
});

test('an operator without the required second factor sets one up before anything else', async () => {
  const by = { actor: 'test', reason: null };
  const browser = newClient();
  await browser.signIn(await makeUser(harness.owner, 'operator', 'admin'));
  expect((await browser.get('/console/home')).status).toBe(200);
  await requireSecondFactor(harness.owner, by, null, true);
  try {
    for (const path of ['home', 'queue', 'accounts', 'payouts/po_1', 'people']) {
      const led = await browser.get(`/console/${path}`);
      expect(led.headers.get('location')).toBe('/console/security');
    }
    for (const path of ['queue/approve', 'pauses', 'people/second-factor']) {
      const led = await browser.post(`/console/${path}`, { required: 'no' });
      expect(led.headers.get('location')).toBe('/console/security');
    }
    const security = await (await browser.get('/console/security')).text();
    expect(security).toContain('Set up two-step verification to continue.');
    await browser.post('/console/security/totp/start');
    const page = await (await browser.get('/console/security/totp')).text();
    const [secret = ''] = /[A-Z2-7]{32}/.exec(page) ?? [];
    await browser.post('/console/security/totp', { code: await generate({ secret }) });
    expect((await browser.get('/console/home')).status).toBe(200);
  } finally {
    await requireSecondFactor(harness.owner, by, null, false);
  }
});

test('bad input is refused plainly', async () => {
  const cases: [Record<string, string>, number][] = [
    [{ email: `${'x'.repeat(300)}@example.com`, role: 'viewer' }, 422],
    [{ email: 'a\0@example.com', role: 'viewer' }, 422],
    [{ email: 'a\u0007@example.com', role: 'viewer' }, 422],
    [{ email: 'not an address', role: 'viewer' }, 422],
    [{ email: newEmail(), role: 'admin' }, 422],
    [{}, 422],
  ];
  for (const [form, status] of cases) {
    expect((await client.post('/dashboard/people/invite', form)).status).toBe(status);
  }
  const invalid = await fetch(`${gateway.url}/dashboard/sign-in`, {
    method: 'POST',
    body: 'email=%ff%fe&password=%c3%28',
    headers: {
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    },
  });
  expect(invalid.status).toBe(401);
});
