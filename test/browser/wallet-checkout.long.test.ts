/** The wallet's hosted page in a real browser: paid on the chain by somebody else's account. */
import { mkdirSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Address } from 'viem';
import type { CheckoutOrder } from '../../src/adapters/providers/port';
import { describeWithBrowser, useBrowser } from './browser';
import { describeWithChain, startChain, type TestChain } from '../support/wallet/chain';
import { violations } from './page-checks';
import { createWalletDatabase, type WalletDatabase } from '../support/servers/database';
import {
  createTestSigner,
  startTestWallet,
  testNetwork,
  type TestWallet,
} from '../support/wallet/wallet';
import { buildOrder, foundCheckout, pay } from '../wallet/deposits-world';
import { startShop } from './shop';
import { started } from '../support/started';
import { waitFor } from '../support/wait-for';

const FOLDER = process.env['SCREENSHOTS'];

describeWithChain('with a chain', () => {
  describeWithBrowser('the wallet’s checkout page', () => {
    let chain: TestChain;
    let database: WalletDatabase;
    let wallet: TestWallet;
    const shop = started(startShop);
    const browser = useBrowser();

    beforeAll(async () => {
      [chain, database] = await Promise.all([startChain(), createWalletDatabase()]);
      await chain.finalize();
      wallet = await startTestWallet({
        networks: [testNetwork(chain)],
        signer: createTestSigner(),
        database,
      });
    });

    afterAll(async () => {
      await wallet.stop();
      await Promise.all([database.drop(), chain.stop()]);
    });

    const open = async (
      changes: Partial<CheckoutOrder> = {},
      options: BrowserContextOptions = {},
    ): Promise<{ page: Page; address: Address; order: CheckoutOrder }> => {
      const order = buildOrder({
        successUrl: shop.urlOf('/thanks'),
        cancelUrl: shop.urlOf('/basket'),
        description: 'Order 1042',
        ...changes,
      });
      const { checkoutUrl } = foundCheckout(await wallet.provider.openCheckout(order));
      const page = await browser.newPage(options);
      await page.goto(checkoutUrl);
      const address = (await page.locator('[data-copy="address"]').innerText()) as Address;
      return { page, address, order };
    };

    const photograph = async (page: Page, name: string): Promise<void> => {
      if (FOLDER === undefined) return;
      mkdirSync(FOLDER, { recursive: true });
      await page.screenshot({ path: `${FOLDER}/wallet-${name}.png`, fullPage: true });
    };

    const status = (page: Page, name: string) =>
      page.locator(`.status[data-status="${name}"]`).waitFor();

    test('who pays from another account sees it arrive, confirmed, and lands on success_url', async () => {
      const { page, address } = await open({}, { viewport: { width: 1280, height: 1000 } });
      await status(page, 'waiting');
      expect(await page.locator('h1').innerText()).toContain('25.50 USDC');
      expect(await page.locator('.qr svg').isVisible()).toBe(true);
      expect(await page.locator('time').innerText()).toMatch(/^5\d:\d\d$/);
      expect(await violations(page, 'light')).toEqual([]);
      await photograph(page, 'waiting');
      await pay(chain, chain.tokens.USDC, address, 25_500_000n);
      await status(page, 'seen');
      await page.getByText('1 confirmation so far').waitFor();
      await chain.mine(2);
      await page.getByText('3 confirmations so far').waitFor();
      await photograph(page, 'seen');
      await chain.mine(2);
      await status(page, 'paid');
      await photograph(page, 'paid');
      await page.waitForURL(shop.urlOf('/thanks'));
      await page.close();
    });

    test('a dark phone: too little arrives, and the rest is asked for', async () => {
      const { page, address } = await open(
        {},
        { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
      );
      await photograph(page, 'phone-dark');
      await pay(chain, chain.tokens.USDC, address, 10_000_000n);
      await status(page, 'part');
      expect(await page.locator('[data-copy="amount"]').innerText()).toBe('15.50');
      expect(await violations(page, 'dark')).toEqual([]);
      await photograph(page, 'phone-dark-part');
      const isWide = await page.evaluate(
        () => document.documentElement.scrollWidth > window.innerWidth,
      );
      expect(isWide).toBe(false);
      await page.close();
    });

    test('a cancellation is asked for first, also while the page updates', async () => {
      const { page } = await open({}, { locale: 'de-DE' });
      await page.locator('summary', { hasText: 'Zahlung abbrechen' }).click();
      await page.waitForTimeout(3_000);
      await page.getByRole('button', { name: 'Ja, abbrechen' }).click();
      await page.waitForURL(shop.urlOf('/basket'));
      await page.close();
    });

    test('without JavaScript: everything to pay is there', async () => {
      const { page, address } = await open({}, { javaScriptEnabled: false });
      expect(await page.locator('[data-copy="amount"]').innerText()).toBe('25.50');
      expect(await page.locator('time').innerText()).toMatch(/^until \d{4}-/);
      expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
      await pay(chain, chain.tokens.USDC, address, 25_500_000n);
      await chain.finalize();
      await waitFor('the page to say that it is paid', async () => {
        await page.reload();
        return (await page.locator('.status[data-status="paid"]').count()) > 0;
      });
      await page.close();
    });
  });
});
