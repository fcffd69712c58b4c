/** An operator reads what the screening says about a payout, and allows it, with a real browser. */
import type { Page } from 'playwright-core';
import { importList } from '../../../src/features/screening/screening';
import { describeWithBrowser, signIn, useBrowser } from '../browser';
import { fund } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { lookAt } from '../page-checks';
import { makeUser, type TestUser } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startConsole } from './console-gateway';

const ADDRESS = 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8';
const BLOCKED = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';

describeWithBrowser('the screening of a payout in a browser', () => {
  const gateway = started(startConsole);
  const browser = useBrowser();
  let client: MerchantClient;
  let alice: TestUser;

  beforeAll(async () => {
    const { accountId, liveKey } = gateway.merchant;
    client = new MerchantClient(gateway.baseUrl, liveKey);
    await fund(gateway.db, accountId, 'live', 'USDT', '1000');
    alice = await makeUser(gateway.db, 'operator', 'reviewer');
    const list = { name: 'watched', format: 'addresses', verdict: 'review' } as const;
    const by = { actor: 'admin', reason: null };
    await importList(gateway.db, by, { ...list, text: `${ADDRESS} # Mixer, ticket 812` });
  });

  async function openPage(path: string): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(new URL(path, gateway.baseUrl).href);
    await signIn(page, alice);
    await page.getByRole('heading', { name: 'Destination' }).waitFor();
    return page;
  }

  const noted = (page: Page, text: string) => page.locator('.note', { hasText: text }).waitFor();

  test('a held payout shows the reasons, is asked about again, and is sent when it is allowed', async () => {
    const destination = { type: 'crypto_address', value: ADDRESS };
    const { json } = await client.createPayout(buildPayout({ destination }));
    const path = `/console/payouts/${String(json.data.id)}`;
    const page = await openPage(path);
    await page.getByRole('button', { name: /^Approve .*10/ }).click();
    await noted(page, 'Approved. The p');
    await waitFor('the hold', async () => {
      await page.goto(new URL(path, gateway.baseUrl).href);
      return (
        (await page.getByText('The payout is held until an operator').count()) > 0 || undefined
      );
    });
    const card = page.locator('#screening');
    expect(await card.innerText()).toContain('The address is on this list: Mixer, ticket 812.');
    await page.getByRole('button', { name: 'Ask again' }).click();
    await noted(page, 'The sources ask for a review.');
    await page.locator('summary', { hasText: 'Allow this payout' }).click();
    expect(await lookAt(page, '/console/payouts/screening')).toEqual([]);
    const reason = page.getByLabel('Why it may be sent');
    await reason.fill('   ');
    await page.getByRole('button', { name: /Allow and send/ }).click();
    await page.getByText('Enter a value.').waitFor();
    // The answer to an invalid form is 422, which Chromium logs.
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('status of 422')]);
    await page.getByLabel('Why it may be sent').fill('Exchange of the customer <b>checked</b>');
    await page.getByRole('button', { name: /Allow and send/ }).click();
    await noted(page, 'Allowed. The payout ');
    expect(await card.innerText()).toContain('Exchange of the customer <b>checked</b>');
    await waitFor('the end', async () => {
      await page.goto(new URL(path, gateway.baseUrl).href);
      return (await page.locator('h1').innerText()).includes('Completed') || undefined;
    });
    await page.close();
  });

  test('a blocked payout has its verdict in the queue, and its page offers the rejection alone', async () => {
    const by = { actor: 'admin', reason: null };
    const list = { name: 'banned', format: 'addresses', verdict: 'block' } as const;
    await importList(gateway.db, by, { ...list, text: `${BLOCKED} # Sanctioned, ticket 911` });
    const destination = { type: 'crypto_address', value: BLOCKED };
    const { json } = await client.createPayout(buildPayout({ destination }));
    const id = String(json.data.id);
    const page = await openPage(`/console/payouts/${id}`);
    await waitFor('the verdict', async () => {
      await page.goto(new URL('/console/queue', gateway.baseUrl).href);
      return (await page.locator('tr', { hasText: 'Block' }).count()) > 0 || undefined;
    });
    expect(await lookAt(page, '/console/queue/blocked')).toEqual([]);
    await page.goto(new URL(`/console/payouts/${id}`, gateway.baseUrl).href);
    await noted(page, 'The screening blocks the destination. Reject the payout.');
    expect(await page.getByRole('button', { name: /Approve/ }).count()).toBe(0);
    expect(await lookAt(page, '/console/payouts/blocked')).toEqual([]);
    // Another operator approves on a page from before the answer.
    await gateway.temporal.workflow.getHandle(id).signal('approve', { by: 'bob' });
    await waitFor('the rejection', async () => {
      await page.reload();
      return (await page.locator('h1').innerText()).includes('Rejected') || undefined;
    });
    const story = await page.locator('#story').innerText();
    expect(story).toContain('The screening blocked the destination. The merchant reads: “');
    expect(story).not.toContain('By the screening');
    expect(await lookAt(page, '/console/payouts/blocked-rejected')).toEqual([]);
    await page.close();
  });

  test('the page of a payout that was submitted before it was held says that only an allowance ends it', async () => {
    const destination = { type: 'crypto_address', value: ADDRESS };
    const { json } = await client.createPayout(buildPayout({ destination }));
    const id = String(json.data.id);
    const page = await openPage(`/console/payouts/${id}`);
    await page.getByRole('button', { name: /^Approve .*10/ }).click();
    await noted(page, 'Approved. The p');
    await waitFor('the hold', async () => {
      await page.reload();
      return (
        (await page.locator('.note', { hasText: 'The payout is held' }).count()) > 0 || undefined
      );
    });
    // This is the state after a submission whose answer was lost, and which the provider does not know.
    const sql = 'UPDATE payouts SET submission_started_at = clock_timestamp() WHERE id = ?';
    await gateway.db.query(sql, [id]);
    await page.reload();
    await noted(page, 'The payout is held until an operator allows it.');
    await noted(page, 'it cannot be rejected');
    expect(await page.locator('summary', { hasText: 'Reject' }).count()).toBe(0);
    await page.locator('summary', { hasText: 'Allow this payout' }).click();
    await page.getByLabel('Why it may be sent').fill('Exchange of the customer');
    await page.getByRole('button', { name: /Allow and send/ }).click();
    await noted(page, 'Allowed. The payout ');
    await waitFor('the end', async () => {
      await page.goto(new URL(`/console/payouts/${id}`, gateway.baseUrl).href);
      return (await page.locator('h1').innerText()).includes('Completed') || undefined;
    });
    await page.close();
  });
});
