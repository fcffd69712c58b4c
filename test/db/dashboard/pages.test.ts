/** What every page sends with it, and two pages of the dashboard: its keys and its signature debugger. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { newId } from '../../../src/platform/lib/new-id';
import { signWebhook } from '../../../clients/typescript/src/webhooks';
import { makeUser, PageClient, type TestUser } from '../../support/merchant/page-client';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());
let accountId: string;
let owner: TestUser;

beforeAll(async () => {
  accountId = await harness.createAccount();
  owner = await makeUser(harness.owner, 'merchant', 'owner', accountId);
});

const newClient = () => new PageClient(gateway.url);

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
  for (const path of ['/', '/api/v1/balance', '/openapi.json', '/healthz', '/.well-known/none']) {
    const { headers } = await fetch(`${gateway.url}${path}`);
    expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
  }
  expect(guide.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; " +
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
    [{ event_id: 'evt_other' }, 'the event ID is not'],
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
