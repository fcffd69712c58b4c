/** What a merchant does on the dashboard without a browser: forms, downloads, statements. */
import { rows } from '../../src/db/transaction';
import type { MerchantRole } from '../../src/domain/users';
import { brokenInvariants, type TestGateway, useSharedGateway } from '../support/gateway';
import { createMerchant, fund, type Merchant } from '../support/merchant';
import { MerchantClient } from '../support/merchant-client';
import { makeUser, PageClient } from '../support/page-client';

let gateway: TestGateway;
let merchant: Merchant;

beforeAll(async () => {
  gateway = await useSharedGateway();
  merchant = await createMerchant(gateway.db, gateway.pepper, { rehearseReview: true });
  await fund(gateway.db, merchant.accountId, 'test', 'USDT', '1000');
});

afterAll(async () => {
  expect(await brokenInvariants(gateway)).toEqual([]);
  await gateway.stop();
});

async function signIn(role: MerchantRole = 'owner', { accountId }: Merchant = merchant) {
  const client = new PageClient(new URL(gateway.baseUrl).origin);
  const user = await makeUser(gateway.db, 'merchant', role, accountId);
  await client.signIn(user);
  return { client, user };
}

const textOf = async (response: Response | Promise<Response>) => (await response).text();

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
  const key = keyIn(await textOf(client.get(path)));
  const form = payoutForm(key);
  const quote = await textOf(client.get(`${path}?${new URLSearchParams(form)}`));
  expect(quote).toContain('Will need approval');
  expect(quote).toContain('Rehearse review');
  // The quote keeps the key of the form.
  expect(keyIn(quote)).toBe(key);
  const unfinished = await textOf(client.get(`${path}?amount=x&currency=USDT`));
  expect(unfinished).toContain('Send amount as');

  const answers = await Promise.all([client.post(path, form), client.post(path, form)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  const [page, again] = answers.map(({ headers }) => headers.get('location')!);
  expect(again).toBe(page);
  const [payout] = await rows<{ id: string; apiKeyId: string; status: string; totalDebit: string }>(
    gateway.db,
    'SELECT id, api_key_id, status, total_debit FROM payouts WHERE account_id = ?',
    [merchant.accountId],
  );
  expect(payout).toMatchObject({ apiKeyId: user.id, status: 'under_review' });
  expect(page).toBe(`/dashboard/test/payouts/${payout!.id}`);
  expect(quote).toContain(payout!.totalDebit);
  // The same form with other values must not pay twice by mistake.
  const changed = await client.post(path, payoutForm(key, { amount: '11' }));
  expect(changed.status).toBe(422);
  const warning = await textOf(changed);
  expect(warning).toContain('This form was already sent with other values');
  expect(keyIn(warning)).not.toBe(key);

  const shown = await textOf(client.get(page!));
  expect(shown).toContain(`Requested by ${user.email}`);
  expect((await client.post(`${page!}/cancel`)).headers.get('location')).toBe(page);
  expect(await textOf(client.get(page!))).toContain('Cancelled');
  const twice = await client.post(`${page!}/cancel`);
  expect(twice.status).toBe(409);
  expect(await textOf(twice)).toContain('This payout is cancelled.');
});

test('what the API refuses is shown on the form, and what was typed stays', async () => {
  const { client } = await signIn();
  const path = '/dashboard/test/payouts/new';
  const key = keyIn(await textOf(client.get(path)));
  const probe = '"><script>alert(1)</script>';
  const invalid = await client.post(path, payoutForm(key, { value: probe, description: probe }));
  expect(invalid.status).toBe(422);
  const html = await textOf(invalid);
  expect(html).not.toContain('<script>alert');
  expect(html).toContain('&quot;>&lt;script>alert(1)');
  expect(html).toContain('A Tron address starts with');
  const tooMuch = await client.post(path, payoutForm(key, { amount: '5000' }));
  expect(tooMuch.status).toBe(422);
  expect(await textOf(tooMuch)).toContain('The available balance does not cover');
  // The key is free again.
  const sent = await client.post(path, payoutForm(key));
  expect(sent.headers.get('location')).toMatch(/\/payouts\/po_/);
});

test('a payment link is created with its checkout page', async () => {
  const { client, user } = await signIn();
  const path = '/dashboard/test/payments/new';
  const key = keyIn(await textOf(client.get(path)));
  const form = {
    key,
    amount: '25.5',
    currency: 'USDT',
    reference: `link-${key.slice(-6)}`,
    expires_in: '900',
    description: '<b>Two</b> shirts',
    customer_email: '',
  };
  const created = await client.post(path, form);
  const page = created.headers.get('location')!;
  expect(page).toMatch(/\/payments\/pay_\w+\?created$/);
  expect((await client.post(path, form)).headers.get('location')).toBe(page);
  const html = await textOf(client.get(page));
  expect(html).toContain('The payment link is ready');
  expect(html).toContain(`Created by ${user.email}`);
  expect(html).not.toContain('<b>Two</b>');
  const api = new MerchantClient(gateway.baseUrl, merchant.testKey);
  const payment = await api.get(`/payments/${/pay_\w+/.exec(page)![0]}`);
  const { checkout_url, created_at, expires_at } = payment.json.data;
  expect(html).toContain(checkout_url);
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(900_000);
  const duplicate = await client.post(path, { ...form, key: '' });
  expect(await textOf(duplicate)).toContain('This reference is already used');
});

test('a suspended or unverified account creates nothing', async () => {
  const other = await createMerchant(gateway.db, gateway.pepper);
  const { client } = await signIn('owner', other);
  const form = payoutForm('', { reference: 'none' });
  await rows(gateway.db, 'UPDATE accounts SET verified_at = NULL WHERE id = ?', [other.accountId]);
  expect((await client.post('/dashboard/live/payouts/new', form)).status).toBe(409);
  await rows(gateway.db, "UPDATE accounts SET status = 'suspended' WHERE id = ?", [
    other.accountId,
  ]);
  const refused = await client.post('/dashboard/test/payouts/new', form);
  expect(refused.status).toBe(403);
  expect(await textOf(refused)).toContain('This merchant account is suspended');
});
