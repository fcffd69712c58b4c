/** An operator supervises accounts and cases with a real browser. */
import type { Page } from 'playwright-core';
import { openCase } from '../../src/db/cases/cases';
import { buildPayout } from '../support/merchant/merchant-client';
import { lookAt, LOOKS_AT_PAGES } from './page-checks';
import { makeUser } from '../support/merchant/page-client';
import { openedPayment, whenPayment } from '../support/payment/payment-steps';
import { acceptedPayout, openMerchant } from '../support/payout/payout-steps';
import { describeWithBrowser, signIn, useBrowser } from './browser';
import { useSharedGateway } from '../support/servers/gateway';
import { started } from '../support/started';

/** Paths below /console; a name in braces stands for the id of what was made for it. */
const PAGES = [
  ...['home', 'four-eyes', 'payments', 'payouts', 'batches', 'batches?show=all', 'cases'],
  ...['accounts', 'pauses', 'operations?check', 'audit-log', 'security', 'security/password'],
  ...['people', 'people/invite', 'sessions', 'notifications', 'chats', 'confirm'],
  ...['', '/recipients', '/review', '/fees', '/suspend', '/schedules', '/limits?currency=USDT'].map(
    (page) => `accounts/{account}${page}`,
  ),
  'cases/{case}',
  'payments/{payment}',
  'batches/{batch}',
];

describeWithBrowser('the console in a browser', () => {
  const gateway = started(useSharedGateway);
  const browser = useBrowser();
  let page: Page;
  /** The ids of what the pages show. */
  let made: Record<'account' | 'case' | 'payment' | 'batch', string>;

  const go = (path: string) =>
    page.goto(`${new URL(gateway.baseUrl).origin}/console/${pathOf(path)}`);
  const pathOf = (path: string) =>
    path.replace(/\{(\w+)\}/, (_, name: string) => made[name as keyof typeof made]);

  beforeAll(async () => {
    const { client, accountId } = await openMerchant(gateway, { mode: 'test' });
    const payout = await acceptedPayout(client);
    const payment = await openedPayment(client, { metadata: { scenario: 'completed' } });
    const batch = await client.create('/payout_batches', {
      reference: 'wages',
      payouts: [buildPayout(), buildPayout()],
    });
    await whenPayment(client, payment, 'completed');
    await openCase(gateway.db, 'sent_twice', payout, { transfers: ['<b>one</b>', 'two'] });
    made = { account: accountId, case: '', payment, batch: batch.json.data.id };
    page = await browser.newPage();
    await go('');
    await signIn(page, await makeUser(gateway.db, 'operator', 'admin'));
    await page.waitForURL(/\/console\/home$/);
    await page.getByRole('link', { name: 'Cases' }).click();
    await page.getByLabel('Object ID').fill(payout);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: 'Sent twice' }).click();
    made.case = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  });

  test('a limit and a threshold are proposed', async () => {
    await go('accounts/{account}/limits?currency=USDT');
    await page.getByLabel('Per payout', { exact: true }).fill('250');
    await page.getByLabel('Reason').fill('Agreed by mail');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByText('Agreed by mail').first().waitFor();
    await go('four-eyes');
    await page.getByLabel('Currency').selectOption('XRP');
    await page.getByLabel('Two approvals above').fill('90000');
    await page.getByLabel('Reason').fill('Policy of May');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByText('Policy of May').waitFor();
  });

  if (LOOKS_AT_PAGES) {
    test.each(PAGES)('%s is accessible', async (path) => {
      await go(path);
      expect(await lookAt(page, `/console/${pathOf(path)}`)).toEqual([]);
    });
  }

  test('the threshold is withdrawn, and the case is resolved', async () => {
    await go('four-eyes');
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await go('cases/{case}');
    await page.getByLabel('Resolution').fill('The second one was claimed back');
    await page.getByRole('button', { name: 'Resolve case' }).click();
    await page.getByText('The second one was claimed back').waitFor();
  });
});
