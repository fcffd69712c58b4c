/** What a merchant does on the dashboard without a browser: forms, downloads, statements. */
import { execFileSync } from 'node:child_process';
import type { MerchantRole } from '../../../src/domain/users';
import { useSharedGateway, isSound } from '../../support/servers/gateway';
import { createMerchant, fund, type Merchant } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { makeUser, signedIn, textOf } from '../../support/merchant/page-client';
import { startReceiver } from '../../support/webhook/webhook-receiver';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';

const gateway = started(useSharedGateway, isSound);
let merchant: Merchant;

beforeAll(async () => {
  merchant = await createMerchant(gateway.db, gateway.pepper, { rehearseReview: true });
  await fund(gateway.db, merchant.accountId, 'test', 'USDT', '1000');
});

async function signIn(role: MerchantRole = 'owner', { accountId }: Merchant = merchant) {
  const user = await makeUser(gateway.db, 'merchant', role, accountId);
  return { user, client: await signedIn(gateway.baseUrl, user) };
}

/** What a shell passes to curl when the command on the page is run. */
function curlArguments(html: string): string[] {
  const [, command] = /data-copy="(curl [^"]+)"/.exec(html)!;
  const text = command!.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  const script = `curl() { printf '%s\\0' "$@"; }\n${text}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

/** The hidden field that makes a form safe to send twice. */
const keyIn = (html: string) => /name="key" value="([^"]+)"/.exec(html)![1]!;

test('an endpoint is edited, tested with a sample, and gets what it missed', async () => {
  const receiver = await startReceiver();
  const own = await createMerchant(gateway.db, gateway.pepper);
  await fund(gateway.db, own.accountId, 'test', 'USDT', '100');
  const { client } = await signIn('developer', own);
  const api = new MerchantClient(gateway.baseUrl, own.testKey);
  const payout = await api.createPayout(buildPayout());
  expect(payout.status).toBe(201);
  const created = await client.post('/dashboard/test/webhooks/new', {
    url: receiver.url,
    events: 'all',
  });
  const path = created.headers.get('location')!;
  const probe = '<script>alert(1)</script>';
  const edited = { url: receiver.url, events: 'payout.requested', description: probe };
  expect((await client.post(`${path}/edit`, { ...edited, url: 'x' })).status).toBe(422);
  expect((await client.post(`${path}/edit`, edited)).headers.get('location')).toBe(path);
  let html = await client.read(path);
  expect(html).toContain('payout.requested');
  // Saved without the tick, it is disabled.
  expect(html).toContain('Disabled');
  await client.post(`${path}/edit`, { ...edited, enabled: 'yes' });

  const test = await client.read(`${path}/test?sample=payment.underpaid`);
  expect(test).toContain('&quot;status&quot;: &quot;underpaid&quot;');
  expect((await client.post(`${path}/test`, { data: '[1]' })).status).toBe(422);
  const sent = await client.post(`${path}/test`, { data: `{"note":"it's ${probe}"}` });
  expect(sent.headers.get('location')).toMatch(/\/webhooks\/deliveries\/whd_/);
  expect(receiver.received.at(-1)?.body.toString()).toContain('"type":"webhook.ping"');
  expect(receiver.received.at(-1)?.body.toString()).toContain(probe);
  const delivery = await client.read(sent.headers.get('location')!);
  const { headers, body } = receiver.received.at(-1)!;
  const curl = curlArguments(delivery);
  expect(curl[0]).toBe(receiver.url);
  expect(curl.slice(-2)).toEqual(['--data-binary', body.toString()]);
  for (const name of ['X-Gateway-Signature', 'X-Gateway-Timestamp']) {
    expect(curl).toContain(`${name}: ${String(headers[name.toLowerCase()])}`);
  }

  const replayed = await client.post(`${path}/replay`, { since: '1' });
  expect(replayed.headers.get('location')).toBe(`${path}?recovered=1&left=0`);
  const recovered = await client.post(`${path}/recover`, { since: 'x' });
  expect(recovered.headers.get('location')).toBe(`${path}?recovered=0&left=0`);
  await waitFor('the missed event', () =>
    receiver.received.some(({ body }) => body.toString().includes(payout.json.data.id)),
  );
  html = await client.read(`${path}?recovered=1&left=0`);
  expect(html).toContain('1 delivery was queued to be sent.');
  expect(html).toContain('Attempts in the last 24 hours');
  expect(html).toContain('p95');
  await receiver.stop();
});

test('the page of test events makes real objects, whose events the endpoint receives', async () => {
  const own = await createMerchant(gateway.db, gateway.pepper);
  const { client } = await signIn('developer', own);
  const receiver = await startReceiver();
  const created = await client.post('/dashboard/test/webhooks/new', {
    ...{ url: receiver.url, events: 'all' },
  });
  const path = created.headers.get('location')!;
  const make = async (type: string) => {
    const html = await client.read(`${path}/test`);
    expect(html).toContain('Make an event happen');
    return client.post(`${path}/real-event`, { type, key: keyIn(html) });
  };
  const happens = async (type: string) => {
    const answer = await make(type);
    expect(answer.status).toBe(303);
    const page = answer.headers.get('location')!;
    const id = page.split('/').at(-1)!;
    await waitFor(`${type} at the endpoint`, () =>
      receiver.received.some(({ event }) => event.type === type && event.data.id === id),
    );
    expect((await client.get(page)).status).toBe(200);
  };
  expect(await textOf(make('payout.failed'), 422)).toContain('balance');
  await happens('payment.completed');
  await happens('payout.failed');
  const form = { type: 'payment.completed', key: keyIn(await client.read(`${path}/test`)) };
  const clicks = [form, form].map((sent) => client.post(`${path}/real-event`, sent));
  const [first, second] = (await Promise.all(clicks)).map(({ headers }) => headers.get('location'));
  expect(first).toMatch(/payments\/pay_/);
  expect(second).toBe(first);
  expect((await make('webhook.ping')).status).toBe(404);
  const live = path.replace('/test/', '/live/');
  const refused = await client.post(`${live}/real-event`, { type: 'payment.completed', key: '' });
  expect(refused.status).toBe(404);
  await receiver.stop();
});
