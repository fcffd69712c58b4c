/**
 * Invitations and new passwords by mail, over HTTP and a real mail server: only the person at the address gets the
 * link, nobody learns who has a user, and a link does no more than it should.
 */
import { generate } from 'otplib';
import { addressNotifications } from '../../../activities/notifications/address';
import type { NotificationDeps } from '../../../activities/notifications/deps';
import { sendMessage } from '../../../activities/notifications/send-message';
import { connect } from '../../../src/db/connect';
import type { Db } from '../../../src/db/transaction';
import { disableUser, resetPassword } from '../../../src/features/people/users';
import { makeUser, PageClient, signedIn, type TestUser } from '../../support/merchant/page-client';
import { notificationDeps } from '../notification-deps';
import { whenWaiting } from '../lock-waits';
import { type MailServer, startMailServer } from '../../support/servers/mail-server';
import { started } from '../../support/started';
import { startHarness } from '../http-harness';

const PASSWORD = 'a password of 12 or more';
const HTTPS_LINK = /https:\/\/\S+\/(invitation|reset-password)\?token=([\w-]{43})/;

const harness = started(startHarness);
const server = started(startMailServer);
const gateway = started(() =>
  harness.startGateway({
    env: { MAIL_FROM: 'Payments <payments@example.com>', TRUSTED_PROXY_HOPS: '1' },
  }),
);
let worker: Db;
let deps: NotificationDeps;
let accountId: string;
let owner: TestUser;

beforeAll(async () => {
  const url = harness.database.workerUrl;
  worker = connect({ url, size: 2, applicationName: 'link-mails-test' });
  deps = notificationDeps(worker, server);
  accountId = await harness.createAccount();
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
});

afterAll(() => worker.destroy());

beforeEach(async () => {
  await deliver();
  server.mails.length = 0;
  server.refuseWith(null);
});

const newClient = () => new PageClient(gateway.url);

/** What the schedule does. @returns the statuses of the messages */
async function deliver(): Promise<string[]> {
  const ids = await addressNotifications(deps);
  return Promise.all(ids.map((id) => sendMessage(deps, id)));
}

/** @returns the token of the only mail to the address, and the site of its link */
function linkTo(email: string): { token: string; site: string } {
  const links = linksTo(email);
  expect(links).toHaveLength(1);
  const [url, , token] = HTTPS_LINK.exec(links[0]!.source)!;
  return { token: token!, site: url.includes('ops.example/console/') ? '/console' : '/dashboard' };
}

/** The mails to an address that have a link; sign-ins are told by others. */
const linksTo = (email: string): MailServer['mails'] =>
  server.mails.filter(({ to, source }) => to.includes(email) && HTTPS_LINK.test(source));

let networks = 0;
/** Asks from a network of its own, unless another one is given. */
const ask = (email: string, site = '/dashboard', address = `198.51.100.${++networks}`) =>
  newClient().post(
    `${site}/forgotten-password`,
    { email },
    { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': address },
  );

/** @returns the token of the link that the mail to the user has */
async function resetToken(user: TestUser): Promise<string> {
  const site = user.kind === 'merchant' ? '/dashboard' : '/console';
  expect((await ask(user.email, site)).status).toBe(303);
  expect(await deliver()).toContain('sent');
  const link = linkTo(user.email);
  expect(link.site).toBe(site);
  return link.token;
}

const choose = (token: string, password = PASSWORD, site = '/dashboard', client = newClient()) =>
  client.post(`${site}/reset-password`, { token, password });

async function canSignIn(user: TestUser, password: string): Promise<string> {
  const site = user.kind === 'merchant' ? '/dashboard' : '/console';
  const answer = await newClient().post(`${site}/sign-in`, { email: user.email, password });
  return answer.headers.get('location') ?? String(answer.status);
}

/** The code that confirmed it may be used again, so that no test waits for the next. */
async function enrolTotp(user: TestUser): Promise<() => Promise<string>> {
  const page = await signedIn(gateway.url, user);
  await page.post('/dashboard/security/totp/start');
  const [secret = ''] = /[A-Z2-7]{32}/.exec(await page.read('/dashboard/security/totp')) ?? [];
  await page.post('/dashboard/security/totp', { code: await generate({ secret }) });
  await harness.owner.query('UPDATE totp_secrets SET last_step = 0');
  return () => generate({ secret });
}

const boundOf = async (email: string) => {
  const sql = 'SELECT bound_account_id FROM users WHERE email = ?';
  return (await harness.owner.query<{ boundAccountId: string | null }>(sql, [email]))[0]!
    .boundAccountId;
};

test('an invitation goes to its address only, and proves it: another account can invite the person', async () => {
  const email = 'mailed@example.com';
  const page = await signedIn(gateway.url, owner);
  const invited = await page.post('/dashboard/people/invite', { email, role: 'developer' });
  expect(invited.headers.get('location')).toBe('/dashboard/people?invited');
  // The person who invited sees no link anywhere.
  expect((await page.get('/dashboard/people/invited')).status).toBe(303);
  expect(await deliver()).toContain('sent');
  expect(linksTo(email)).toHaveLength(1);
  expect(linksTo(email)[0]!.source).toContain('Subject: Invitation to Tested merchant');
  expect(await page.read('/dashboard/people')).toContain('>Sent<');

  const { token } = linkTo(email);
  const accept = { token, name: 'New', password: PASSWORD };
  const accepted = await newClient().post('/dashboard/invitation', accept);
  expect(accepted.headers.get('location')).toMatch(/^\/dashboard\/sign-in\/done/);
  expect(await boundOf(email)).toBeNull();
  expect((await newClient().post('/dashboard/invitation', accept)).status).toBe(404);
});

test('without a mail server a link is handed over, and proves nothing', async () => {
  const silent = await harness.startGateway();
  const page = await signedIn(silent.url, owner);
  const email = 'handed@example.com';
  await page.post('/dashboard/people/invite', { email, role: 'viewer' });
  const shown = await page.read('/dashboard/people/invited');
  const [, token] = /invitation\?token=([\w-]{43})/.exec(shown)!;
  await deliver();
  expect(linksTo(email)).toEqual([]);
  const accept = { token: token!, name: 'New', password: PASSWORD };
  expect((await newClient().post('/dashboard/invitation', accept)).status).toBe(303);
  expect(await boundOf(email)).toBe(accountId);

  // Nobody is offered a mail either.
  const visitor = new PageClient(silent.url);
  for (const site of ['/dashboard', '/console']) {
    expect(await newClient().read(`${site}/sign-in`)).toContain(`${site}/forgotten-password`);
    expect(await visitor.read(`${site}/sign-in`)).not.toContain('forgotten-password');
    expect(await visitor.read(`${site}/forgotten-password`)).toContain('sends no mail');
    await visitor.post(`${site}/forgotten-password`, { email: owner.email });
  }
  await deliver();
  expect(linksTo(owner.email)).toEqual([]);
});

test('an operator’s invitation is mailed when another admin has approved it', async () => {
  const [ada, bob] = [
    await makeUser(harness.owner, 'operator', 'admin'),
    await makeUser(harness.owner, 'operator', 'admin'),
  ];
  const email = 'operator-mailed@example.com';
  const page = await signedIn(gateway.url, ada);
  await page.post('/console/people/invite', { email, role: 'viewer' });
  await deliver();
  expect(linksTo(email)).toEqual([]);
  const sql = 'SELECT id FROM invitations WHERE email = ?';
  const [invitation] = await harness.owner.query<{ id: string }>(sql, [email]);
  const again = await page.post(`/console/people/invitations/${invitation!.id}/send`);
  expect(again.status).toBe(404);
  const other = await signedIn(gateway.url, bob);
  await other.post(`/console/people/invitations/${invitation!.id}/approve`);
  await deliver();
  const { token, site } = linkTo(email);
  expect(site).toBe('/console');
  const accept = { token, name: 'New', password: PASSWORD };
  expect((await newClient().post('/console/invitation', accept)).status).toBe(303);
});

test('an invitation is sent again with another link, and the earlier one ends', async () => {
  const email = 'again@example.com';
  const page = await signedIn(gateway.url, owner);
  await page.post('/dashboard/people/invite', { email, role: 'viewer' });
  const people = () => page.read('/dashboard/people');
  const [, id] = /invitations\/(inv_\w+)\/revoke/.exec(await people())!;
  const path = `/dashboard/people/invitations/${id}/send`;
  expect(await people()).not.toContain(path);
  // Neither before it is sent, nor while it is, does that make two.
  await page.post(path);
  const [sent = ''] = await addressNotifications(deps);
  server.beforeAnswer(async () => {
    expect((await page.post(path)).status).toBe(303);
  });
  await sendMessage(deps, sent);
  server.beforeAnswer(null);
  await deliver();
  expect(linksTo(email)).toHaveLength(1);
  expect(await people()).toContain(path);

  const strangers = await harness.createAccount();
  const stranger = await makeUser(harness.owner, 'merchant', 'owner', strangers);
  const elsewhere = await signedIn(gateway.url, stranger);
  expect((await elsewhere.post(path)).status).toBe(404);
  await deliver();
  expect(linksTo(email)).toHaveLength(1);

  const both = await Promise.all([page.post(path), page.post(path)]);
  expect(both.map(({ headers }) => headers.get('location'))).toEqual([
    '/dashboard/people?again',
    '/dashboard/people?again',
  ]);
  await deliver();
  const mails = linksTo(email);
  expect(mails).toHaveLength(2);
  const idsOf = (source: string) => /Message-ID: (\S+)/.exec(source)![1];
  expect(new Set(mails.map(({ source }) => idsOf(source))).size).toBe(2);
  const [first, second] = mails.map(({ source }) => HTTPS_LINK.exec(source)![2]!);
  const accept = (token: string) =>
    newClient().post('/dashboard/invitation', { token, name: 'New', password: PASSWORD });
  expect((await accept(first!)).status).toBe(404);
  expect((await accept(second!)).status).toBe(303);
  expect((await page.post(path)).status).toBe(404);
});

test('an invitation that was revoked before its mail is not sent', async () => {
  const email = 'revoked@example.com';
  const page = await signedIn(gateway.url, owner);
  await page.post('/dashboard/people/invite', { email, role: 'viewer' });
  const [, id] = /invitations\/(inv_\w+)\/revoke/.exec(await page.read('/dashboard/people'))!;
  await page.post(`/dashboard/people/invitations/${id}/revoke`);
  expect(await deliver()).toContain('dropped');
  expect(linksTo(email)).toEqual([]);
});

test('asking for a new password does and answers the same for every address, and mails to users only', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const disabled = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const by = { actor: 'test', reason: 'left' };
  await disableUser(harness.owner, by, 'merchant', disabled.email, true);
  const operator = await makeUser(harness.owner, 'operator', 'viewer');
  const emails = [user.email.toUpperCase(), disabled.email, operator.email, 'nobody@example.com'];
  const answers = [];
  for (const email of emails) {
    const answer = await ask(email);
    answers.push([answer.status, answer.headers.get('location'), await answer.text()]);
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toEqual([303, '/dashboard/forgotten-password?sent', expect.any(String)]);
  // The request itself writes one row for each, and reads no user.
  const rows = `SELECT status FROM link_mails WHERE lower(email) = lower(?)`;
  for (const email of emails) {
    expect(await harness.owner.query(rows, [email])).toEqual([{ status: 'waiting' }]);
  }
  expect((await deliver()).sort()).toEqual(['dropped', 'dropped', 'dropped', 'sent']);
  // To the address of the user, not to what somebody typed.
  expect(server.mails.map(({ to }) => to)).toEqual([[user.email]]);
});

test('strangers do not use up the mails of a person', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const mails = async () => {
    const sql = 'SELECT count(*)::int AS n FROM link_mails WHERE email = ?';
    return (await harness.owner.query<{ n: number }>(sql, [user.email]))[0]!.n;
  };
  for (let time = 1; time <= 5; time += 1) {
    expect((await ask(user.email, '/dashboard', '203.0.113.9')).status).toBe(303);
  }
  expect(await mails()).toBe(3);
  await ask(user.email);
  expect(await mails()).toBe(4);
  // Many networks use up what strangers may ask for, and not what the networks of the person may.
  for (let time = 1; time <= 8; time += 1) await ask(user.email);
  expect(await mails()).toBe(10);
  const home = '192.0.2.77';
  await newClient().post(
    '/dashboard/sign-in',
    { email: user.email, password: user.password },
    { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': home },
  );
  await ask(user.email, '/dashboard', home);
  expect(await mails()).toBe(11);
});

test('a link works once, ends all sessions and the other links, and signs nobody in', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const session = await signedIn(gateway.url, user);
  const token = await resetTokens(user);
  const stored = await harness.owner.query('SELECT * FROM link_mails');
  expect(JSON.stringify(stored)).not.toContain(token.used);

  expect((await choose(token.used, 'short')).status).toBe(422);
  // Two have seen the link open when the first of them uses it.
  let chosen: Promise<Response>[] = [];
  await harness.owner.transaction(async (tx) => {
    await tx.query('SELECT FROM users WHERE id = ? FOR UPDATE', [user.id]);
    chosen = [choose(token.used), choose(token.used)];
    await whenWaiting(harness.owner, 2);
  });
  const answers = [...(await Promise.all(chosen)), await choose(token.used)];
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 404, 404]);
  expect(answers.flatMap(({ headers }) => headers.get('location') ?? [])).toEqual([
    '/dashboard/sign-in?reset',
  ]);
  expect((await choose(token.other)).status).toBe(404);
  expect((await session.get('/dashboard/test')).status).toBe(303);
  expect(await canSignIn(user, user.password)).toBe('401');
  expect(await canSignIn(user, PASSWORD)).toContain('done');
});

/** Two mails to the same person. */
async function resetTokens(user: TestUser): Promise<{ used: string; other: string }> {
  for (let mail = 0; mail < 2; mail += 1) {
    await ask(user.email);
    await deliver();
  }
  const [other, used] = linksTo(user.email).map(({ source }) => HTTPS_LINK.exec(source)![2]!);
  return { used: used!, other: other! };
}

test('whoever gets a new password is told, also an operator and by whomever it was changed', async () => {
  const told = async (user: TestUser) => {
    await deliver();
    const about = ({ to, source }: MailServer['mails'][number]) =>
      to.includes(user.email) && source.includes('Subject: Your password was changed');
    return server.mails.filter(about).length;
  };
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const page = await signedIn(gateway.url, user);
  // What the person has chosen does not matter.
  expect((await page.post('/dashboard/notifications')).status).toBe(303);
  await page.post('/dashboard/security/password', { password: PASSWORD });
  expect(await told(user)).toBe(1);
  const { source } = server.mails.find(({ to }) => to.includes(user.email))!;
  expect(source).toContain('https://pay.example/dashboard/security');
  expect(source).not.toContain(PASSWORD);
  expect(source).not.toContain('/notifications');
  await choose(await resetToken(user));
  expect([await told(user), await told(user)]).toEqual([2, 2]);

  const by = { actor: 'support', reason: 'asked' };
  const operator = await makeUser(harness.owner, 'operator', 'viewer');
  await resetPassword(harness.owner, by, 'operator', operator.email);
  expect(await told(operator)).toBe(1);
  await resetPassword(harness.owner, by, 'operator', operator.email);
  await disableUser(harness.owner, by, 'operator', operator.email, true);
  expect(await told(operator)).toBe(1);
});

test('a link does not work after 30 minutes, on the other site, when the user was disabled, or if it is made up', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  // The same address at the console is another user.
  await makeUser(harness.owner, 'operator', 'viewer', null, user.email);
  const token = await resetToken(user);
  const open = (text: string, site = '/dashboard') =>
    newClient().get(`${site}/reset-password?token=${text}`);
  expect((await open(token)).status).toBe(200);
  expect((await open(token, '/console')).status).toBe(404);
  expect((await choose(token, PASSWORD, '/console')).status).toBe(404);
  for (const wrong of ['', 'x', 'A'.repeat(43), 'x'.repeat(500)]) {
    expect((await open(wrong)).status).toBe(404);
  }
  const [left] = await harness.owner.query<{ minutes: number }>(
    `SELECT extract(epoch FROM expires_at - now())::float8 / 60 AS minutes FROM link_mails
      WHERE email = ?`,
    [user.email],
  );
  expect(left!.minutes).toBeLessThanOrEqual(30);
  const by = { actor: 'test', reason: 'left' };
  await disableUser(harness.owner, by, 'merchant', user.email, true);
  expect((await choose(token)).status).toBe(404);
  await disableUser(harness.owner, by, 'merchant', user.email, false);
  await harness.owner.query('UPDATE link_mails SET expires_at = now()');
  expect((await open(token)).status).toBe(404);
  expect((await choose(token)).status).toBe(404);
  expect(await canSignIn(user, user.password)).toContain('done');
});

test('a disabled operator stays disabled', async () => {
  const operator = await makeUser(harness.owner, 'operator', 'reviewer');
  const token = await resetToken(operator);
  const by = { actor: 'test', reason: 'left' };
  await disableUser(harness.owner, by, 'operator', operator.email, true);
  expect((await choose(token, PASSWORD, '/console')).status).toBe(404);
  await ask(operator.email, '/console');
  expect(await deliver()).toEqual(['dropped']);
  expect(await canSignIn(operator, PASSWORD)).toBe('401');
});

test('who has a second factor proves it before the new password, and keeps it', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const code = await enrolTotp(user);
  const token = await resetToken(user);
  const client = newClient();
  const path = '/dashboard/reset-password';
  expect(await client.read(`${path}?token=${token}`)).toContain('Second step');
  // Without the factor the password stays.
  const early = await choose(token, PASSWORD, '/dashboard', client);
  expect(early.headers.get('location')).toBe(`${path}?token=${token}`);
  const wrong = await client.post(`${path}/second-step`, { token, code: '000000' });
  expect(wrong.status).toBe(401);
  const right = await client.post(`${path}/second-step`, { token, code: await code() });
  expect(right.status).toBe(303);
  expect(await client.read(`${path}?token=${token}`)).toContain('the authenticator app');

  // The proof is of this link and this person only.
  const other = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  await enrolTotp(other);
  const stolen = await choose(await resetToken(other), PASSWORD, '/dashboard', client);
  expect(stolen.headers.get('location')).toContain('reset-password?token=');
  expect(await canSignIn(other, other.password)).toContain('second-step');
});

test('with the second factor the password changes, and the next sign-in asks for the factor', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  const code = await enrolTotp(user);
  const token = await resetToken(user);
  const client = newClient();
  await client.post('/dashboard/reset-password/second-step', { token, code: await code() });
  const changed = await choose(token, PASSWORD, '/dashboard', client);
  expect(changed.headers.get('location')).toBe('/dashboard/sign-in?reset');
  expect(await canSignIn(user, PASSWORD)).toContain('second-step');
});

test('a reset proves the address of an invited user who has no second factor, and of no other', async () => {
  for (const hasFactor of [false, true]) {
    const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
    const bind = 'UPDATE users SET bound_account_id = ? WHERE id = ?';
    await harness.owner.query(bind, [accountId, user.id]);
    // Whoever invited may have set the factor up.
    const code = hasFactor ? await enrolTotp(user) : null;
    const token = await resetToken(user);
    const client = newClient();
    if (code !== null) {
      const form = { token, code: await code() };
      await client.post('/dashboard/reset-password/second-step', form);
    }
    expect((await choose(token, PASSWORD, '/dashboard', client)).status).toBe(303);
    expect(await boundOf(user.email)).toBe(hasFactor ? accountId : null);
  }
});

test('an address gets ten links in an hour, and a network asks for ten', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  for (let asked = 0; asked < 12; asked += 1) {
    // From twelve networks: the answer stays the same.
    expect((await ask(user.email)).status).toBe(303);
  }
  await deliver();
  expect(linksTo(user.email)).toHaveLength(10);
  const here = '203.0.113.10';
  // All at once.
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) => ask(`someone-${at}@example.com`, '/dashboard', here)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(10).fill(303),
    ...[429, 429],
  ]);
  expect((await ask('someone-else@example.com')).status).toBe(303);
});

test('a mail that the server takes later has a new link, and one it refuses is not sent again', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  await ask(user.email);
  server.refuseWith(450);
  const [id] = await addressNotifications(deps);
  await expect(sendMessage(deps, id!)).rejects.toThrow('the message waits');
  server.refuseWith(null);
  expect(await sendMessage(deps, id!)).toBe('sent');
  expect(await sendMessage(deps, id!)).toBe('sent');
  expect(linksTo(user.email)).toHaveLength(1);
  expect((await choose(linkTo(user.email).token)).status).toBe(303);
});

test('a call that follows one that died while it sent does not send again', async () => {
  const user = await makeUser(harness.owner, 'merchant', 'viewer', accountId);
  await ask(user.email);
  const [id] = await addressNotifications(deps);
  let second: Promise<string> | undefined;
  server.beforeAnswer(async () => {
    second = sendMessage(deps, id!);
    await second;
  });
  await sendMessage(deps, id!);
  server.beforeAnswer(null);
  expect(await second).toBe('unclear');
  expect(await sendMessage(deps, id!)).toBe('unclear');
  expect(linksTo(user.email)).toHaveLength(1);
  // The person may have it.
  expect((await choose(linkTo(user.email).token)).status).toBe(303);
});
