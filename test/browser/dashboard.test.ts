/** A merchant with a real browser: what a person does in the dashboard, and whether every page of it is accessible. */
import type { Page } from 'playwright-core';
import { describeWithBrowser, signIn, useBrowser } from './browser';
import { cutTables, lookAt, lookAtEach, LOOKS_AT_PAGES } from './page-checks';
import { useSharedGateway } from '../support/servers/gateway';
import { fund } from '../support/merchant/merchant';
import { buildPayout, buildRecipient, MerchantClient } from '../support/merchant/merchant-client';
import { openedPayment, whenPayment } from '../support/payment/payment-steps';
import { makeUser, type TestUser } from '../support/merchant/page-client';
import { started } from '../support/started';
import { startReceiver } from '../support/webhook/webhook-receiver';
import { waitFor } from '../support/wait-for';

describeWithBrowser('the dashboard and the console in a browser', () => {
  const gateway = started(useSharedGateway);
  const browser = useBrowser();
  let page: Page;
  let owner: TestUser;
  let site: string;
  /** Below /dashboard/test; the journey adds what it made. */
  const pages = [
    '',
    '/payments',
    '/payment-links',
    '/payment-links/new',
    '/payouts',
    '/payouts/new',
    '/refunds',
    '/batches',
    '/batches/new',
    '/transactions',
    '/requests',
    '/balances/USDT',
    '/statements',
    '/exports',
    '/reconcile',
    '/bookkeeping',
    '/keys',
    '/keys/new',
    '/webhooks',
    '/webhooks/new',
    '/audit-log',
    '/webhooks/debugger',
    '/low-balances',
    '/chats',
    '/approvals',
    '/schedules',
    '/recipients',
    '/recipients/new',
    '/recipients/import',
    '/recipients/rules',
    '/second-person',
  ];

  beforeAll(async () => {
    owner = await makeUser(gateway.db, 'merchant', 'owner', gateway.merchant.accountId);
    site = new URL(gateway.baseUrl).origin;
    page = await browser.newPage();
  });

  test('a merchant signs in and gets to the page that was asked for', async () => {
    await page.goto(`${site}/dashboard/live?x=1`);
    expect(await lookAt(page, '/dashboard/sign-in')).toEqual([]);
    await signIn(page, owner);
    await page.waitForURL(`${site}/dashboard/live?x=1`);
    expect(await page.locator('.mode').innerText()).toContain('Live mode');
    await page.getByRole('link', { name: 'Switch to test' }).click();
    await page.waitForURL(/\/dashboard\/test/);
    expect(await page.locator('.mode').innerText()).toContain('Test mode');
  });

  test('an operator signs in to the console beside it, and ends the session', async () => {
    await page.goto(`${site}/console`);
    await signIn(page, await makeUser(gateway.db, 'operator', 'admin'));
    await page.waitForURL(`${site}/console/home`);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.waitForURL(`${site}/console/sessions`);
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${site}/console/sign-in`);
    // The merchant is still signed in.
    await page.goto(`${site}/dashboard`);
    await page.waitForURL(`${site}/dashboard/test`);
  });

  test('a key from the dashboard calls the API, and what it does is on the pages', async () => {
    await page.goto(`${site}/dashboard/test/keys`);
    await page.getByRole('link', { name: 'Create key' }).click();
    await page.getByLabel('Name').fill('Browser <b>key</b>');
    for (const scope of ['payments:write', 'payments:read', 'payouts:write', 'payouts:read']) {
      await page.getByLabel(scope).check();
    }
    await page.getByRole('button', { name: 'Create key' }).click();
    const secret = await page.locator('.secret code').innerText();
    const keyPath = new URL(page.url()).pathname.replace('/dashboard/test', '');
    await page.reload();
    expect(await page.locator('.secret').count()).toBe(0);
    const client = new MerchantClient(gateway.baseUrl, secret);
    await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', '500');

    const receiver = await startReceiver();
    // The request log has what the key called, and the request id leads there.
    const called = await client.get('/payments');
    const requestId = called.headers.get('x-request-id')!;
    await waitFor('the request in the log', async () => {
      await page.goto(`${site}/dashboard/test/search?q=${requestId}`);
      return (await page.getByText('GET /api/v1/payments').count()) > 0;
    });
    // Until it was written, it was not found.
    browser.complaints.splice(0);
    pages.push(new URL(page.url()).pathname.replace('/dashboard/test', ''));
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: 'Add endpoint' }).click();
    await page.getByLabel('URL').fill('http://169.254.169.254/');
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.locator('.field-error').waitFor();
    // The answer to an invalid form is 422, which Chromium logs.
    browser.complaints.splice(0);
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    expect(await page.locator('.secret code').innerText()).toMatch(/^whsec_/);
    const endpointUrl = page.url();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('heading', { name: 'Attempt 1, requested by hand' }).waitFor();
    expect(await page.locator('body').innerText()).toContain('HTTP 200');
    expect(receiver.received).toHaveLength(1);
    const deliveryUrl = page.url();

    const paymentId = await openedPayment(client, {
      amount: '25',
      reference: 'order-<i>1</i>',
      metadata: { scenario: 'completed', note: '"><script>alert(1)</script>' },
    });
    const payout = await client.createPayout(buildPayout({ amount: '10', reference: 'invoice-1' }));
    expect(payout.status).toBe(201);
    await whenPayment(client, paymentId, 'completed');
    await payBack(paymentId);

    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByRole('link', { name: 'order-<i>1</i>' }).click();
    expect(await page.locator('.timeline').innerText()).toContain('Completed');
    expect(await page.locator('.timeline').innerText()).toContain('127.0.0.1');
    expect(await page.locator('body').innerText()).toContain('"><script>alert(1)</script>');
    await page.locator('.search input').fill('invoice-1');
    await page.locator('.search input').press('Enter');
    await page.getByRole('link', { name: 'invoice-1' }).click();
    expect(await page.locator('.facts').first().innerText()).toContain('10.00 USDT');
    await page.goto(`${site}/dashboard/test/payouts?status=completed&reference=none`);
    expect(await page.locator('.nothing').innerText()).toContain('No payouts match these filters');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.locator('.figure').first().waitFor();
    await page.goto(`${site}/dashboard/test/chats`);
    await page.getByLabel('Name').fill('Team');
    await page.getByLabel('Address', { exact: true }).fill(receiver.url);
    await page.getByLabel('Payouts that failed').check();
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByRole('link', { name: 'Team' }).click();
    expect(await page.getByLabel('Payouts that failed').isChecked()).toBe(true);
    await page.getByLabel('API keys created').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('API keys created, Payouts that failed').waitFor();
    await receiver.stop();
    const chatPath = await page.getByRole('link', { name: 'Team' }).getAttribute('href');
    pages.push(
      chatPath!.replace('/dashboard/test', ''),
      `/payments/${paymentId}`,
      `/payouts/${payout.json.data.id}`,
      new URL(endpointUrl).pathname.replace('/dashboard/test', ''),
      `${new URL(endpointUrl).pathname.replace('/dashboard/test', '')}/edit`,
      `${new URL(endpointUrl).pathname.replace('/dashboard/test', '')}/test`,
      new URL(deliveryUrl).pathname.replace('/dashboard/test', ''),
      '/search?q=invoice-1',
      `${keyPath}/edit`,
      `${keyPath}/limits`,
      keyPath,
    );
  });

  /** Makes a refund and a recipient, for the list of pages. */
  async function payBack(paymentId: string): Promise<void> {
    const client = new MerchantClient(gateway.baseUrl, gateway.merchant.testKey);
    const body = { amount: '5', reference: 'return-1' };
    const refund = await client.create(`/payments/${paymentId}/refunds`, body);
    const recipient = await client.createRecipient(buildRecipient({ name: '<b>Ada</b>' }));
    pages.push(
      `/payments/${paymentId}/refund`,
      `/refunds/${refund.json.data.id}`,
      `/recipients/${recipient.json.data.id}`,
      `/recipients/${recipient.json.data.id}/edit`,
    );
  }

  test('a payout is requested from the form, with the fees while it is filled in', async () => {
    await page.goto(`${site}/dashboard/test/payouts`);
    await page.getByRole('link', { name: 'Request a payout' }).click();
    await page.getByLabel('Amount').fill('5');
    await page.getByLabel('Currency').selectOption('USDT');
    await page.getByLabel('Network').selectOption('tron');
    await page.getByRole('textbox', { name: 'Reference' }).fill('by-hand-1');
    await page
      .getByLabel('Address, exchange account ID')
      .fill('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
    await page.getByText('Will be sent').waitFor();
    // The first click navigates, the second one sends the same form again.
    await page.getByRole('button', { name: 'Request payout' }).dblclick();
    // The second click can abort the first navigation, so the page is waited for and not its load.
    await page.locator('.timeline').waitFor();
    expect(page.url()).toMatch(/payouts\/po_/);
    const requested = await page.locator('.timeline').innerText();
    expect(requested).toContain(`Requested by ${owner.email}`);
    await page.goto(`${site}/dashboard/test/payouts?reference=by-hand-1`);
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.goto(`${site}/dashboard/test/payment-links/new`);
    await page.getByLabel('Amount').fill('12,50');
    for (const route of ['USDT on Tron', 'USDC on Base']) await page.getByLabel(route).check();
    await page.getByRole('textbox', { name: 'Reference' }).fill('link-1');
    await page.getByRole('button', { name: 'Create payment link' }).click();
    const link = await page.locator('.secret code').innerText();
    pages.push(new URL(page.url()).pathname.replace('/dashboard/test', ''));
    // A tab of its own: the page reloads itself, also while another one is opened in its place.
    const customer = await browser.newPage();
    await customer.goto(link);
    expect(await lookAt(customer, '/dashboard/pay')).toEqual([]);
    await customer.getByRole('button', { name: '12.50 USDC on Base' }).click();
    await customer.waitForURL(/checkout/);
    await customer.getByText('12.5').first().waitFor();
    await customer.close();
  });

  test('a live payout is reviewed before it is sent, and live home has the first steps', async () => {
    await fund(gateway.db, gateway.merchant.accountId, 'live', 'USDT', '100');
    await page.goto(`${site}/dashboard/live`);
    await page.getByText('First steps').waitFor();
    const found = await lookAt(page, '/dashboard/live');
    await page.goto(`${site}/dashboard/live/payouts/new`);
    await page.getByLabel('Amount').fill('5');
    await page.getByLabel('Currency').selectOption('USDT');
    await page.getByLabel('Network').selectOption('tron');
    await page.getByRole('textbox', { name: 'Reference' }).fill('live-by-hand-1');
    await page
      .getByLabel('Address, exchange account ID')
      .fill('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
    await page.getByRole('button', { name: 'Review payout' }).click();
    await page.getByRole('heading', { name: 'Review the payout' }).waitFor();
    await page.getByText('This is the first payout to the destination.').waitFor();
    found.push(...(await lookAt(page, '/dashboard/live/payouts/review')));
    expect(found).toEqual([]);
  });

  test('the table of people is not cut at 1280 px, with their last sign-in and a long address', async () => {
    const email = `bartholomew.featherstonehaugh@international-payments.example.com`;
    const { accountId } = gateway.merchant;
    const long = await makeUser(gateway.db, 'merchant', 'finance', accountId, email);
    await gateway.db.query('UPDATE users SET last_sign_in_at = now() WHERE id = ?', [long.id]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${site}/dashboard/people`);
    await page.getByText(email).first().waitFor();
    expect(await cutTables(page)).toEqual([]);
  });

  if (LOOKS_AT_PAGES) {
    test('every page is accessible in light and dark', async () => {
      await page.goto(`${site}/dashboard/security`);
      await page.getByRole('button', { name: 'Set up' }).click();
      await page.locator('.qr svg').waitFor();
      await page.goto(`${site}/dashboard/people/invite`);
      await page.getByLabel('Email address').fill('invited@example.com');
      await page.getByRole('button', { name: 'Create invitation' }).click();
      const invitation = new URL(await page.locator('.secret code').innerText());
      const found = await lookAtEach(page, site, [
        invitation.pathname + invitation.search,
        '/dashboard/security/totp',
        '/dashboard/security/password',
        '/dashboard/security/passkeys/new',
        '/dashboard/sessions',
        '/dashboard/security',
        '/dashboard/people',
        '/dashboard/people/invite',
        '/dashboard/notifications',
        '/dashboard/confirm',
        '/dashboard/test/nothing',
        ...pages.map((path) => `/dashboard/test${path}`),
        '/dashboard/forgotten-password',
        '/dashboard/forgotten-password?sent',
        '/console/sign-in',
        '/console/sign-in/passkey',
      ]);
      // The page that does not exist answers 404.
      expect(browser.complaints.splice(0).filter((one) => !one.includes('status of 404'))).toEqual(
        [],
      );
      expect(found).toEqual([]);
    });
  }
});
