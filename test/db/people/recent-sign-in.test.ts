/** What needs a sign-in of the last ten minutes in live mode, and what a person proves it with. */
import { createConsole } from '../../../src/shell/console/console';
import { createDashboard } from '../../../src/shell/dashboard/dashboard';
import { newId } from '../../../src/platform/lib/new-id';
import { ageSignIn, makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { PUBLIC_URL, startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let owner: TestUser;
let client: PageClient;

beforeEach(async () => {
  const accountId = await harness.createAccount();
  await harness.owner.query('UPDATE accounts SET verified_at = now() WHERE id = ?', [accountId]);
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
  client = new PageClient(gateway.url);
  await client.signIn(owner);
});

const KEY = { name: 'Shop backend', scopes: 'payouts:write', allow: '203.0.113.7', rate: '99' };
const ENDPOINT = { url: 'https://1.1.1.1/hooks', events: 'payout.completed' };

const count = async (table: 'api_keys' | 'webhook_endpoints') => {
  const [found] = await harness.owner.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM ${table} t JOIN memberships m USING (account_id)
      WHERE m.user_id = ?`,
    [owner.id],
  );
  return found!.n;
};

/** The address of the object that a form made. */
async function create(path: string, form: Record<string, string>): Promise<string> {
  const created = await client.post(path, form);
  expect(created.status).toBe(303);
  return created.headers.get('location')!;
}

/** The form is refused, and comes back with its fields after the password. */
async function expectConfirmation(
  path: string,
  form: Record<string, string>,
  back: string,
): Promise<string> {
  await ageSignIn(harness.owner, owner);
  const asked = await client.post(path, form);
  expect(asked.headers.get('location')).toBe(`/dashboard/confirm?next=${encodeURIComponent(back)}`);
  expect(await client.confirm(owner, asked)).toBe(back);
  const page = await (await client.get(back)).text();
  expect(page).toContain('You signed in again. Nothing has been changed yet.');
  return page;
}

test('a live key is created after a recent sign-in only, and the form comes back', async () => {
  const path = '/dashboard/live/keys/new';
  const page = await expectConfirmation(path, KEY, path);
  expect(await count('api_keys')).toBe(0);
  for (const value of ['Shop backend', '203.0.113.7', '99']) {
    expect(page).toContain(`value="${value}"`);
  }
  expect(page).toMatch(/value="payouts:write"[^>]* checked|checked[^>]* value="payouts:write"/);
  await create(path, KEY);
  expect(await count('api_keys')).toBe(1);
});

test('a live key is edited after a recent sign-in only, and never to more than a key may have', async () => {
  const key = await create('/dashboard/live/keys/new', KEY);
  const edited = { ...KEY, name: 'Till', scopes: 'payouts:read', allow: '198.51.100.0/24' };
  const read = async () => {
    const [found] = await harness.owner.query<object>(
      `SELECT name, scopes, allowlist::text[] AS allowlist, requests_per_minute FROM api_keys WHERE id = ?`,
      [key.split('/').at(-1)!],
    );
    return found;
  };
  const before = await read();
  const page = await expectConfirmation(`${key}/edit`, edited, `${key}/edit`);
  expect(page).toContain('value="Till"');
  expect(await read()).toEqual(before);
  expect(await create(`${key}/edit`, edited)).toBe(key);
  expect(await read()).toEqual({
    name: 'Till',
    scopes: ['payouts:read'],
    allowlist: ['198.51.100.0/24'],
    requestsPerMinute: 99,
  });
  expect(await client.read(`${key}/edit`)).toContain('value="198.51.100.0/24"');
  const log = await client.read('/dashboard/live/audit-log');
  expect(log).toContain('198.51.100.0/24');
  for (const wrong of [{ rate: '1201' }, { scopes: 'all:everything' }, { expires: '2020-01-01' }]) {
    expect((await client.post(`${key}/edit`, { ...edited, ...wrong })).status).toBe(422);
  }
  // A key that a key has made makes none: the revocation of the first would not reach them.
  await harness.owner.query('UPDATE api_keys SET created_by_key = id WHERE id = ?', [
    key.split('/').at(-1)!,
  ]);
  const more = { ...edited, scopes: 'api_keys:write' };
  const refused = await client.post(`${key}/edit`, more);
  expect(await refused.text()).toContain('leave out api_keys:write');
  await harness.owner.query(
    `UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = ?`,
    [key.split('/').at(-1)!],
  );
  expect((await client.post(`${key}/edit`, edited)).status).toBe(409);
});

test('a live key is rotated after a recent sign-in only, and revoked at any time', async () => {
  const key = await create('/dashboard/live/keys/new', KEY);
  const read = () =>
    harness.owner.query<{ lastFour: string }>('SELECT last_four FROM api_keys WHERE id = ?', [
      key.split('/').at(-1)!,
    ]);
  const before = await read();
  await expectConfirmation(`${key}/rotate`, {}, key);
  expect(await read()).toEqual(before);
  await create(`${key}/rotate`, {});
  const rotated = await read();
  expect(rotated).not.toEqual(before);
  await ageSignIn(harness.owner, owner);
  const revoked = await client.post(`${key}/revoke`, { confirm: rotated[0]!.lastFour });
  expect(revoked.headers.get('location')).toBe(key);
});

test('a live endpoint is added and edited after a recent sign-in only, and the form comes back', async () => {
  const path = '/dashboard/live/webhooks/new';
  const page = await expectConfirmation(path, ENDPOINT, path);
  expect(await count('webhook_endpoints')).toBe(0);
  expect(page).toContain(`value="${ENDPOINT.url}"`);
  const endpoint = await create(path, ENDPOINT);
  const other = { ...ENDPOINT, url: 'https://1.0.0.1/hooks', enabled: 'yes' };
  const edited = await expectConfirmation(`${endpoint}/edit`, other, `${endpoint}/edit`);
  expect(edited).toContain(`value="${other.url}"`);
  const urls = await harness.owner.query('SELECT url FROM webhook_endpoints WHERE url = ?', [
    other.url,
  ]);
  expect(urls).toEqual([]);
});

test.each(['roll', 'disable', 'enable', 'delete'])(
  'a live endpoint: %s needs a recent sign-in',
  async (verb) => {
    const endpoint = await create('/dashboard/live/webhooks/new', ENDPOINT);
    if (verb === 'enable') await create(`${endpoint}/disable`, {});
    await expectConfirmation(`${endpoint}/${verb}`, {}, endpoint);
    await create(`${endpoint}/${verb}`, {});
  },
);

test.each(['test', 'live'])(
  'what holds for live mode as well is changed after a recent sign-in only, also from the pages of %s mode',
  async (mode) => {
    const base = `/dashboard/${mode}`;
    for (const [path, form, back = path] of [
      [`${base}/second-person`, { above: '' }],
      [`${base}/recipients/rules`, { waitHours: '1', payTo: 'anywhere' }],
      [`${base}/logo/remove`, {}, `${base}/logo`],
    ] as const) {
      await expectConfirmation(path, form, back);
      expect((await client.post(path, form)).status).toBe(303);
    }
  },
);

test('a clock of the gateway that is behind makes no sign-in recent', async () => {
  await ageSignIn(harness.owner, owner);
  const hourAgo = Date.now() - 3_600_000;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => hourAgo);
  const asked = await client.post('/dashboard/live/keys/new', KEY);
  clock.mockRestore();
  expect(asked.headers.get('location')).toContain('/dashboard/confirm?');
});

test('test mode asks for no recent sign-in', async () => {
  await ageSignIn(harness.owner, owner);
  const key = await create('/dashboard/test/keys/new', KEY);
  await create(`${key}/rotate`, {});
  await create('/dashboard/test/webhooks/new', ENDPOINT);
});

test('a person with only passkeys does not confirm with the password', async () => {
  await harness.owner.query(
    `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name)
     VALUES (?, ?, ?, '', 0, '{}', 'Laptop')`,
    [newId('passkey'), owner.id, newId('passkey')],
  );
  await client.post('/dashboard/security/recovery-codes');
  const shown = await (await client.get('/dashboard/security/recovery-codes')).text();
  const [, code = ''] = /<code>([^<]+)<\/code>/.exec(shown)!;
  await ageSignIn(harness.owner, owner);
  const page = await (await client.get('/dashboard/confirm')).text();
  expect(page).toContain('Use a passkey');
  const { password } = owner;
  for (const form of [{ password }, { password, code: '' }, { password, code: '123456' }]) {
    expect((await client.post('/dashboard/confirm', form)).status).toBe(401);
  }
  const asked = await client.post('/dashboard/live/keys/new', KEY);
  expect(asked.headers.get('location')).toContain('/dashboard/confirm');
  expect((await client.post('/dashboard/confirm', { password, code })).status).toBe(303);
  await create('/dashboard/live/keys/new', KEY);
});

/** The forms of live mode that ask for nothing: they move no money out and give nobody access. */
const ASK_FOR_NOTHING = [
  '/batches/:id/leave_out',
  '/batches/:id/stop',
  '/batches/faults.csv',
  '/batches/new',
  '/bookkeeping',
  '/chats/:id/remove',
  '/chats/:id/test',
  '/first-steps/hide',
  '/keys/:id/revoke',
  '/low-balances',
  '/payment-links/:id/close',
  '/payment-links/new',
  '/payments/:id/cancel',
  '/payouts/:id/cancel',
  '/reconcile',
  '/reconcile/result.csv',
  // Test mode only.
  '/refunds/:id/link',
  '/refunds/:id/withdraw',
  '/schedules/:id/end',
  '/schedules/:id/pause',
  '/schedules/new',
  '/second-person/:id/decline',
  '/webhooks/:id/ping',
  '/webhooks/:id/real-event',
  '/webhooks/:id/recover',
  '/webhooks/:id/replay',
  '/webhooks/:id/test',
  '/webhooks/debugger',
  '/webhooks/deliveries/:id/retry',
];

test('every other form of live mode asks for a recent sign-in', async () => {
  const parts = { services: {}, users: {}, once: {}, host: null, publicUrl: PUBLIC_URL } as never;
  const { routes } = createDashboard(parts);
  await ageSignIn(harness.owner, owner);
  const asksForNothing: string[] = [];
  for (const { method, path } of routes) {
    if (method !== 'post' || !path.startsWith('/:mode/')) continue;
    const form = `/dashboard${path.replace(':mode', 'live').replace(':id', 'none')}`;
    const answer = await client.post(form);
    const asks = answer.headers.get('location')?.startsWith('/dashboard/confirm?') === true;
    if (!asks) asksForNothing.push(path.slice('/:mode'.length));
  }
  expect(asksForNothing.sort()).toEqual(ASK_FOR_NOTHING);
});

/** The forms of the console that ask, whatever their object; approvals of live payouts and batches ask too. */
const CONSOLE_ASKS = [
  '/accounts/:id/fees',
  '/accounts/:id/fees-end',
  '/accounts/:id/limits',
  '/accounts/:id/review',
  '/cases/:id/recipient',
  '/chats',
  '/chats/:id',
  '/four-eyes',
  '/four-eyes/confirm',
  '/four-eyes/withdraw',
  '/pauses/resume',
  '/payments/:id/refund',
  '/payments/:id/refund-link',
  '/payouts/:id/screening/allow',
  '/proposals/:id/approve',
  '/proposals/:id/reject',
];

test('an operator lifts a pause, and does what moves money, after a recent sign-in only', async () => {
  const admin = await makeUser(harness.owner, 'operator', 'admin');
  const browser = new PageClient(gateway.url);
  await browser.signIn(admin);
  await ageSignIn(harness.owner, admin);
  const [pause] = await harness.owner.query<{ id: string }>(
    "INSERT INTO payout_pauses (scope, reason) VALUES ('global', 'broken') RETURNING id::text",
  );
  const parts = { services: {}, users: {}, singleSignOn: null, host: null, publicUrl: PUBLIC_URL };
  const asks: string[] = [];
  for (const { method, path } of createConsole(parts as never).routes) {
    if (method !== 'post' || /^\/(people|security|confirm|sign|sessions)/.test(path)) continue;
    const form = `/console${path.replaceAll(/:\w+/g, 'none')}`;
    const answer = await browser.post(form, { id: pause!.id, reason: 'mended' });
    if (answer.headers.get('location')?.startsWith('/console/confirm?') === true) asks.push(path);
  }
  expect(asks.sort()).toEqual(CONSOLE_ASKS);
  expect(await harness.owner.query('SELECT id FROM payout_pauses')).toHaveLength(1);
});
