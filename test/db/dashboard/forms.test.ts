/** What a merchant requests on the dashboard without a browser: forms, their reviews, and what is refused. */
import type { MerchantRole } from '../../../src/domain/users';
import { isSound } from '../../support/servers/gateway';
import { atProvider, buildPayment, whenPayment } from '../../support/payment/payment-steps';
import { createMerchant, fund, type Merchant } from '../../support/merchant/merchant';
import { MerchantClient } from '../../support/merchant/merchant-client';
import {
  hiddenIn,
  makeUser,
  PageClient,
  signedIn,
  textOf,
} from '../../support/merchant/page-client';
import { startReceiver } from '../../support/webhook/webhook-receiver';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';
import { PUBLIC_URL } from '../http-harness';

const gateway = started(startDirectGateway, isSound);
let merchant: Merchant;

beforeAll(async () => {
  merchant = await createMerchant(gateway.db, gateway.pepper, { rehearseReview: true });
  await fund(gateway.db, merchant.accountId, 'test', 'USDT', '1000');
});

async function signIn(role: MerchantRole = 'owner', { accountId }: Merchant = merchant) {
  const user = await makeUser(gateway.db, 'merchant', role, accountId);
  return { user, client: await signedIn(gateway.baseUrl, user) };
}

/** The hidden field that makes a form safe to send twice. */
const keyIn = (html: string) => /name="key" value="([^"]+)"/.exec(html)![1]!;

const payoutForm = (key: string, change: Record<string, string> = {}) => ({
  key,
  amount: '10',
  currency: 'USDT',
  type: 'crypto_address',
  value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  network: 'tron',
  reference: `form-${key.slice(-10)}`,
  ...change,
});

test('a payout is quoted, requested once by two clicks, and cancelled from its page', async () => {
  const { client, user } = await signIn('developer');
  const path = '/dashboard/test/payouts/new';
  const key = keyIn(await client.read(path));
  const form = payoutForm(key);
  const quote = await client.read(`${path}?${new URLSearchParams(form)}`);
  expect(quote).toContain('Will need approval');
  expect(quote).toContain('The account rehearses reviews in test mode.');
  // The quote keeps the key of the form.
  expect(keyIn(quote)).toBe(key);
  const unfinished = await client.read(`${path}?amount=x&currency=USDT`);
  expect(unfinished).toContain('Amount: Write a number such as 12.50');
  expect(unfinished).toContain('Reference: Fill in this field.');
  expect(unfinished).not.toContain('Currency: ');
  expect(unfinished).not.toMatch(/Send \S+ as/);

  const answers = await Promise.all([client.post(path, form), client.post(path, form)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  const [page, again] = answers.map(({ headers }) => headers.get('location')!);
  expect(again).toBe(page);
  const [payout] = await gateway.db.query<{
    id: string;
    apiKeyId: string;
    status: string;
    totalDebit: string;
  }>('SELECT id, api_key_id, status, total_debit FROM payouts WHERE account_id = ?', [
    merchant.accountId,
  ]);
  expect(payout).toMatchObject({ apiKeyId: user.id, status: 'under_review' });
  expect(page).toBe(`/dashboard/test/payouts/${payout!.id}`);
  expect(quote).toContain(payout!.totalDebit);
  // The same form with other values must not pay twice by mistake.
  const changed = await client.post(path, payoutForm(key, { amount: '11' }));
  const warning = await textOf(changed, 422);
  expect(warning).toContain('This form was already sent with other values');
  expect(keyIn(warning)).not.toBe(key);

  const shown = await client.read(page!);
  expect(shown).toContain(`Requested by ${user.email}`);
  expect((await client.post(`${page!}/cancel`)).headers.get('location')).toBe(page);
  expect(await client.read(page!)).toContain('Cancelled');
  const twice = await client.post(`${page!}/cancel`);
  expect(await textOf(twice, 409)).toContain('This payout is cancelled.');
});

test('what the API refuses is shown on the form, and what was typed stays', async () => {
  const { client } = await signIn();
  const path = '/dashboard/test/payouts/new';
  const key = keyIn(await client.read(path));
  const probe = '"><script>alert(1)</script>';
  const invalid = await client.post(path, payoutForm(key, { value: probe, description: probe }));
  const html = await textOf(invalid, 422);
  expect(html).toContain('&quot;>&lt;script>alert(1)');
  expect(html).toContain('A Tron address starts with');
  const tooMuch = await client.post(path, payoutForm(key, { amount: '5000' }));
  expect(await textOf(tooMuch, 422)).toContain('The available balance does not cover');
  // The key is free again.
  const sent = await client.post(path, payoutForm(key));
  expect(sent.headers.get('location')).toMatch(/\/payouts\/po_/);
});

test('a live payout is sent after a review only, and exactly as it was shown', async () => {
  const own = await createMerchant(gateway.db, gateway.pepper, { reviewAll: false });
  await fund(gateway.db, own.accountId, 'live', 'USDT', '100');
  const { client } = await signIn('finance', own);
  const path = '/dashboard/live/payouts/new';
  const made = async () => {
    const [found] = await gateway.db.query<{ n: number; amount: string }>(
      'SELECT count(*)::int AS n, max(amount) AS amount FROM payouts WHERE account_id = ?',
      [own.accountId],
    );
    return found!;
  };
  const form = payoutForm(keyIn(await client.read(path)));
  const review = await textOf(client.post(path, form));
  for (const shown of ['Review the payout', form.value, 'Total debit', 'Available afterwards']) {
    expect(review).toContain(shown);
  }
  expect((await made()).n).toBe(0);

  // Somebody else changed what it costs, or the form was put together by hand.
  const confirmed = hiddenIn(review);
  const other = await textOf(client.post(path, { ...confirmed, amount: '20' }), 409);
  expect(other).toContain('The payout has changed since it was shown');
  await gateway.db.query(
    `INSERT INTO fee_rules (account_id, currency, direction, provider, percentage, fixed_amount)
     SELECT ?, currency, direction, provider, 0, 3 FROM fee_rules
      WHERE currency = 'USDT' AND direction = 'payout' AND account_id IS NULL`,
    [own.accountId],
  );
  const dearer = await textOf(client.post(path, confirmed), 409);
  expect(dearer).toContain('3.00000000');
  expect((await made()).n).toBe(0);

  const sent = await client.post(path, hiddenIn(dearer));
  expect(sent.headers.get('location')).toMatch(/\/payouts\/po_/);
  const twice = await client.post(path, hiddenIn(dearer));
  expect(twice.headers.get('location')).toBe(sent.headers.get('location'));
  expect(await made()).toEqual({ n: 1, amount: '10.00000000' });
});

test('the review of a live payout says that another person must approve it', async () => {
  const own = await createMerchant(gateway.db, gateway.pepper, { reviewAll: false });
  await fund(gateway.db, own.accountId, 'live', 'USDT', '100');
  const { client } = await signIn('finance', own);
  const path = '/dashboard/live/payouts/new';
  const review = async () => textOf(client.post(path, payoutForm(keyIn(await client.read(path)))));
  expect(await review()).not.toContain('Another person of your account');
  await gateway.db.query(`UPDATE accounts SET second_person_above = '{"USDT": "5"}' WHERE id = ?`, [
    own.accountId,
  ]);
  const waits = await review();
  expect(waits).toContain('Another person of your account');
  expect(waits).toContain('Request payout of');
});

const LINK_FORM = '/dashboard/test/payment-links/new';

/** The form of a payment link of 25.50 in USDT on Tron or USDC on Base. */
function linkForm(html: string): URLSearchParams {
  const key = keyIn(html);
  const form = new URLSearchParams({
    ...{ key, amount: '25,5', reference: `link-${key.slice(-6)}`, valid_for: '31536000' },
    description: '<b>Two</b> shirts',
  });
  for (const route of ['USDT tron', 'USDC base']) form.append('route', route);
  return form;
}

/** What the customer of a payment link does, and the payments that come of it. */
function atLink(page: string, html: string, reference: string) {
  const [, link] = /<code>[^<]+(\/dashboard\/pay\/plink_\w+)<\/code>/.exec(html)!;
  const customer = new PageClient(gateway.baseUrl);
  const api = new MerchantClient(gateway.baseUrl, merchant.testKey);
  const payments = async (n: string) =>
    (await api.get(`/payments?reference=${reference}${n}`)).json.data as {
      id: string;
      status: string;
      checkout_url: string;
      metadata: object;
    }[];
  const choose = async (route: string) => {
    const answer = await customer.post(link!, { route });
    expect(answer.status).toBe(303);
    return customer.read(answer.headers.get('location')!);
  };
  const close = page.replace('?created', '/close');
  return { link: link!, customer, api, payments, choose, close };
}

test('a customer chooses what to pay with a link, and pays once', async () => {
  const { client, user } = await signIn();
  const form = linkForm(await client.read(LINK_FORM));
  const created = await client.post(LINK_FORM, form);
  const page = created.headers.get('location')!;
  expect(page).toMatch(/\/payment-links\/plink_\w+\?created$/);
  expect((await client.post(LINK_FORM, form)).headers.get('location')).toBe(page);
  form.set('amount', '26');
  expect(await textOf(client.post(LINK_FORM, form), 422)).toContain('already sent with other');
  form.delete('key');
  expect(await textOf(client.post(LINK_FORM, form), 422)).toContain('Another payment link has');
  const html = await client.read(page);
  expect(html).toContain('The payment link is ready');
  expect(html).toContain(`Created by</dt><dd>${user.email}`);
  expect(html).not.toContain('<b>Two</b>');
  const reference = form.get('reference')!;
  const { link, customer, api, payments, choose, close } = atLink(page, html, reference);

  expect(await customer.read(link)).toContain('25.50 USDC on Base');
  // The merchant sees what the customer sees.
  expect(await client.read(link)).not.toContain('<nav aria-label="Main">');
  expect(await payments('')).toEqual([]);
  const both = await Promise.all([choose('USDT tron'), choose('USDT tron')]);
  const [first] = await payments('');
  for (const shown of both) expect(shown).toContain(`0;url=${first!.checkout_url}`);
  expect(first).toMatchObject({ amount: '25.50000000', network: 'tron', status: 'created' });

  // The customer thinks again: the checkout before is closed.
  await choose('USDC base');
  expect(await payments('')).toMatchObject([{ status: 'cancelled' }]);
  const [second] = await payments('-2');
  expect(second).toMatchObject({ currency: 'USDC', network: 'base', status: 'created' });
  expect(second!.metadata).toEqual({ payment_link: /plink_\w+/.exec(link)![0] });
  // A request ended between the payment and its note: the payment is found all the same.
  await gateway.db.query('UPDATE payment_links SET opened = 1');
  expect(await customer.read(link)).toContain(second!.checkout_url);
  await choose('USDC base');
  expect(await payments('-3')).toEqual([]);

  expect((await client.post(close)).status).toBe(303);
  expect(await customer.read(link)).not.toContain('on Tron');
  expect((await api.post(`/payments/${second!.id}/cancel`)).status).toBe(200);
  expect(await customer.read(link, 404)).toContain('Ask the shop for a new one.');
});

/** A link whose customer has opened a checkout, and then another one instead. */
async function switchedLink() {
  const { client } = await signIn();
  const form = linkForm(await client.read(LINK_FORM));
  const page = (await client.post(LINK_FORM, form)).headers.get('location')!;
  const at = atLink(page, await client.read(page), form.get('reference')!);
  await at.choose('USDT tron');
  await at.choose('USDC base');
  const [first] = await at.payments('');
  const [second] = await at.payments('-2');
  const read = (path = page) => client.read(path.replace('?created', ''));
  return { ...at, first: first!.id, second: second!.id, read };
}

test('money that comes late to an earlier checkout of a link pays it, and closes the later one', async () => {
  const { customer, link, api, first, second, payments, read } = await switchedLink();
  await atProvider(gateway, first, 'pay');
  await whenPayment(api, first, 'completed');
  await whenPayment(api, second, 'cancelled');
  const shown = await customer.read(link);
  expect(shown).toContain('The shop has received your payment.');
  expect(shown).toContain('25.50');
  expect(shown).not.toContain('Open the checkout');
  expect(shown).not.toContain('name="route"');
  expect((await customer.post(link, { route: 'USDT tron' })).status).toBe(303);
  expect(await payments('-3')).toEqual([]);
  const merchants = await read();
  expect(merchants).toContain(`payments/${first}`);
  expect(merchants).toContain('Completed');
  expect(merchants).not.toContain('paid this link more than once');
});

test('a link to whose earlier checkout too little came late is underpaid', async () => {
  const { customer, link, api, first, second } = await switchedLink();
  await atProvider(gateway, first, 'pay', { amount: '10' });
  await whenPayment(api, first, 'underpaid');
  await whenPayment(api, second, 'cancelled');
  const shown = await customer.read(link);
  expect(shown).toContain('The shop has received less than the amount.');
  expect(shown).toContain('10.00');
  expect(shown).not.toContain('name="route"');
});

test('two paid checkouts of a link are both credited, and the merchant is told', async () => {
  const { customer, link, api, first, second, read } = await switchedLink();
  await atProvider(gateway, second, 'pay', { then: 'stay' });
  await whenPayment(api, second, 'processing');
  await atProvider(gateway, first, 'pay');
  await whenPayment(api, first, 'completed');
  // Its money is on the way, so the provider does not close it.
  await atProvider(gateway, second, 'confirm');
  await whenPayment(api, second, 'completed');
  const merchants = await read();
  expect(merchants).toContain('paid this link more than once');
  for (const id of [first, second]) expect(merchants).toContain(`payments/${id}`);
  const both = await customer.read(link);
  expect(both).toContain('25.50000000 USDC');
  expect(both).toContain('Ask the shop for a refund.');
  const told = await gateway.db.query(
    "SELECT object_id, kind FROM occasions WHERE kind = 'link_paid_twice'",
  );
  expect(told).toMatchObject([{ objectId: /plink_\w+/.exec(link)![0] }]);
});

test('a suspended or unverified account creates nothing', async () => {
  const other = await createMerchant(gateway.db, gateway.pepper);
  const { client } = await signIn('owner', other);
  const form = payoutForm('', { reference: 'none' });
  await gateway.db.query('UPDATE accounts SET verified_at = NULL WHERE id = ?', [other.accountId]);
  expect((await client.post('/dashboard/live/payouts/new', form)).status).toBe(409);
  await gateway.db.query("UPDATE accounts SET status = 'suspended' WHERE id = ?", [
    other.accountId,
  ]);
  const refused = await client.post('/dashboard/test/payouts/new', form);
  expect(await textOf(refused, 403)).toContain('This merchant account is suspended');
});

test('an endpoint that fails has a warning', async () => {
  const own = await createMerchant(gateway.db, gateway.pepper);
  const { client } = await signIn('owner', own);
  const { url, stop } = await startReceiver(500);
  const created = await client.post('/dashboard/test/webhooks/new', { url, events: 'all' });
  const path = created.headers.get('location')!;
  for (let n = 0; n < 3; n++) await client.post(`${path}/ping`);
  expect(await client.read(path)).toContain('This endpoint is failing');
  const [newest] = await gateway.db.query<{ id: string }>(
    'SELECT max(id) AS id FROM webhook_deliveries WHERE endpoint_id = ?',
    [path.split('/').at(-1)!],
  );
  const older = await client.read(`${path}?after=${newest!.id}`);
  expect(older.match(/deliveries\/whd_/g)).toHaveLength(2);
  expect(older).toContain('First page');
  await stop();
});

/** The beginning of a PNG, which says its size, and more bytes up to the length. */
function png(width: number, height: number, length = 100): Buffer {
  const content = Buffer.alloc(length, 7);
  content.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  content.writeUInt32BE(width, 16);
  content.writeUInt32BE(height, 20);
  return content;
}

function fileForm(content: Buffer | string, name = 'logo.png'): FormData {
  const form = new FormData();
  form.append(
    'logo',
    new Blob([new Uint8Array(Buffer.from(content))], { type: 'image/png' }),
    name,
  );
  return form;
}

const LOGO = '/dashboard/live/logo';
const logoIn = (html: string) => /src="(\/logos\/[0-9a-f]{64})"/.exec(html)?.[1];

test('an owner uploads, replaces and removes the logo that customers see', async () => {
  const own = await createMerchant(gateway.db, gateway.pepper);
  const api = new MerchantClient(gateway.baseUrl, own.testKey);
  const openCheckout = async (): Promise<string> =>
    (await api.createPayment(buildPayment())).json.data.checkout_url;
  const logoAt = async (checkout: string) => {
    const answer = await fetch(checkout);
    const [images] = /img-src [^;]*/.exec(answer.headers.get('content-security-policy') ?? '')!;
    return { images, logo: /<img class="logo" src="([^"]*)"/.exec(await answer.text())?.[1] };
  };
  const without = { images: 'img-src data:', logo: undefined };
  expect(await logoAt(await openCheckout())).toEqual(without);
  const { client, user } = await signIn('owner', own);
  const link = linkForm(await client.read(LINK_FORM));
  const page = (await client.post(LINK_FORM, link)).headers.get('location')!;
  const [, pay] = /<code>[^<]+(\/dashboard\/pay\/plink_\w+)<\/code>/.exec(await client.read(page))!;
  const customer = new PageClient(gateway.baseUrl);
  expect(logoIn(await customer.read(pay!))).toBeUndefined();

  const first = png(32, 1024, 65_536);
  const saved = await client.post(LOGO, fileForm(first));
  expect(saved.headers.get('location')).toBe(`${LOGO}?saved`);
  const path = logoIn(await client.read(`${LOGO}?saved`))!;
  expect(logoIn(await customer.read(pay!))).toBe(path);
  const answer = await customer.get(path);
  expect(Buffer.from(await answer.arrayBuffer()).equals(first)).toBe(true);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-security-policy': "default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
    'cross-origin-resource-policy': 'cross-origin',
  });
  const checkout = await openCheckout();
  const shown = { images: `img-src data: ${PUBLIC_URL}`, logo: `${PUBLIC_URL}${path}` };
  expect(await logoAt(checkout)).toEqual(shown);
  expect(answer.headers.getSetCookie()).toEqual([]);

  await client.post(LOGO, fileForm(png(64, 64)));
  const second = logoIn(await customer.read(pay!))!;
  expect(second).not.toBe(path);
  expect((await customer.get(path)).status).toBe(404);
  expect((await client.post(`${LOGO}/remove`)).headers.get('location')).toBe(LOGO);
  expect(logoIn(await customer.read(pay!))).toBeUndefined();
  expect((await customer.get(second)).status).toBe(404);
  expect(await logoAt(await openCheckout())).toEqual(without);
  expect(await logoAt(checkout)).toEqual(shown);

  const entries = await gateway.db.query(
    `SELECT actor, before ->> 'sha256' AS before, after ->> 'sha256' AS after
       FROM audit_log WHERE account_id = ? AND action = 'account.logo' ORDER BY id`,
    [own.accountId],
  );
  const [was, is] = [path, second].map((one) => one.replace('/logos/', ''));
  expect(entries).toEqual([
    { actor: user.email, before: null, after: was },
    { actor: user.email, before: was, after: is },
    { actor: user.email, before: is, after: null },
  ]);
});

test('what is no logo is refused at its field, and the one before stays', async () => {
  const own = await createMerchant(gateway.db, gateway.pepper);
  const { client } = await signIn('owner', own);
  await client.post(LOGO, fileForm(png(64, 64)));
  const before = logoIn(await client.read(LOGO));
  const kept = async () => logoIn(await client.read(LOGO)) === before;
  for (const [content, remedy] of [
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'Save the image as one of these'],
    ['<!doctype html><script>alert(1)</script>', 'Save the image as one of these'],
    [png(64, 64).subarray(0, 20), 'Save the image as one of these'],
    [png(64, 64, 65_537), 'Save the image smaller'],
    [png(1025, 64), 'The image has 1025 x 64 pixels. Use one from 32'],
    [png(64, 31), 'The image has 64 x 31 pixels. Use one from 32'],
    ['', 'Choose a file'],
  ] as const) {
    const html = await textOf(client.post(LOGO, fileForm(content)), 422);
    expect(html).toMatch(new RegExp(`id="field-logo-error"[^>]*>[^<]*${remedy}`));
  }
  expect(await textOf(client.post(LOGO, {}), 422)).toContain('Choose a file');
  expect((await client.post('/dashboard/live/bookkeeping', fileForm('x'))).status).toBe(415);
  expect((await client.post(LOGO, fileForm(png(64, 64, 2_000_000)))).status).toBe(413);
  const headers = {
    'sec-fetch-site': 'same-origin',
    'content-type': 'multipart/form-data; boundary=x',
  };
  expect((await client.post(LOGO, { logo: 'x' }, headers)).status).toBe(400);
  expect(await kept()).toBe(true);

  // Others of the account may not, and an owner of another account changes that one’s own.
  for (const role of ['finance', 'viewer'] as const) {
    const { client: other } = await signIn(role, own);
    expect((await other.post(LOGO, fileForm(png(65, 65)))).status).toBe(403);
    expect((await other.post(`${LOGO}/remove`)).status).toBe(403);
  }
  const { client: stranger } = await signIn();
  expect(logoIn(await stranger.read(LOGO))).toBeUndefined();
  expect((await stranger.post(`${LOGO}/remove`)).status).toBe(303);
  await stranger.post(LOGO, fileForm(png(66, 66)));
  expect(await kept()).toBe(true);
});
