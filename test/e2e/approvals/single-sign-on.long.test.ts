/** Operators of an OpenID provider decide about payouts, and who may when the provider is wrong, changed or down. */
import { newDecisionId } from '../../../src/features/payouts/payout-reviews';
import { linkOperator } from '../../../src/features/people/single-sign-on';
import { buildPayout } from '../../support/merchant/merchant-client';
import {
  giveSecondFactor,
  makeUser,
  openForm,
  PageClient,
  signInWithCode,
} from '../../support/merchant/page-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { APPROVED } from '../../support/servers/console-gateway';
import { isSound, startGateway } from '../../support/servers/gateway';
import {
  finishVisit,
  startOpenIdProvider,
  visitProvider,
} from '../../support/servers/openid-provider';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const PUBLIC_URL = 'https://pay.example.com';
const BREAK_GLASS = ['first.emergency@example.com', 'second.emergency@example.com'] as const;
const BY = { actor: 'test', reason: null };
const REVIEWERS = ['payments-reviewers'];

const provider = started(() => startOpenIdProvider(`${PUBLIC_URL}/console`));
const gateway = started(startOwnGateway, isSound);

async function startOwnGateway() {
  const env = provider.settings({ PUBLIC_URL, OIDC_BREAK_GLASS: BREAK_GLASS.join(',') });
  const own = await startGateway({ env });
  // Two operators approve whatever is above.
  await own.db.query(`INSERT INTO four_eyes_thresholds VALUES ('USDT', 1)`);
  const { client } = await openMerchant(own, { funds: { USDT: '1000' } });
  return { ...own, client };
}

let count = 0;

function person(groups: string[] = REVIEWERS) {
  const subject = `subject-${++count}`;
  const email = `${subject}@example.com`;
  const regroup = (now: string[]) =>
    provider.people.set(subject, { email, email_verified: true, name: subject, groups: now });
  regroup(groups);
  return { subject, email, regroup };
}

async function answerOf(subject: string, page: PageClient): Promise<Response> {
  return finishVisit(page, await visitProvider(page, subject));
}

/** The browser of somebody who has come from the provider. */
async function signIn(subject: string): Promise<PageClient> {
  const page = new PageClient(gateway.baseUrl);
  const answer = await answerOf(subject, page);
  expect(answer.headers.get('location')).toContain('/console/sign-in/done');
  return page;
}

async function createPayout(): Promise<string> {
  const { status, json } = await gateway.client.createPayout(buildPayout());
  expect([status, json.data.status]).toEqual([201, 'under_review']);
  return json.data.id as string;
}

async function approve(page: PageClient, id: string): Promise<string> {
  return (await openForm(page, `/console/payouts/${id}`, 'approve'))();
}

/** What a browser sends that opened the page before. @returns the page that the answer leads to */
async function approveUnasked(page: PageClient, id: string): Promise<string> {
  const decision = newDecisionId();
  const sent = await page.post(`/console/payouts/${id}/approve`, { decision });
  expect(sent.status).toBe(303);
  return page.read(sent.headers.get('location')!);
}

const statusOf = async (id: string) =>
  (await gateway.client.get(`/payouts/${id}`)).json.data.status as string;

const whenCompleted = (id: string) =>
  waitFor(`${id} to be completed`, async () => (await statusOf(id)) === 'completed');

const STORED = 'Your approval is stored: 1 of 2.';
const RELATED = 'Your approval does not count with the first one';

test('two people of the directory approve a payout, and one of them does not count twice', async () => {
  const [alice, bob] = [person(), person(['payments-admins'])];
  const page = await signIn(alice.subject);
  const id = await createPayout();
  expect(await approve(page, id)).toContain(STORED);
  // In another browser she is the same operator.
  const again = await signIn(alice.subject);
  expect(await again.read(`/console/payouts/${id}`)).toContain('You have approved it.');
  expect(await approveUnasked(again, id)).toContain('You have already approved this payout.');
  expect(await statusOf(id)).toBe('under_review');
  expect(await approve(await signIn(bob.subject), id)).toMatch(APPROVED);
  await whenCompleted(id);
});

test('a second local user who is linked to the same person does not count beside the first', async () => {
  const { subject, email } = person();
  const id = await createPayout();
  expect(await approve(await signIn(subject), id)).toContain(STORED);
  const local = await makeUser(gateway.db, 'operator', 'reviewer');
  const identity = { issuer: provider.issuer, subject };
  await expect(linkOperator(gateway.db, BY, local.email, identity)).rejects.toThrow(
    `The subject ${subject} belongs to another operator.`,
  );
  // Somebody with the admin command takes the link from the one user and gives it to the other.
  await linkOperator(gateway.db, BY, email, null);
  await linkOperator(gateway.db, BY, local.email, identity);
  const page = await signIn(subject);
  expect(await page.read(`/console/payouts/${id}`)).toContain(
    `Your approval does not count with the one of ${email}`,
  );
  expect(await approveUnasked(page, id)).toContain(RELATED);
  expect(await statusOf(id)).toBe('under_review');
});

test('who has lost the group approves nothing from the next sign-in on, and an earlier approval does not count', async () => {
  const [leaver, bob, carol] = [person(), person(), person()];
  const id = await createPayout();
  const other = await createPayout();
  const page = await signIn(leaver.subject);
  expect(await approve(page, id)).toContain(STORED);
  leaver.regroup(['staff']);
  expect((await answerOf(leaver.subject, new PageClient(gateway.baseUrl))).status).toBe(403);
  // The sessions of before have ended as well.
  expect(await approveUnasked(page, other)).toContain('Sign in with single sign-on');
  expect(await statusOf(other)).toBe('under_review');
  expect(await approve(await signIn(bob.subject), id)).toContain(STORED);
  expect(await statusOf(id)).toBe('under_review');
  expect(await approve(await signIn(carol.subject), id)).toMatch(APPROVED);
  await whenCompleted(id);
});

test('while the provider is down, two who use break-glass approve, also what a person without a group approved before', async () => {
  const [leaver, alice] = [person(), person()];
  const [id, begun] = [await createPayout(), await createPayout()];
  expect(await approve(await signIn(leaver.subject), id)).toContain(STORED);
  leaver.regroup([]);
  await answerOf(leaver.subject, new PageClient(gateway.baseUrl));
  expect(await approve(await signIn(alice.subject), begun)).toContain(STORED);
  const callback = await visitProvider(new PageClient(gateway.baseUrl), alice.subject);
  await provider.stop();

  const waiting = new PageClient(gateway.baseUrl);
  await waiting.get('/console/sign-in/sso');
  expect((await finishVisit(waiting, callback)).status).toBeGreaterThanOrEqual(400);
  const [first, second] = await Promise.all(
    BREAK_GLASS.map(async (email) => {
      const user = await makeUser(gateway.db, 'operator', 'reviewer', null, email);
      const [code = ''] = await giveSecondFactor(gateway.db, user);
      const client = new PageClient(gateway.baseUrl);
      await signInWithCode(client, user, code);
      return client;
    }),
  );
  expect(await first!.read('/console/home')).toContain('Break-glass sign-in');
  // A person of the directory can have a password here as well, so the two may be one.
  expect(await first!.read(`/console/payouts/${begun}`)).toContain(
    `Your approval does not count with the one of ${alice.email}`,
  );
  expect(await approveUnasked(first!, begun)).toContain(RELATED);
  expect(await statusOf(begun)).toBe('under_review');
  expect(await approve(first!, id)).toContain(STORED);
  expect(await approve(second!, id)).toMatch(APPROVED);
  await whenCompleted(id);
});
