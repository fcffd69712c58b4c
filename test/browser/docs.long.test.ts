/** The documentation in a browser: it loads without an error, and a reader can send a request. */
import type { Page } from 'playwright-core';
import { fund } from '../support/merchant/merchant';
import { violations } from './page-checks';
import { describeWithBrowser, useBrowser } from './browser';
import { useSharedGateway } from '../support/servers/gateway';
import { started } from '../support/started';

describeWithBrowser('/docs', () => {
  const gateway = started(useSharedGateway);
  const browser = useBrowser();

  /** @returns the page and what went wrong on it */
  async function open(path: string, colorScheme: 'light' | 'dark', width = 1360) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const { origin } = new URL(gateway.baseUrl);
    const problems: string[] = [];
    // A violation of the Content-Security-Policy is an error in the console; Scalar warns of what it
    // cannot read in the document.
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) {
        problems.push(`a request to ${request.url()}`);
      }
    });
    await page.goto(origin + path);
    return { page, problems };
  }

  const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth);

  test('a reader pastes a key, tries a request and sees the response', async () => {
    const { page, problems } = await open('/docs#tag/money/GET/balance', 'light');
    const visible = (selector: string) => page.locator(selector).locator('visible=true').first();
    await page.getByText('Download OpenAPI Document').first().waitFor();
    problems.push(...(await violations(page, 'light')));
    await visible('[placeholder="Token"]').fill(gateway.merchant.testKey);
    const operation = visible('[id$="tag/money/GET/balance"]');
    await operation.getByRole('button', { name: /Test Request/ }).click();
    const client = visible('[role="dialog"]');
    const answered = page.waitForResponse(/\/api\/v1\/balance$/);
    await client.getByRole('button', { name: /Send/ }).first().click();
    expect(await (await answered).json()).toMatchObject({ object: 'balance', mode: 'test' });
    await client.getByText('200 OK').first().waitFor();
    expect(
      await page.evaluate(
        (key) => JSON.stringify(localStorage).includes(key),
        gateway.merchant.testKey,
      ),
    ).toBe(false);
    expect(problems).toEqual([]);
  });

  test('an operation that creates something has a new Idempotency-Key filled in', async () => {
    await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', '20000');
    const { page, problems } = await open('/docs#tag/payouts/POST/payouts', 'light');
    const visible = (selector: string) => page.locator(selector).locator('visible=true').first();
    await visible('[placeholder="Token"]').fill(gateway.merchant.testKey);
    const operation = visible('[id$="tag/payouts/POST/payouts"]');
    await operation.getByRole('button', { name: /Test Request/ }).click();
    const client = visible('[role="dialog"]');
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/api/v1/payouts'),
    );
    await client.getByRole('button', { name: /Send/ }).first().click();
    const request = await sent;
    expect(request.headers()['idempotency-key']).toMatch(/^docs-[0-9a-f]{24}$/);
    expect((await request.response())?.status()).toBe(201);
    expect(problems).toEqual([]);
  });

  test('a sample is copied, and the way back to the dashboard is there', async () => {
    const { page, problems } = await open('/docs/guides/quickstart', 'light');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const sample = page.locator('.code').nth(1);
    await sample.getByRole('button', { name: 'Copy' }).click();
    await sample.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe('curl $API/balance -H "Authorization: Bearer $KEY"\n');
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.waitForURL(/\/dashboard/);
    expect(problems).toEqual([]);
  });

  test('without JavaScript, a guide has its colours and no buttons', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(new URL('/docs/guides/quickstart', gateway.baseUrl).href);
    expect(await page.locator('.code .string').count()).toBeGreaterThan(0);
    expect(await page.locator('.code button').count()).toBe(0);
    await page.close();
  });

  test.each(['light', 'dark'] as const)(
    'in %s, on a phone, nothing is wrong, inaccessible or too wide',
    async (scheme) => {
      for (const path of [
        '/docs',
        '/docs/guides/quickstart',
        '/docs/guides/errors',
        '/docs/guides/cli',
        '/docs/errors/rate_limited',
      ]) {
        const { page, problems } = await open(path, scheme, 390);
        if (path === '/docs') await page.getByText('Download OpenAPI Document').first().waitFor();
        problems.push(...(await violations(page, scheme)));
        expect({ path, problems, width: await widthOf(page) }).toEqual({
          path,
          problems: [],
          width: 390,
        });
        await page.close();
      }
    },
    120_000,
  );
});
