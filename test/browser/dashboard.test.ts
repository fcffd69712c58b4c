/** A merchant and an operator with a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/browser';
import { type TestGateway, useSharedGateway } from '../support/gateway';
import { createMerchant, type Merchant } from '../support/merchant';
import { makeUser, type TestUser } from '../support/page-client';

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
  }, 120_000);

  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  afterEach(() => {
    expect(complaints.splice(0)).toEqual([]);
  });

  async function signIn(user: TestUser, path: string): Promise<void> {
    await page.goto(site + path);
    await page.getByLabel('E-mail address').fill(user.email);
    await page.getByLabel('Password').fill(user.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  test(
    'a merchant signs in and gets to the page that was asked for',
    async () => {
      await signIn(owner, '/dashboard/live?x=1');
      await page.waitForURL(`${site}/dashboard/live?x=1`);
      expect(await page.locator('.mode').innerText()).toContain('Live mode');
      await page.getByRole('link', { name: 'Switch to test' }).click();
      expect(await page.locator('.mode').innerText()).toContain('Test mode');
    },
    PATIENCE_MS,
  );

  test(
    'an operator signs in to the console beside it, and ends the session',
    async () => {
      await signIn(operator, '/console');
      await page.waitForURL(`${site}/console/home`);
      await page.getByRole('link', { name: 'Sessions' }).click();
      expect(await page.locator('tbody tr').count()).toBe(1);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${site}/console/sign-in`);
      // The merchant is still signed in.
      await page.goto(`${site}/dashboard`);
      await page.waitForURL(`${site}/dashboard/test`);
    },
    PATIENCE_MS,
  );
});
