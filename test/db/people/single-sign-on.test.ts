/** Single sign-on of operators at a real OpenID provider, and the attacks that it withstands. */
import { areRelatedOperators } from '../../../src/db/approvals/related-operators';
import { linkOperator } from '../../../src/features/people/single-sign-on';
import { disableUser } from '../../../src/features/people/users';
import {
  giveSecondFactor,
  makeUser,
  PageClient,
  signInWithCode,
} from '../../support/merchant/page-client';
import {
  type Falsified,
  finishVisit,
  type Person,
  startOpenIdProvider,
  visitProvider,
} from '../../support/servers/openid-provider';
import { started } from '../../support/started';
import { type Gateway, PUBLIC_URL, startHarness } from '../http-harness';

const CONSOLE = `${PUBLIC_URL}/console`;
const BREAK_GLASS = 'emergency@example.com';
const BY = { actor: 'test', reason: null };

const harness = started(startHarness);
const provider = started(() => startOpenIdProvider(CONSOLE));
const gateway = started(() =>
  harness.startGateway({ env: provider.settings({ OIDC_BREAK_GLASS: BREAK_GLASS }) }),
);

afterEach(() => {
  provider.falsify(null);
});

let count = 0;

/** A person at the provider. */
function person(more: Person = {}): { subject: string; email: string } {
  const subject = `subject-${++count}`;
  const email = more.email ?? `${subject}@example.com`;
  const verified = { email, email_verified: true, name: 'Alice Example' };
  provider.people.set(subject, { ...verified, groups: ['staff', 'payments-admins'], ...more });
  return { subject, email };
}

async function signIn(
  subject: string,
  { client = newClient(), next = '' }: { client?: PageClient; next?: string } = {},
): Promise<{ client: PageClient; answer: Response }> {
  const start = `/console/sign-in/sso?next=${encodeURIComponent(next)}`;
  const answer = await finishVisit(client, await visitProvider(client, subject, start));
  return { client, answer };
}

const newClient = (at: Gateway = gateway) => new PageClient(at.url);

const userOf = async (email: string) => {
  const [user] = await harness.owner.query<{ id: string; operatorRole: string }>(
    `SELECT id, operator_role FROM users WHERE kind = 'operator' AND email = ?`,
    [email],
  );
  return user;
};

const auditOf = async (email: string) => {
  const found = await harness.owner.query<{ action: string }>(
    `SELECT action FROM audit_log WHERE object_id = (SELECT id FROM users WHERE email = ?) ORDER BY id`,
    [email],
  );
  return found.map(({ action }) => action);
};

async function refused(answer: Response, status: number, sentence: string): Promise<void> {
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(sentence);
  expect(answer.headers.getSetCookie().join()).not.toMatch(/gateway_console=/);
}

const NOT_ACCEPTED = 'The answer of the single sign-on provider was not accepted.';
const EXPIRED = 'This sign-in has expired, was finished before, or began in another browser.';

describe('who comes from the provider', () => {
  test('becomes an operator with the highest role of the groups, and is known by the subject', async () => {
    const { subject, email } = person({ groups: ['payments-readers', 'payments-reviewers'] });
    const { client, answer } = await signIn(subject, { next: '/console/queue?mode=live' });
    const done = answer.headers.get('location')!;
    expect(done).toBe('/console/sign-in/done?next=%2Fconsole%2Fqueue%3Fmode%3Dlive');
    expect((await client.get(done)).headers.get('location')).toBe('/console/queue?mode=live');
    expect(await client.read('/console/home')).toContain(email);
    const user = await userOf(email);
    expect(user).toMatchObject({ operatorRole: 'reviewer' });
    expect(await auditOf(email)).toEqual(['user.join', 'user.single_sign_on']);
    // A new address at the provider is still the same operator.
    provider.people.set(subject, { email: 'renamed@example.com', groups: ['payments-admins'] });
    await signIn(subject);
    expect(await userOf(email)).toEqual({ ...user, operatorRole: 'admin' });
    expect(await userOf('renamed@example.com')).toBeUndefined();
  });

  test('two first sign-ins of one person at the same time make one operator', async () => {
    const { subject, email } = person();
    const answers = await Promise.all([signIn(subject), signIn(subject)]);
    for (const { answer } of answers) {
      expect(answer.headers.get('location')).toContain('/console/sign-in/done');
    }
    const rows = await harness.owner.query('SELECT FROM users WHERE email = ?', [email]);
    expect(rows).toHaveLength(1);
  });

  test('is refused without a group that has a role, and told so', async () => {
    const { subject, email } = person({ groups: ['staff'] });
    await refused((await signIn(subject)).answer, 403, 'None of your groups has a role here.');
    const none = person({ groups: undefined });
    await refused((await signIn(none.subject)).answer, 403, 'sends no groups for you');
    expect(await userOf(email)).toBeUndefined();
  });

  test.each([false, undefined])(
    'is refused the first time while the email address is not verified: %s',
    async (verified) => {
      const { subject, email } = person({ email_verified: verified });
      await refused((await signIn(subject)).answer, 403, 'no verified email address');
      expect(await userOf(email)).toBeUndefined();
    },
  );

  test('has the role of the groups at each sign-in, in every session at once', async () => {
    const { subject, email } = person();
    const { client } = await signIn(subject);
    expect((await client.get('/console/people/invite')).status).toBe(200);
    provider.people.set(subject, { email, email_verified: true, groups: ['payments-reviewers'] });
    await signIn(subject);
    expect((await client.get('/console/people/invite')).status).toBe(403);
    provider.people.set(subject, { email, email_verified: true, groups: [] });
    await refused((await signIn(subject)).answer, 403, 'None of your groups');
    expect((await client.get('/console/home')).status).toBe(303);
    expect(await userOf(email)).toMatchObject({ operatorRole: 'viewer' });
    expect((await auditOf(email)).filter((one) => one === 'user.change_role')).toHaveLength(2);
  });

  test('is asked at the provider again after an hour', async () => {
    const { subject, email } = person();
    await signIn(subject);
    const [session] = await harness.owner.query<{ minutes: number }>(
      `SELECT round(extract(epoch FROM s.expires_at - s.created_at) / 60)::integer AS minutes
         FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.email = ?`,
      [email],
    );
    expect(session).toEqual({ minutes: 60 });
  });

  test('stays out while the operator is disabled here', async () => {
    const { subject, email } = person();
    const { client } = await signIn(subject);
    await disableUser(harness.owner, BY, 'operator', email, true);
    expect((await client.get('/console/home')).status).toBe(303);
    await refused((await signIn(subject)).answer, 403, 'This operator is disabled here.');
  });

  test('signs out here, and then at the provider', async () => {
    const { client } = await signIn(person().subject);
    const out = await client.post('/console/sign-out');
    const page = await client.read(out.headers.get('location')!);
    expect(page).toContain('Sign out of the provider as well');
    const there = await client.get('/console/sign-in/sso/sign-out');
    const url = new URL(there.headers.get('location')!);
    expect(url.origin).toBe(provider.issuer);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${CONSOLE}/sign-in`);
    expect((await client.get('/console/home')).status).toBe(303);
  });
});

describe('attacks', () => {
  test('an answer that began in another browser is not accepted', async () => {
    const { subject } = person();
    const attacker = newClient();
    const callback = await visitProvider(attacker, subject);
    await refused(await finishVisit(newClient(), callback), 401, EXPIRED);
    // Not even when the victim is on the way to the provider.
    const victim = newClient();
    await victim.get('/console/sign-in/sso');
    const exchanged = provider.exchanged();
    await refused(await finishVisit(victim, callback), 401, NOT_ACCEPTED);
    expect(provider.exchanged()).toBe(exchanged);
  });

  test('an answer is accepted once, also at the same time and with the cookie of before', async () => {
    const client = newClient();
    const callback = await visitProvider(client, person().subject);
    const cookies = [...client.cookies];
    const again = () => {
      const copy = newClient();
      for (const [name, value] of cookies) copy.cookies.set(name, value);
      return finishVisit(copy, callback);
    };
    const answers = await Promise.all([again(), again(), again()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401]);
    await refused(await again(), 401, EXPIRED);
  });

  test('a code of one sign-in is not accepted with the state of another', async () => {
    const { subject } = person();
    const used = newClient();
    const callback = await visitProvider(used, subject);
    await finishVisit(used, callback);
    const client = newClient();
    const other = new URL(await visitProvider(client, subject), PUBLIC_URL);
    other.searchParams.set('code', new URL(callback, PUBLIC_URL).searchParams.get('code')!);
    await refused(await finishVisit(client, other.pathname + other.search), 401, NOT_ACCEPTED);
  });

  test('the answer of another provider is not accepted', async () => {
    const client = newClient();
    const callback = new URL(await visitProvider(client, person().subject), PUBLIC_URL);
    callback.searchParams.set('iss', 'https://attacker.example.com');
    const exchanged = provider.exchanged();
    await refused(
      await finishVisit(client, callback.pathname + callback.search),
      401,
      NOT_ACCEPTED,
    );
    expect(provider.exchanged()).toBe(exchanged);
  });

  test.each([
    ['a wrong nonce', { nonce: 'of-another-sign-in' }],
    ['no nonce', { nonce: null }],
    ['another issuer', { iss: 'https://attacker.example.com' }],
    ['another audience', { aud: 'another-client' }],
    ['several audiences without a party', { aud: ['console', 'another-client'] }],
    ['an expired token', { exp: 1_700_000_000 }],
    ['a token of the future', { nbf: 4_000_000_000 }],
    ['no subject', { sub: null }],
  ])('an ID token is not accepted: %s', async (_case, claims) => {
    provider.falsify(claims);
    await refused((await signIn(person().subject)).answer, 401, NOT_ACCEPTED);
  });

  test('an ID token with the signature of another key is not accepted', async () => {
    provider.falsify({}, { otherKey: true });
    await refused((await signIn(person().subject)).answer, 401, NOT_ACCEPTED);
  });

  test.each<[string, object]>([
    ['a subject with NUL', { sub: 'a\0b' }],
    ['a subject with half a character', { sub: 'a\ud800' }],
    ['an endless subject', { sub: 'a'.repeat(256) }],
    ['a time that no calendar has', { auth_time: 1e15 }],
  ])('an ID token with %s is not accepted', async (_, claims) => {
    const { subject, email } = person();
    // Complete, so that nothing else is asked of the provider.
    provider.falsify({ email, email_verified: true, groups: ['payments-admins'], ...claims });
    await refused((await signIn(subject)).answer, 401, NOT_ACCEPTED);
  });

  test('groups of another person from the userinfo endpoint do not count', async () => {
    const admin = person();
    const { subject } = person({ groups: [] });
    // The token names the admin, and the access token is of the other person.
    provider.falsify({ sub: admin.subject });
    await refused((await signIn(subject)).answer, 401, NOT_ACCEPTED);
  });

  test.each([
    'https://attacker.example.com/console/',
    '//attacker.example.com/x',
    '/dashboard/test',
  ])('the return address leads to a page of the console only: %s', async (next) => {
    const { answer } = await signIn(person().subject, { next });
    expect(answer.headers.get('location')).toBe('/console/sign-in/done?next=%2Fconsole%2Fhome');
  });

  test('nobody becomes an operator by the email address alone', async () => {
    const before = await makeUser(harness.owner, 'operator', 'admin');
    const { subject } = person({ email: before.email });
    const { client, answer } = await signIn(subject);
    expect(answer.headers.get('location')).toBe('/console/sign-in/sso/link');
    const wrong = await client.post('/console/sign-in/sso/link', { password: 'a wrong password' });
    await refused(wrong, 401, 'The password or the code is wrong.');
    expect(
      await harness.owner.query('SELECT FROM operator_identities WHERE user_id = ?', [before.id]),
    ).toEqual([]);
    // Another person cannot use the link that the first one was given.
    await refused(
      await newClient().post('/console/sign-in/sso/link', { password: before.password }),
      401,
      EXPIRED,
    );
  });

  test('a new person with the address of a colleague is not the colleague', async () => {
    const { subject, email } = person();
    await signIn(subject);
    const other = person({ email });
    await refused(
      (await signIn(other.subject)).answer,
      403,
      'linked to another person of the provider',
    );
  });
});

test('an operator of before is linked with the password, once, and keeps the user', async () => {
  const before = await makeUser(harness.owner, 'operator', 'viewer');
  const { subject } = person({ email: before.email.toUpperCase() });
  const { client } = await signIn(subject, { next: '/console/cases' });
  expect(await client.read('/console/sign-in/sso/link')).toContain(before.email);
  const linked = await client.post('/console/sign-in/sso/link', { password: before.password });
  expect(linked.headers.get('location')).toBe('/console/sign-in/done?next=%2Fconsole%2Fcases');
  expect(await userOf(before.email)).toEqual({ id: before.id, operatorRole: 'admin' });
  const { answer } = await signIn(subject);
  expect(answer.headers.get('location')).toContain('/done');
  expect(await auditOf(before.email)).toEqual([
    'user.create',
    'user.link_identity',
    'user.change_role',
    'user.single_sign_on',
    'user.single_sign_on',
  ]);
});

test('the admin command links and unlinks an operator, and no subject has two', async () => {
  const { issuer } = provider;
  const before = await makeUser(harness.owner, 'operator', 'viewer');
  const { subject } = person({ groups: ['payments-reviewers'] });
  await linkOperator(harness.owner, BY, before.email, { issuer, subject });
  const { client } = await signIn(subject);
  expect(await client.read('/console/home')).toContain(before.email);
  const other = await makeUser(harness.owner, 'operator', 'viewer');
  await expect(linkOperator(harness.owner, BY, other.email, { issuer, subject })).rejects.toThrow(
    `The subject ${subject} belongs to another operator.`,
  );
  await linkOperator(harness.owner, BY, before.email, null);
  expect((await client.get('/console/home')).status).toBe(303);
});

describe('sign in again', () => {
  const approve = '/console/people/invite';
  const age = (email: string) =>
    harness.owner.query(
      `UPDATE sessions SET authenticated_at = now() - interval '11 minutes'
        WHERE user_id = (SELECT id FROM users WHERE email = ?)`,
      [email],
    );

  async function confirming() {
    const { subject, email } = person();
    const { client } = await signIn(subject);
    await age(email);
    const form = { email: 'x@example.com', role: 'viewer' };
    const from = { 'sec-fetch-site': 'same-origin', referer: `${PUBLIC_URL}${approve}` };
    const asked = await client.post(approve, form, from);
    expect(asked.headers.get('location')).toMatch(/^\/console\/confirm\?next=/);
    const page = await client.read(asked.headers.get('location')!);
    expect(page).toContain('Continue with single sign-on');
    expect(page).not.toContain('type="password"');
    const [, start = ''] = /href="([^"]*\/confirm\/sso[^"]*)"/.exec(page) ?? [];
    return { subject, email, client, start: start.replaceAll('&amp;', '&') };
  }

  test('asks the provider for a new sign-in, and leads back', async () => {
    const { subject, client, start } = await confirming();
    const sent = new URL((await client.get(start)).headers.get('location')!);
    expect(sent.searchParams.get('prompt')).toBe('login');
    expect(sent.searchParams.get('max_age')).toBe('0');
    const answer = await finishVisit(client, await visitProvider(client, subject, start));
    expect(answer.headers.get('location')).toBe(approve);
    const done = await client.post(approve, { email: 'y@example.com', role: 'viewer' });
    expect(done.headers.get('location')).toBe('/console/people/invited');
  });

  test.each([
    ['an old sign-in at the provider', { auth_time: Math.floor(Date.now() / 1_000) - 3_600 }],
    ['a provider that does not tell', { auth_time: null }],
  ])('does not accept %s', async (_case, claims) => {
    const { subject, client, start } = await confirming();
    provider.falsify(claims);
    const answer = await finishVisit(client, await visitProvider(client, subject, start));
    await refused(answer, 403, 'does not say that you have just signed in there');
    const still = await client.post(approve, { email: 'z@example.com', role: 'viewer' });
    expect(still.headers.get('location')).toMatch(/confirm/);
  });

  test('does not accept another person', async () => {
    const { client, start } = await confirming();
    const answer = await finishVisit(client, await visitProvider(client, person().subject, start));
    await refused(answer, 403, 'as another person than here');
  });

  test('does not accept a password in a session of the provider', async () => {
    const { client, email } = await confirming();
    await client.post('/console/confirm', { password: 'anything', next: approve });
    const [session] = await harness.owner.query<{ isRecent: boolean }>(
      `SELECT authenticated_at > now() - interval '10 minutes' AS is_recent FROM sessions
        WHERE user_id = (SELECT id FROM users WHERE email = ?)`,
      [email],
    );
    expect(session).toEqual({ isRecent: false });
  });
});

describe('break-glass', () => {
  test('a password signs in nobody but the named operators, whose sign-in everybody sees', async () => {
    const before = await makeUser(harness.owner, 'operator', 'admin');
    expect((await newClient().signIn(before)).status).toBe(401);
    const { client: colleague } = await signIn(person().subject);
    expect(await colleague.read('/console/home')).not.toContain('Break-glass sign-in');
    const named = await makeUser(harness.owner, 'operator', 'admin', null, BREAK_GLASS);
    const client = newClient();
    const alone = await client.signIn(named);
    await refused(alone, 403, 'Break-glass needs two-step verification');
    const [code = ''] = await giveSecondFactor(harness.owner, named);
    expect((await signInWithCode(client, named, code)).status).toBe(303);
    expect(await client.read('/console/home')).toContain('Break-glass sign-in');
    expect(await colleague.read('/console/home')).toContain(BREAK_GLASS);
    expect(await auditOf(BREAK_GLASS)).toEqual(['user.create', 'user.break_glass_sign_in']);
    const metrics = await (await fetch(`${gateway.privateUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gateway_break_glass_sign_ins_total 1$/m);
  });

  test('an approval of before counts, and so does the role, after an answer without all groups', async () => {
    const { subject, email } = person();
    const { client } = await signIn(subject);
    const before = await userOf(email);
    const overage = {
      groups: null,
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.example.com/groups' } },
    };
    const incomplete: Falsified[] = [
      overage,
      { ...overage, groups: ['payments-readers'] },
      { groups: null, hasgroups: true },
      { groups: ['payments-readers', null] },
    ];
    provider.people.set(subject, { email, email_verified: true });
    for (const claims of incomplete) {
      provider.falsify(claims);
      await refused((await signIn(subject)).answer, 403, 'or not all of them');
    }
    provider.falsify(null);
    await refused((await signIn(subject)).answer, 403, 'or not all of them');
    expect((await client.get('/console/people/invite')).status).toBe(200);
    expect(await userOf(email)).toEqual(before);
    expect(await auditOf(email)).toEqual(['user.join', 'user.single_sign_on']);
  });

  test('counts as one with an operator whom the provider knows', async () => {
    const local = await makeUser(harness.owner, 'operator', 'admin');
    const [one, two] = [person(), person()];
    for (const { subject } of [one, two]) await signIn(subject);
    const related = (a: string, b: string) =>
      harness.owner.transaction((tx) => areRelatedOperators(tx, a, b));
    expect(await related(local.email, one.email)).toBe(true);
    // Nobody here gave these two their roles.
    expect(await related(one.email, two.email)).toBe(false);
  });

  test('sessions of before end when single sign-on is switched on, and when it is switched off', async () => {
    const off = await harness.startGateway();
    const operator = await makeUser(harness.owner, 'operator', 'admin');
    const client = newClient(off);
    await client.signIn(operator);
    expect((await client.get('/console/home')).status).toBe(200);
    const same = newClient();
    for (const [name, value] of client.cookies) same.cookies.set(name, value);
    expect((await same.get('/console/home')).status).toBe(303);
    const { client: directory } = await signIn(person().subject);
    const there = newClient(off);
    for (const [name, value] of directory.cookies) there.cookies.set(name, value);
    expect((await there.get('/console/home')).status).toBe(303);
  });

  test('without single sign-on, its pages are not there and the sign-in does not name it', async () => {
    const off = newClient(await harness.startGateway());
    expect(await off.read('/console/sign-in')).not.toContain('single sign-on');
    expect((await off.get('/console/sign-in/sso')).status).toBe(404);
    expect(await newClient().read('/dashboard/sign-in')).not.toContain('single sign-on');
  });
});

test('a role that the groups give is not changed on the page of people', async () => {
  const { subject, email } = person({ groups: ['payments-reviewers'] });
  await signIn(subject);
  const { client } = await signIn(person().subject);
  const user = await userOf(email);
  const people = await client.read('/console/people');
  expect(people).toContain('From single sign-on');
  expect(people).not.toContain(`/console/people/${user!.id}/role`);
  const changed = await client.post(`/console/people/${user!.id}/role`, { role: 'viewer' });
  expect(await changed.text()).toContain('decide about the role. Change them there.');
  expect(await userOf(email)).toEqual(user);
});

test('a provider that is down stops neither the start nor the break-glass, and is asked again', async () => {
  const late = await startOpenIdProvider(CONSOLE);
  await late.stop();
  const env = late.settings({ OIDC_BREAK_GLASS: 'late@example.com' });
  const client = newClient(await harness.startGateway({ env }));
  await refused(await client.get('/console/sign-in/sso'), 503, 'cannot be reached at present');
  const named = await makeUser(harness.owner, 'operator', 'admin', null, 'late@example.com');
  const [code = ''] = await giveSecondFactor(harness.owner, named);
  expect((await signInWithCode(client, named, code)).status).toBe(303);
  const back = await startOpenIdProvider(CONSOLE, Number(new URL(late.issuer).port));
  try {
    const there = await client.get('/console/sign-in/sso');
    expect(new URL(there.headers.get('location')!).origin).toBe(late.issuer);
  } finally {
    await back.stop();
  }
});

test('a provider that calls itself otherwise is not used', async () => {
  const env = provider.settings({ OIDC_ISSUER: `${provider.issuer}/` });
  const other = await harness.startGateway({ env });
  await refused(await newClient(other).get('/console/sign-in/sso'), 503, 'cannot be reached');
  expect(JSON.stringify(other.log)).toContain('Set OIDC_ISSUER to exactly that.');
});
