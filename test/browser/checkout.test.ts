/** A customer with a real browser: from checkout_url over the provider's page back to the shop. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, openBrowser } from '../support/servers/browser';
import { type TestGateway, useSharedGateway } from '../support/servers/gateway';
import { createMerchant } from '../support/merchant/merchant';
import { MerchantClient } from '../support/merchant/merchant-client';
import { buildPayment, whenPayment } from '../support/payment/payment-steps';

/** How long a page may take on a busy machine. */
const PATIENCE_MS = 60_000;

describeWithBrowser('a customer in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let shop: Server;
  let client: MerchantClient;
  let complaints: string[];
  let page: Page;

  beforeAll(async () => {
    [gateway, browser, shop] = await Promise.all([useSharedGateway(), openBrowser(), openShop()]);
    const merchant = await createMerchant(gateway.db, gateway.pepper);
    client = new MerchantClient(gateway.baseUrl, merchant.testKey);
  });

  afterAll(async () => {
    await browser.close();
    await Promise.all([gateway.stop(), new Promise((resolve) => shop.close(resolve))]);
  });

  beforeEach(async () => {
    complaints = [];
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
  });

  afterEach(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });

  const shopUrl = (path: string) =>
    `http://127.0.0.1:${(shop.address() as AddressInfo).port}${path}`;

  async function openCheckout(provider: string): Promise<string> {
    const body = buildPayment({
      amount: '25.5',
      provider,
      success_url: shopUrl('/thanks'),
      cancel_url: shopUrl('/basket'),
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
      await page.waitForURL(shopUrl('/thanks'));
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
    await page.waitForURL(shopUrl('/basket'));
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
    await page.waitForURL(shopUrl('/thanks'));
    expect(await whenPayment(client, id, 'completed')).toMatchObject({ exceptions: [] });
  });
});

/** The merchant's shop: any page says where it is. */
async function openShop(): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const icon = '<link rel="icon" href="data:,">';
    response.end(`<!doctype html><title>Shop</title>${icon}<h1>The shop: ${request.url}</h1>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
