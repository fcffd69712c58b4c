/** A customer with a real browser: from checkout_url over the provider's page back to the shop. */
import type { Page } from 'playwright-core';
import { describeWithBrowser, useBrowser } from '../support/servers/browser';
import { useSharedGateway } from '../support/servers/gateway';
import { startShop } from '../support/servers/shop';
import { started } from '../support/started';
import { MerchantClient } from '../support/merchant/merchant-client';
import { buildPayment, whenPayment } from '../support/payment/payment-steps';

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
