/** A merchant and an operator with a real browser. */
import { openCase } from '../../src/db/repositories/cases';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/servers/browser';
import { picture, violations } from '../support/merchant/page-checks';
import { type TestGateway, useSharedGateway } from '../support/servers/gateway';
import { createMerchant, fund, type Merchant } from '../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../support/merchant/merchant-client';
import { openedPayment, whenPayment } from '../support/payment/payment-steps';
import { makeUser, type TestUser } from '../support/merchant/page-client';
import { startReceiver } from '../support/webhook/webhook-receiver';
import { waitFor } from '../support/wait-for';

const PATIENCE_MS = 60_000;

describeWithBrowser('the dashboard and the console in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let merchant: Merchant;
  let owner: TestUser;
  let operator: TestUser;
  let site: string;
  const complaints: string[] = [];
  /** Below /dashboard/test; the journey adds what it made. */
  const pages = [
    '',
    '/payments',
    '/payments/new',
    '/payouts',
    '/payouts/new',
    '/refunds',
    '/batches',
    '/batches/new',
    '/transactions',
    '/requests',
    '/balances/USDT',
    '/statements',
    '/keys',
    '/keys/new',
    '/webhooks',
    '/webhooks/new',
    '/audit-log',
    '/webhooks/debugger',
  ];

  beforeAll(async () => {
    [gateway, browser] = await Promise.all([useSharedGateway(), openBrowser()]);
    merchant = await createMerchant(gateway.db, gateway.pepper);
    owner = await makeUser(gateway.db, 'merchant', 'owner', merchant.accountId);
    operator = await makeUser(gateway.db, 'operator', 'admin');
    site = new URL(gateway.baseUrl).origin;
    context = await browser.newContext();
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
  });

  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  afterEach(() => {
    expect(complaints.splice(0)).toEqual([]);
  });

  async function signIn(user: TestUser, path: string): Promise<void> {
    await page.goto(site + path);
    await page.getByLabel('Email address').fill(user.email);
    await page.getByLabel('Password').fill(user.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test('a merchant signs in and gets to the page that was asked for', async () => {
    await signIn(owner, '/dashboard/live?x=1');
    await page.waitForURL(`${site}/dashboard/live?x=1`);
    expect(await page.locator('.mode').innerText()).toContain('Live mode');
    await page.getByRole('link', { name: 'Switch to test' }).click();
    await page.waitForURL(/\/dashboard\/test/);
    expect(await page.locator('.mode').innerText()).toContain('Test mode');
  });

  test('an operator signs in to the console beside it, and ends the session', async () => {
    await signIn(operator, '/console');
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
    await page.reload();
    expect(await page.locator('.secret').count()).toBe(0);
    const client = new MerchantClient(gateway.baseUrl, secret);
    await fund(gateway.db, merchant.accountId, 'test', 'USDT', '500');

    const receiver = await startReceiver();
    // The request log has what the key called, and the request id leads there.
    const called = await client.get('/payments');
    const requestId = called.headers.get('x-request-id')!;
    await waitFor('the request in the log', async () => {
      await page.goto(`${site}/dashboard/test/search?q=${requestId}`);
      return (await page.getByText('GET /api/v1/payments').count()) > 0;
    });
    // Until it was written, it was not found.
    complaints.splice(0);
    pages.push(new URL(page.url()).pathname.replace('/dashboard/test', ''));
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('link', { name: 'Add endpoint' }).click();
    await page.getByLabel('URL').fill('http://169.254.169.254/');
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.locator('.field-error').waitFor();
    // The answer to an invalid form is 422, which Chromium logs.
    complaints.splice(0);
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

    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByRole('link', { name: 'order-<i>1</i>' }).click();
    expect(await page.locator('.timeline').innerText()).toContain('Completed');
    expect(await page.locator('.timeline').innerText()).toContain('127.0.0.1');
    expect(await page.locator('body').innerText()).toContain('"><script>alert(1)</script>');
    await page.getByRole('searchbox').fill('invoice-1');
    await page.getByRole('searchbox').press('Enter');
    await page.getByRole('link', { name: 'invoice-1' }).click();
    expect(await page.locator('.facts').first().innerText()).toContain('10.00000000 USDT');
    await page.goto(`${site}/dashboard/test/payouts?status=completed&reference=none`);
    expect(await page.locator('.nothing').innerText()).toContain('No payouts match these filters');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.locator('.figure').first().waitFor();
    await receiver.stop();
    pages.push(
      `/payments/${paymentId}`,
      `/payouts/${payout.json.data.id}`,
      new URL(endpointUrl).pathname.replace('/dashboard/test', ''),
      `${new URL(endpointUrl).pathname.replace('/dashboard/test', '')}/edit`,
      `${new URL(endpointUrl).pathname.replace('/dashboard/test', '')}/test`,
      new URL(deliveryUrl).pathname.replace('/dashboard/test', ''),
      '/search?q=invoice-1',
    );
  });

  test('a payout is requested from the form, with the fees while it is filled in', async () => {
    await page.goto(`${site}/dashboard/test/payouts`);
    await page.getByRole('link', { name: 'Request a payout' }).click();
    await page.getByLabel('Amount').fill('5');
    await page.getByLabel('Currency').selectOption('USDT');
    await page.getByLabel('Network').selectOption('tron');
    await page.getByRole('textbox', { name: 'Reference' }).fill('by-hand-1');
    await page.getByLabel('Address, account id').fill('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
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
    await page.goto(`${site}/dashboard/test/payments/new`);
    await page.getByLabel('Amount').fill('12');
    await page.getByLabel('Currency and network').selectOption('USDT tron');
    await page.getByRole('textbox', { name: 'Reference' }).fill('link-1');
    await page.getByRole('button', { name: 'Create payment link' }).click();
    const link = await page.locator('.secret code').innerText();
    pages.push(new URL(page.url()).pathname.replace('/dashboard/test', ''));
    // A tab of its own: the page reloads itself, also while another one is opened in its place.
    const customer = await context.newPage();
    await customer.goto(link);
    await customer.getByText('12').first().waitFor();
    await customer.close();
  });

  test('a batch is read from a file, one row is mended, and every row is paid', async () => {
    const head = 'reference;amount;currency;destination;network';
    const row = (reference: string, amount: string) =>
      `${reference};${amount};USDT;TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t;tron`;
    const table = [head, row('wage-1', '2,50'), row('wage-2', '0'), row('wage-3', '4')].join('\n');
    await page.goto(`${site}/dashboard/test/batches`);
    await page.getByRole('link', { name: 'Create a batch' }).click();
    await page.getByRole('textbox', { name: 'Reference' }).fill('wages');
    const file = { name: 'wages.csv', mimeType: 'text/csv', buffer: Buffer.from(table) };
    await page.getByLabel('File').setInputFiles(file);
    await page.waitForFunction(() => document.querySelector('textarea')?.value.includes('wage-3'));
    await page.getByRole('button', { name: 'Check the table' }).click();
    await page.getByText('1 of 3 rows must be corrected').waitFor();
    const found = await lookHere(page, '/dashboard/test/batches/faults');
    await page.getByLabel('Table').fill(table.replace('wage-2;0;', 'wage-2;3;'));
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('button', { name: 'Reserve the funds and create' }).waitFor();
    found.push(...(await lookHere(page, '/dashboard/test/batches/preview')));
    await page.getByRole('button', { name: 'Reserve the funds and create' }).click();
    await page.waitForURL(/batches\/pb_/);
    pages.push(new URL(page.url()).pathname.replace('/dashboard/test', ''));
    await waitFor('the batch to be completed', async () => {
      await page.reload();
      return (await page.locator('h1').innerText()).includes('Completed');
    });
    expect(found).toEqual([]);
  });

  test('a passkey signs in, after the password and instead of it, and each answer works once', async () => {
    // Browsers refuse passkeys for IP addresses.
    const local = site.replace('127.0.0.1', 'localhost');
    const user = await makeUser(gateway.db, 'merchant', 'developer', merchant.accountId);
    const other = await browser.newContext();
    const tab = await other.newPage();
    tab.setDefaultTimeout(PATIENCE_MS);
    const devtools = await other.newCDPSession(tab);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    });
    const enterPassword = async () => {
      await tab.goto(`${local}/dashboard/sign-in`);
      await tab.getByLabel('Email address').fill(user.email);
      await tab.getByLabel('Password').fill(user.password);
      await tab.getByRole('button', { name: 'Sign in' }).click();
    };
    const signOut = () => tab.getByRole('button', { name: 'Sign out' }).click();

    await enterPassword();
    await tab.getByRole('link', { name: 'Security' }).click();
    await tab.getByRole('link', { name: 'Add' }).click();
    await tab.getByLabel('Name').fill('Laptop <b>1</b>');
    await tab.getByRole('button', { name: 'Add passkey' }).click();
    await tab.getByRole('heading', { name: 'Recovery codes' }).waitFor();
    expect(await tab.locator('.codes li').count()).toBe(10);
    const found = await lookHere(tab, '/dashboard/security/recovery-codes');
    await tab.getByRole('link', { name: 'Continue' }).click();
    expect(await tab.locator('tbody').innerText()).toContain('Laptop <b>1</b>');
    await signOut();

    await enterPassword();
    await tab.getByRole('button', { name: 'Use a passkey' }).waitFor();
    found.push(...(await lookHere(tab, '/dashboard/sign-in/second-step')));
    const [answered] = await Promise.all([
      tab.waitForRequest((request) => request.url().endsWith('second-step/passkey')),
      tab.getByRole('button', { name: 'Use a passkey' }).click(),
    ]);
    await tab.waitForURL(`${local}/dashboard/test`);
    // The same answer again, with the cookies that it was sent with.
    const replayed = await fetch(answered.url(), {
      method: 'POST',
      body: answered.postData() ?? '',
      redirect: 'manual',
      headers: await answered.allHeaders(),
    });
    expect(replayed.status).toBe(401);
    for (const path of ['security', 'security/recovery-codes', 'confirm']) {
      await tab.goto(`${local}/dashboard/${path}`);
      found.push(...(await lookHere(tab, `/dashboard/${path}?passkey`)));
    }
    expect(found).toEqual([]);
    // It confirms too; the password alone does not.
    await tab.goto(`${local}/dashboard/confirm?next=%2Fdashboard%2Fsessions`);
    expect(await tab.getByLabel('Password').isVisible()).toBe(false);
    await tab.getByRole('button', { name: 'Use a passkey' }).click();
    await tab.waitForURL(`${local}/dashboard/sessions`);
    await signOut();

    await tab.getByRole('link', { name: 'Sign in with a passkey' }).click();
    await tab.waitForURL(`${local}/dashboard/test`);
    await signOut();
    // An operator's console does not accept it.
    await tab.goto(`${local}/console/sign-in/passkey`);
    await tab.getByText('The passkey was not accepted').waitFor();
    await other.close();
  });

  test('every page is accessible in light and dark', async () => {
    await page.goto(`${site}/dashboard/security`);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.locator('.qr svg').waitFor();
    await page.goto(`${site}/dashboard/people/invite`);
    await page.getByLabel('Email address').fill('invited@example.com');
    await page.getByRole('button', { name: 'Create invitation' }).click();
    const invitation = new URL(await page.locator('.secret code').innerText());
    const found = await lookAt([
      invitation.pathname + invitation.search,
      '/dashboard/security/totp',
      '/dashboard/security/password',
      '/dashboard/security/passkeys/new',
      '/dashboard/sessions',
      '/dashboard/security',
      '/dashboard/people',
      '/dashboard/people/invite',
      '/dashboard/confirm',
      '/dashboard/test/nothing',
      ...pages.map((path) => `/dashboard/test${path}`),
      '/dashboard/sign-in',
      '/console/sign-in',
      '/console/sign-in/passkey',
    ]);
    // The page that does not exist answers 404.
    expect(complaints.splice(0).filter((one) => !one.includes('status of 404'))).toEqual([]);
    expect(found).toEqual([]);
  });

  test('every supervising page of the console is accessible in light and dark', async () => {
    const payoutId = pages
      .find((path) => path.startsWith('/payouts/po_'))!
      .split('/')
      .at(-1)!;
    await openCase(gateway.db, 'sent_twice', payoutId, { transfers: ['<b>one</b>', 'two'] });
    await signIn(operator, '/console');
    await page.waitForURL(`${site}/console/home`);
    await page.getByRole('link', { name: 'Cases' }).click();
    await page.getByLabel('Object ID').fill(payoutId);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: 'Sent twice' }).click();
    const casePath = new URL(page.url()).pathname;
    const account = `/console/accounts/${merchant.accountId}`;
    await page.goto(`${site}${account}/limits?currency=USDT`);
    await page.getByLabel('Per payout', { exact: true }).fill('250');
    await page.getByLabel('Reason').fill('Agreed by mail');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByText('Agreed by mail').first().waitFor();
    const paymentPath = pages.find((path) => path.startsWith('/payments/pay_'))!;
    await page.goto(`${site}/console/four-eyes`);
    await page.getByLabel('Currency').selectOption('XRP');
    await page.getByLabel('Two approvals above').fill('90000');
    await page.getByLabel('Reason').fill('Policy of May');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByText('Policy of May').waitFor();
    const paths = [
      'home',
      'four-eyes',
      'payments',
      'payouts',
      'batches',
      'batches?show=all',
      'cases',
      'accounts',
      'pauses',
      'operations?check',
      'audit-log',
      'security',
      'security/password',
      'people',
      'people/invite',
      'sessions',
      'confirm',
    ];
    const found = await lookAt([
      ...paths.map((path) => `/console/${path}`),
      casePath,
      account,
      `${account}/limits?currency=USDT`,
      `/console${paymentPath}`,
      `/console${pages.find((path) => path.startsWith('/batches/pb_')) ?? ''}`,
    ]);
    await page.goto(`${site}/console/four-eyes`);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.goto(site + casePath);
    await page.getByLabel('Resolution').fill('The second one was claimed back');
    await page.getByRole('button', { name: 'Resolve case' }).click();
    await page.getByText('The second one was claimed back').waitFor();
    expect(found).toEqual([]);
  });

  /** The findings on each page, in light and dark. */
  async function lookAt(paths: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const path of paths) {
      await page.goto(site + path);
      found.push(...(await lookHere(page, path)));
    }
    return found;
  }

  /** The same for the page that is open. */
  async function lookHere(tab: Page, path: string): Promise<string[]> {
    const found: string[] = [];
    for (const scheme of ['light', 'dark'] as const) {
      // As the button for the theme does it: a page that is shown once cannot be opened again.
      await tab.evaluate((name) => {
        document.documentElement.className = `js ${name}`;
        // Colours change slowly.
        for (const animation of document.getAnimations()) animation.finish();
      }, scheme);
      const faults = await violations(tab, scheme);
      found.push(...faults.map((fault) => `${scheme} ${path}: ${fault}`));
      await picture(tab, path, scheme);
    }
    return found;
  }
});
