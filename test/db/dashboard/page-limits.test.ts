/** One viewer stalls nobody: what costs much is limited for each session, account and address. */
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let accountId: string;
let owner: TestUser;
let client: PageClient;

beforeEach(async () => {
  accountId = await harness.createAccount();
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  client = new PageClient(gateway.url);
  await client.signIn(owner);
});

const times = <T>(n: number, work: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, i) => work(i)));

const statusesOf = (answers: readonly Response[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

async function colleague(): Promise<PageClient> {
  const browser = new PageClient(gateway.url);
  await browser.signIn(await makeUser(harness.owner, 'merchant', 'owner', accountId));
  return browser;
}

test('parallel password forms hold up no page and write few audit rows', async () => {
  const other = await colleague();
  const password = 'a new password of 12 or more';
  const flood = times(100, () => client.post('/dashboard/security/password', { password }));
  expect((await other.get('/dashboard/test')).status).toBe(200);
  const answers = await flood;
  const refused = answers.find(({ status }) => status === 429)!;
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(await refused.text()).toMatch(/Try again in \d+ seconds?\./);
  const written = await harness.owner.query(
    "SELECT id FROM audit_log WHERE action = 'user.change_password' AND object_id = ?",
    [owner.id],
  );
  expect(written.length).toBeGreaterThan(0);
  // Each attempt that was not refused ran argon2, which holds up the pages of everybody.
  expect(written.length).toBeLessThanOrEqual(10);
});

test('a session exports one file at a time', async () => {
  const path = '/dashboard/test/transactions/export';
  const own = statusesOf(await times(30, () => client.get(path)));
  expect(own[200]).toBeGreaterThan(0);
  expect(own[429]).toBeGreaterThan(15);
  expect(own[200]! + own[429]!).toBe(30);
  const other = await colleague();
  expect((await other.get(path)).status).toBe(200);
});

test('a person sends no more than thirty test events a minute', async () => {
  const ping = () => client.post('/dashboard/test/webhooks/we_unknown/ping');
  for (let n = 0; n < 30; n += 1) expect((await ping()).status).toBe(404);
  const refused = await ping();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(30);
  // A colleague still sends some.
  const other = await colleague();
  expect((await other.post('/dashboard/test/webhooks/we_unknown/ping')).status).toBe(404);
});

test.each([
  ['post', '/dashboard/test/chats/chw_unknown/test', 30],
  ['post', '/dashboard/test/webhooks/we_unknown/real-event', 30],
  ['post', '/dashboard/people/invite', 30],
  ['post', '/dashboard/people/invitations/inv_unknown/send', 30],
  ['post', '/dashboard/test/recipients/import', 30],
  ['post', '/dashboard/test/batches/create', 30],
  ['get', '/dashboard/test/search?q=order', 60],
] as const)('%s %s is answered %i times a minute', async (method, path, perMinute) => {
  // The other tests come from the same address.
  const browser = new PageClient((await harness.startGateway()).url);
  await browser.signIn(owner);
  for (let n = 0; n < perMinute; n += 1) expect((await browser[method](path)).status).not.toBe(429);
  expect((await browser[method](path)).status).toBe(429);
});
