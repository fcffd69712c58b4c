/** The hosted checkout page by plain HTTP: what it shows, and that each button does what it says. */
import { request } from 'undici';
import { amount } from '../../../src/domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { CheckoutOrder } from '../../../src/adapters/providers/port';
import { readSandboxConfig, SANDBOX_DEFAULTS } from '../../../src/rails/sandbox/config';
import {
  buildCheckout,
  readCheckoutEntry,
  startSandboxWorld,
  type CheckoutEntry,
  type SandboxWorld,
} from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

let world: SandboxWorld;
beforeAll(async () => {
  // Compose gives the sandbox its name in the network, and one for the inbox.
  const environment = { SANDBOX_HOSTS: 'sandbox,inbox.example' };
  const { hosts } = readSandboxConfig(environment, SANDBOX_DEFAULTS.log);
  world = await startSandboxWorld({ hosts });
});
afterAll(() => world.stop());

interface Opened {
  order: CheckoutOrder;
  url: string;
}

async function open(code: ProviderCode, overrides: Partial<CheckoutOrder> = {}): Promise<Opened> {
  const order = buildCheckout(code, overrides);
  const result = await world.patient.get(code, 'test').openCheckout(order);
  if (result.kind !== 'found') throw new Error(JSON.stringify(result));
  return { order, url: result.checkout.checkoutUrl };
}

async function read(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  return response.text();
}

const statusIn = (page: string): string => /data-status="(\w+)"/.exec(page)?.[1] ?? '';

/** Sends the button's own form, as a browser would, and answers where it sends the browser. */
async function press({ url }: Opened, name: string): Promise<string> {
  const page = await read(url);
  const action = new RegExp(`<form method="post" action="([^"]+/${name})"`).exec(page)?.[1];
  if (action === undefined) throw new Error(`The page has no button ${name}.`);
  return post(new URL(action, url).href);
}

async function post(address: string): Promise<string> {
  const { statusCode, headers, body } = await request(address, { method: 'POST' });
  await body.dump();
  expect(statusCode).toBe(303);
  return new URL(String(headers.location), address).href;
}

async function whenEntry(
  { order }: Opened,
  isSo: (entry: CheckoutEntry) => boolean,
): Promise<CheckoutEntry> {
  return waitFor('the checkout', async () => {
    const entry = await readCheckoutEntry(world.sandbox.url, order.reference);
    return entry !== undefined && isSo(entry) ? entry : undefined;
  });
}

const settled = (entry: CheckoutEntry): boolean =>
  entry.transfers.length > 0 && entry.planned.length === 0;
const summary = (entry: CheckoutEntry): string[] =>
  entry.transfers.map((one) => `${one.status} ${one.amount}`);

test.each([
  ['de-AT, en;q=0.5', 'de', 'Wir warten auf Ihre Zahlung'],
  ['es', 'es', 'Esperando su pago'],
  ['fr-CA', 'fr', 'En attente de votre paiement'],
  ['pt-BR', 'pt', 'À espera do seu pagamento'],
  ['ja', 'en', 'Waiting for your payment'],
])('a browser that prefers %s reads the page in %s', async (languages, language, title) => {
  const { url } = await open('onchain_provider', { merchantName: 'Ada’s shop' });
  const answer = await fetch(url, { headers: { 'Accept-Language': languages } });
  expect(answer.headers.get('vary')).toContain('Accept-Language');
  expect(answer.headers.get('content-language')).toBe(language);
  const page = await answer.text();
  expect(page).toContain(`<html lang="${language}">`);
  expect(page).toContain(title);
  expect(page).toContain('Ada’s shop');
});

describe('the merchant’s logo', () => {
  const secure = started(() => startSandboxWorld({ publicUrl: 'https://sandbox.example' }));

  it.each([
    ['https://pay.example.com:8443/logos/1', 'http', 'https://pay.example.com:8443'],
    ['http://localhost:3000/logos/1', 'http', 'http://localhost:3000'],
    ['https://pay.example.com/logos/1', 'https', 'https://pay.example.com'],
    ['http://localhost:3000/logos/1', 'https', null],
    ["https://a;script-src'self'/logos/1", 'http', null],
  ])('%s, on a page over %s, is loaded from %s', async (merchantLogoUrl, scheme, origin) => {
    const { sandbox, patient } = scheme === 'http' ? world : secure;
    const order = buildCheckout('onchain_provider', { merchantLogoUrl });
    const opened = await patient.get('onchain_provider', 'test').openCheckout(order);
    if (opened.kind !== 'found') throw new Error(JSON.stringify(opened));
    const { protocol, pathname } = new URL(opened.checkout.checkoutUrl);
    expect(protocol).toBe(`${scheme}:`);
    const answer = await fetch(sandbox.url + pathname);
    const shown = /<img [^>]*>/.exec(await answer.text())?.[0];
    expect(shown).toBe(
      origin === null ? undefined : `<img class="logo" src="${merchantLogoUrl}" alt/>`,
    );
    const policy = answer.headers.get('content-security-policy') ?? '';
    const images = origin === null ? 'data:' : `data: ${origin}`;
    expect(policy.split('; ')).toContain(`img-src ${images}`);
  });
});

describe.each(PROVIDER_CODES)('%s', (code) => {
  it('shows what is to be paid, where to and how long, and says that it is a sandbox', async () => {
    const opened = await open(code);
    const page = await read(opened.url);
    const entry = await whenEntry(opened, () => true);
    expect(page).toContain('25.00 <span>USDT</span>');
    expect(page).toContain(entry.pay_to);
    expect(page).toContain('<svg');
    expect(page).toContain('Sandbox: do not send real money');
    expect(page).toContain(`data-expires-at="${opened.order.expiresAt.toISOString()}"`);
    expect(page.includes('Tron')).toBe(code === 'onchain_provider');
    expect(statusIn(page)).toBe('waiting');
  });

  it.each([
    ['pay-exactly', ['confirmed 25.00000000'], 'paid'],
    ['pay-less', ['confirmed 12.50000000'], 'part'],
    ['pay-more', ['confirmed 37.50000000'], 'paid'],
    ['pay-in-two', ['confirmed 12.50000000', 'confirmed 12.50000000'], 'paid'],
  ])('%s', async (name, transfers, status) => {
    const opened = await open(code);
    const next = await press(opened, name);
    expect(next).toBe(`${opened.url}?paying=1`);
    const entry = await whenEntry(opened, settled);
    expect(summary(entry)).toEqual(transfers);
    expect(statusIn(await read(opened.url))).toBe(status);
    const waiting = await fetch(next, { redirect: 'manual' });
    expect(waiting.headers.get('location')).toBe(
      status === 'paid' ? opened.order.successUrl : null,
    );
  });

  it('waits without any script until the transfer is confirmed', async () => {
    const opened = await open(code);
    await press(opened, 'drop');
    const page = await read(`${opened.url}?paying=1`);
    expect(page).toContain('http-equiv="refresh"');
    await whenEntry(opened, settled);
    expect(await read(`${opened.url}?paying=1`)).not.toContain('data-status="paid"');
  });

  it('pays what is missing after too little came', async () => {
    const opened = await open(code);
    await press(opened, 'pay-less');
    await press(opened, 'pay-exactly');
    const entry = await whenEntry(opened, (one) => one.transfers.length === 2 && settled(one));
    expect(summary(entry)).toEqual(['confirmed 12.50000000', 'confirmed 12.50000000']);
  });

  it('pays once when the button is pressed twice', async () => {
    const opened = await open(code);
    await Promise.all([1, 2].map(() => post(`${opened.url}/pay-exactly`)));
    expect(summary(await whenEntry(opened, settled))).toEqual(['confirmed 25.00000000']);
  });

  it('pays late, after the time limit', async () => {
    const expiresAt = new Date(Date.now() + 1_000);
    const opened = await open(code, { expiresAt });
    expect(await press(opened, 'pay-late')).toBe(opened.url);
    expect(await read(opened.url)).toContain('Transfer planned');
    const [transfer] = (await whenEntry(opened, settled)).transfers;
    expect(new Date(transfer!.seen_at) > expiresAt).toBe(true);
    expect(transfer).toMatchObject({ status: 'confirmed', amount: '25.00000000' });
  });

  it('is expired when nobody came, and takes late money at once then', async () => {
    const opened = await open(code, { expiresAt: new Date(Date.now() - 1) });
    expect(statusIn(await read(opened.url))).toBe('expired');
    await press(opened, 'pay-late');
    expect(summary(await whenEntry(opened, settled))).toEqual(['confirmed 25.00000000']);
  });

  it('cancels and goes to cancel_url', async () => {
    const opened = await open(code);
    expect(await press(opened, 'cancel')).toBe(opened.order.cancelUrl);
    expect((await whenEntry(opened, () => true)).state).toBe('cancelled');
    expect(statusIn(await read(opened.url))).toBe('cancelled');
  });

  it('does not cancel once money is on its way, not even with an old page', async () => {
    const opened = await open(code);
    await press(opened, 'pay-exactly');
    expect(await post(`${opened.url}/cancel`)).toBe(opened.url);
    expect((await whenEntry(opened, settled)).state).toBe('started');
  });

  it('stays on the page where the merchant gave no address', async () => {
    const opened = await open(code, { successUrl: null, cancelUrl: null });
    expect(await press(opened, 'cancel')).toBe(opened.url);
    const other = await open(code, { successUrl: null });
    const next = await press(other, 'pay-exactly');
    await whenEntry(other, settled);
    expect(statusIn(await read(next))).toBe('paid');
  });

  it('drops a transfer', async () => {
    const opened = await open(code);
    await press(opened, 'drop');
    expect(summary(await whenEntry(opened, settled))).toEqual(['dropped 25.00000000']);
    expect(statusIn(await read(opened.url))).toBe('waiting');
  });

  it('begins, holds, releases, holds again and rejects', async () => {
    const opened = await open(code);
    await press(opened, 'start');
    expect((await whenEntry(opened, () => true)).state).toBe('started');
    expect(await read(opened.url)).not.toContain('/start"');
    await press(opened, 'pay-exactly');
    await whenEntry(opened, settled);
    await press(opened, 'hold');
    const held = await read(`${opened.url}?paying=1`);
    expect(statusIn(held)).toBe('held');
    await press(opened, 'release');
    expect(statusIn(await read(opened.url))).toBe('paid');
    await press(opened, 'hold');
    await press(opened, 'reject');
    expect(statusIn(await read(opened.url))).toBe('refunded');
  });

  it('refunds what came', async () => {
    const opened = await open(code);
    await press(opened, 'pay-more');
    await whenEntry(opened, settled);
    await press(opened, 'refund');
    const { refunds } = await whenEntry(opened, () => true);
    expect(refunds).toMatchObject([{ amount: '37.50000000' }]);
    expect(await read(opened.url)).not.toContain('/refund"');
  });
});

it('shows a destination tag where the network needs one', async () => {
  const opened = await open('onchain_provider', { currency: 'XRP', network: 'xrpl' });
  const { pay_to_memo: tag } = await whenEntry(opened, () => true);
  expect(tag).toMatch(/^[1-9][0-9]*$/);
  expect(await read(opened.url)).toContain(`Destination tag (required)</dt>`);
});

it('shows what the merchant wrote as text, never as markup', async () => {
  const opened = await open('onchain_provider', {
    description: '<script>alert(1)</script>',
    successUrl: 'https://shop.example/?a="><b>',
  });
  const page = await read(opened.url);
  expect(page).toContain('&lt;script>alert(1)&lt;/script>');
  expect(page).not.toMatch(/<script>|"><b>/);
});

it('allows nothing from elsewhere and nothing inline, and serves its own style and script', async () => {
  const { url } = await open('onchain_provider');
  const response = await fetch(url);
  const page = await response.text();
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page).not.toMatch(/ style="| onclick=|<style/);
  const assets = [...page.matchAll(/(?:src|href)="(\/checkout\/assets\/[^"]+)"/g)];
  expect(assets.map(([, path]) => path)).toHaveLength(2);
  for (const [, path] of assets) {
    const asset = await fetch(new URL(path!, url));
    expect([asset.status, (await asset.text()).length > 100]).toEqual([200, true]);
  }
});

it.each(['none', 'assets', '..%2f', 'constructor'])('has no page %s', async (id) => {
  expect((await fetch(`${world.sandbox.url}/checkout/${id}`)).status).toBe(404);
  const { statusCode, body } = await request(`${world.sandbox.url}/checkout/${id}/pay-exactly`, {
    method: 'POST',
  });
  await body.dump();
  expect(statusCode).toBe(404);
});

it.each(['constructor', 'fail', 'pay'])('has no button %s', async (name) => {
  const { url } = await open('exchange_pay');
  const { statusCode, body } = await request(`${url}/${name}`, { method: 'POST' });
  await body.dump();
  expect(statusCode).toBe(404);
});

it('does not divide the smallest amount', async () => {
  const opened = await open('exchange_pay', { amount: amount('0.00000001') });
  expect(await read(opened.url)).not.toMatch(/pay-in-two|pay-less/);
});

describe('other sites', () => {
  const ask = async (
    path: string,
    headers: Record<string, string>,
    method: 'GET' | 'POST' = 'GET',
  ) => {
    const { statusCode, body } = await request(world.sandbox.url + path, { method, headers });
    await body.dump();
    return statusCode;
  };

  it.each([
    '/sandbox/book',
    '/inbox',
    '/inbox/events',
    '/healthz',
    '/onchain/transfers',
    '/checkout/x',
  ])('whose name leads to this machine (DNS rebinding) get nothing of %s', async (path) => {
    expect(await ask(path, { Host: 'evil.example:3001' })).toBe(421);
    expect(await ask(path, { Host: '' })).toBe(421);
    for (const host of ['localhost:3001', '127.0.0.1', '[::1]:1', 'sandbox.localhost']) {
      expect(await ask(path, { Host: host })).not.toBe(421);
    }
  });

  it.each<[string, number]>([
    ['sandbox:3001', 200],
    ['inbox.example', 200],
    ['inbox.example.evil.example', 421],
  ])('programs may call it %s: %i, as SANDBOX_HOSTS says', async (host, status) => {
    expect(await ask('/healthz', { Host: host })).toBe(status);
  });

  it.each<[string, Record<string, string>]>([
    ['says so', { 'Sec-Fetch-Site': 'cross-site' }],
    ['comes from another name of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['comes from another origin', { Origin: 'https://evil.example' }],
    ['comes from another port', { Origin: 'http://127.0.0.1:1' }],
    ['hides its origin', { Origin: 'null' }],
  ])('press no button: a post that %s is refused', async (_, headers) => {
    const opened = await open('onchain_provider');
    const path = `${new URL(opened.url).pathname}/pay-exactly`;
    expect(await ask(path, headers, 'POST')).toBe(403);
    expect(await ask('/sandbox/control/settings', headers, 'POST')).toBe(403);
    expect((await whenEntry(opened, () => true)).transfers).toEqual([]);
  });

  it('are not the page itself, and not a program', async () => {
    const opened = await open('onchain_provider');
    const { pathname, origin } = new URL(opened.url);
    for (const headers of [
      { 'Sec-Fetch-Site': 'same-origin', Origin: origin },
      { Origin: origin },
      {},
    ]) {
      expect(await ask(`${pathname}/start`, headers, 'POST')).toBe(303);
    }
  });
});
