/** Operators decide about payouts with a real browser. */
import type { Page } from 'playwright-core';
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import { describeWithBrowser, signIn, useBrowser } from '../browser';
import { APPROVED } from '../../support/servers/console-gateway';
import { fund } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { lookAt, lookAtEach, picture } from '../page-checks';
import { makeUser, type TestUser } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { startConsole } from './console-gateway';

describeWithBrowser('the review queue in a browser', () => {
  const gateway = started(startConsole);
  const browser = useBrowser();
  let client: MerchantClient;
  let alice: TestUser;
  let bob: TestUser;
  let site: string;

  beforeAll(async () => {
    site = new URL(gateway.baseUrl).origin;
    const { accountId, liveKey } = gateway.merchant;
    client = new MerchantClient(gateway.baseUrl, liveKey);
    await fund(gateway.db, accountId, 'live', 'USDT', '1000');
    await fund(gateway.db, accountId, 'live', 'BTC', '10');
    await gateway.db.query(`INSERT INTO four_eyes_thresholds VALUES ('BTC', 0.9)`);
    alice = await makeUser(gateway.db, 'operator', 'reviewer');
    bob = await makeUser(gateway.db, 'operator', 'admin');
  });

  async function openPage(user: TestUser): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`${site}/console/queue?account=${gateway.merchant.accountId}`);
    await signIn(page, user);
    await page.getByRole('heading', { name: 'Review queue' }).waitFor();
    return page;
  }

  async function createPayout(overrides: Record<string, unknown> = {}): Promise<string> {
    const { json } = await client.createPayout(buildPayout(overrides));
    return json.data.id as string;
  }

  const noteOf = (page: Page) => page.locator('.note').first();

  /** The page that follows a click: the one before it may have a note, too. */
  const noted = (page: Page, text: string | RegExp) =>
    page.locator('.note', { hasText: text }).waitFor();

  /** Through the queue to the first payout, and what else the keys do. */
  async function pressKeys(page: Page, [first, second]: readonly [string, string]): Promise<void> {
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('href'));
    const seen: (string | null | undefined)[] = [];
    for (const key of ['j', 'j', 'j', 'k', 'k']) {
      await page.keyboard.press(key);
      seen.push(await focused());
    }
    const [one, two] = [`/console/payouts/${first}`, `/console/payouts/${second}`];
    expect(seen).toEqual([one, two, two, one, one]);
    expect(
      await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle),
    ).not.toBe('none');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await page.locator('#keys').innerText()).toContain('Next row of the list');
    await picture(page, '/console/keys', 'light');
    // Nothing moves behind it, and a person can turn the keys off.
    await page.keyboard.press('j');
    await page.getByLabel('Use single-key shortcuts').uncheck();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('j');
    await page.keyboard.press('?');
    expect(await page.locator('#keys').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page.getByLabel('Use single-key shortcuts').check();
    await page.keyboard.press('Escape');
    // What somebody types is text.
    await page.getByLabel('Currency').fill('');
    await page.getByLabel('Currency').press('j');
    expect(await page.getByLabel('Currency').inputValue()).toBe('j');
    await page.locator(`a[href="${two}"]`).focus();
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Destination' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(one);
    // Times in the person's own zone, and back in UTC.
    const showKeys = () => page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await showKeys();
    await page.getByLabel('Show times in my time zone').check();
    await page.locator('main time[data-seconds]:not(:has(span))').first().waitFor();
    await showKeys();
    await page.getByLabel('Show times in my time zone').uncheck();
    await page.locator('main time[data-seconds] span').first().waitFor();
  }

  test('an operator approves one from the queue and rejects another, and two tabs decide once', async () => {
    const approved = await createPayout();
    const rejected = await createPayout();
    const [page, other] = await Promise.all([openPage(alice), openPage(bob)]);
    await pressKeys(page, [approved, rejected]);
    await other.goto(page.url());
    expect(await page.locator('.address').first().innerText()).toContain('TR7N');
    const approve = { name: /Approve and send 10/ };
    await page.getByRole('button', approve).waitFor();
    await Promise.all([
      page.getByRole('button', approve).click(),
      other.getByRole('button', approve).click(),
    ]);
    await Promise.all([noteOf(page).waitFor(), noteOf(other).waitFor()]);
    const told = [await noteOf(page).innerText(), await noteOf(other).innerText()];
    expect(told.filter((text) => APPROVED.test(text))).toHaveLength(1);
    expect(
      told.filter((text) => /Approved by .*@example.com \d+ (s|min) ago/.test(text)),
    ).toHaveLength(1);

    await page.goto(`${site}/console/queue?account=${gateway.merchant.accountId}`);
    expect(await page.locator(`a[href="/console/payouts/${approved}"]`).count()).toBe(0);
    await page.locator(`a[href="/console/payouts/${rejected}"]`).click();
    await page.locator('summary', { hasText: 'Reject' }).click();
    await page.getByLabel('Reason for the rejection').fill('sanctions <b>hit</b>');
    await page.getByRole('button', { name: /Reject and return/ }).click();
    await noted(page, 'Rejected. The funds were returned');
    expect(await page.locator('.timeline').first().innerText()).toContain('sanctions <b>hit</b>');
    await Promise.all([page.close(), other.close()]);
  });

  test('above the threshold the second operator sends it, and the pages are accessible', async () => {
    const id = await createPayout({
      amount: '0.95',
      currency: 'BTC',
      network: 'bitcoin',
      destination: { type: 'crypto_address', value: magicAddress('sends', 'bitcoin') },
    });
    const [page, other] = await Promise.all([openPage(alice), openPage(bob)]);
    const url = `${site}/console/payouts/${id}`;
    await page.goto(url);
    await page.getByRole('button', { name: /Give the first approval for/ }).click();
    await noted(page, 'Your approval is stored: 1 of 2.');
    expect(await page.getByRole('button', { name: /pprov/ }).count()).toBe(0);
    await other.goto(url);
    expect(await other.locator('body').innerText()).toContain(
      `Approved by ${alice.email}, a second approval is required.`,
    );
    const paths = [
      `payouts/${id}`,
      'queue',
      'queue/decided',
      'in-doubt',
      `queue/selection?id=${id}`,
    ];
    const looked = paths.map((path) => `/console/${path}`);
    expect(await lookAtEach(other, site, looked)).toEqual([]);
    await other.goto(url);
    await other.getByRole('button', { name: /Approve and send/ }).click();
    await noted(other, APPROVED);
    await Promise.all([page.close(), other.close()]);
  });

  test('an operator searches a payout, leaves a note, and the page follows what another one decides', async () => {
    const reference = `story-${Date.now()}`;
    const ids = [
      await createPayout({ reference }),
      await createPayout({ reference: `${reference}-2` }),
    ];
    const page = await openPage(alice);
    // The name of a page opens it.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('review queue');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/queue$/);
    await page.keyboard.press('/');
    await page.keyboard.type(reference.slice(0, -1));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Search' }).waitFor();
    expect(await lookAt(page, '/console/search')).toEqual([]);
    await page.getByRole('link', { name: reference, exact: true }).click();
    await page.getByLabel('New note').fill('Asked the merchant <b>by mail</b>');
    await page.getByRole('button', { name: 'Add the note' }).click();
    await page.locator('#notes', { hasText: 'Asked the merchant <b>by mail</b>' }).waitFor();
    expect(await page.locator('#story').innerText()).toContain('Reserve the funds');

    const other = await openPage(bob);
    await other.goto(page.url());
    await other.getByRole('button', { name: /Approve and send/ }).click();
    await noted(other, APPROVED);
    expect(await other.getByRole('link', { name: 'Next payout in the queue' }).count()).toBe(1);
    // Nobody touches this page.
    await page.locator('#status', { hasText: 'Completed' }).waitFor();
    await page.locator('#story', { hasText: 'Submit to the provider' }).waitFor();
    await page.reload();
    await page.locator('#story', { hasText: 'Workflow completed' }).waitFor();
    expect(await lookAt(page, '/console/payouts/story')).toEqual([]);

    const site = new URL(page.url()).origin;
    await page.goto(`${site}/console/home`);
    expect(await lookAt(page, '/console/home/waiting')).toEqual([]);
    await page.goto(`${site}/console/payouts?status=under_review&min=1`);
    await page.locator('summary', { hasText: 'Save these filters' }).click();
    await page.getByLabel('Name of the filter').fill('Waiting above 1');
    await page.getByRole('button', { name: 'Save the filter' }).click();
    await page.getByRole('link', { name: 'Waiting above 1' }).waitFor();
    expect(await lookAt(page, '/console/payouts/filtered')).toEqual([]);

    await page.goto(`${site}/console/queue?account=${gateway.merchant.accountId}`);
    // The switch holds on every page, until it is turned on again.
    await page.getByLabel('Update automatically').uncheck();
    await page.reload();
    expect(await page.getByLabel('Update automatically').isChecked()).toBe(false);
    await page.getByLabel('Update automatically').check();
    expect(await lookAt(page, '/console/queue/rows')).toEqual([]);
    await page.getByLabel('Select all').check();
    expect(await page.locator('input[name="id"]:checked').count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Reject the selected payouts' }).click();
    await page.getByLabel('Reason for the rejection').fill('Not ours');
    expect(await lookAt(page, '/console/queue/reject')).toEqual([]);
    await page.getByRole('button', { name: /^Reject \d+ payouts?$/ }).click();
    await page.getByRole('heading', { name: 'Result of the selection' }).waitFor();
    expect(await page.locator('main').innerText()).toContain(ids[1]!);
    await Promise.all([page.close(), other.close()]);
  });
});
