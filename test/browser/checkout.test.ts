/** A customer with a real browser: from checkout_url over the provider's page back to the shop. */
import type { Page } from 'playwright-core';
import { describeWithBrowser, useBrowser } from './browser';
import { useSharedGateway } from '../support/servers/gateway';
import { startShop } from './shop';
import { started } from '../support/started';
import { createMerchant } from '../support/merchant/merchant';
import { MerchantClient } from '../support/merchant/merchant-client';
import { picture, violations } from './page-checks';
import { buildPayment, whenPayment } from '../support/payment/payment-steps';
import { waitFor } from '../support/wait-for';

describeWithBrowser('a customer in a browser', () => {
  const gateway = started(useSharedGateway);
  const shop = started(startShop);
  const browser = useBrowser();
  let client: MerchantClient;
  let page: Page;

  beforeAll(() => {
    client = new MerchantClient(gateway.baseUrl, gateway.merchant.testKey);
  });

  beforeEach(async () => {
    page = await browser.newPage();
  });

  afterEach(() => page.close());

  async function openCheckout(provider: string): Promise<string> {
    const body = buildPayment({
      amount: '25.5',
      provider,
      success_url: shop.urlOf('/thanks'),
      cancel_url: shop.urlOf('/basket'),
    });
    const { status, json } = await client.createPayment(body);
    expect(status).toBe(201);
    await page.goto(json.data.checkout_url);
    return json.data.id;
  }

  test.each(['onchain_provider', 'exchange_pay'])(
    '%s: who pays exactly lands on success_url, and the payment is completed',
    async (provider) => {
      const id = await openCheckout(provider);
      expect(await page.locator('h1').innerText()).toContain('25.50 USDT');
      expect(await page.locator('.qr svg').isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Pay exact amount' }).click();
      await page.waitForURL(shop.urlOf('/thanks'));
      expect(await page.locator('h1').innerText()).toBe('The shop: /thanks');
      expect(await whenPayment(client, id, 'completed')).toMatchObject({
        received_amount: '25.50000000',
        amount_due: '0.00000000',
      });
    },
  );

  test('the logo of the merchant is loaded from the dashboard, and hidden once it is gone', async () => {
    const own = await createMerchant(gateway.db, gateway.pepper);
    const client = new MerchantClient(gateway.baseUrl, own.testKey);
    await page.setContent(
      '<h1 style="width: 9rem; padding: 1rem; background: #0f766e; color: #fff">ADA’S</h1>',
    );
    await gateway.db.query(
      `INSERT INTO account_logos (account_id, type, content, sha256)
       VALUES (?, 'image/png', ?, encode(sha256(?), 'hex'))`,
      [own.accountId, ...Array<Buffer>(2).fill(await page.locator('h1').screenshot())],
    );
    const { json } = await client.createPayment(buildPayment());
    await page.goto(json.data.checkout_url);
    const logo = page.locator('img.logo');
    const width = () => logo.evaluate((image: HTMLImageElement) => image.naturalWidth);
    await waitFor('the logo', async () => (await width()) > 0 || undefined);
    expect(await logo.boundingBox()).toMatchObject({ height: 48 });
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await violations(page, scheme)).toEqual([]);
      await picture(page, '/checkout-logo', scheme);
    }

    await gateway.db.query('DELETE FROM account_logos WHERE account_id = ?', [own.accountId]);
    // Browsers keep the image for ever.
    const other = await browser.newPage();
    await other.goto(page.url());
    await other.locator('img.logo').waitFor({ state: 'hidden' });
    // Also after the page has looked for news.
    await other.waitForTimeout(3_000);
    expect(await other.locator('img.logo').isVisible()).toBe(false);
    await other.close();
    // Chromium may report that the image is missing.
    browser.complaints.splice(0);
  });

  test('who cancels lands on cancel_url, and the payment is cancelled', async () => {
    const id = await openCheckout('onchain_provider');
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.waitForURL(shop.urlOf('/basket'));
    expect(await whenPayment(client, id, 'cancelled')).toMatchObject({
      received_amount: '0.00000000',
    });
  });

  test('who pays less stays on the page, which says what is missing, and can pay the rest', async () => {
    const id = await openCheckout('onchain_provider');
    await page.getByRole('button', { name: 'Pay less (50%)' }).click();
    await page.locator('.status[data-status="part"]').waitFor();
    expect(await page.locator('.status').innerText()).toContain(
      '12.75 USDT received, 12.75 USDT missing.',
    );
    expect(await whenPayment(client, id, 'processing')).toMatchObject({
      amount_due: '12.75000000',
    });
    await page.getByRole('button', { name: 'Pay exact amount' }).click();
    await page.waitForURL(shop.urlOf('/thanks'));
    expect(await whenPayment(client, id, 'completed')).toMatchObject({ exceptions: [] });
  });
});
