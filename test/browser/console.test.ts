/** An operator supervises accounts and cases with a real browser. */
import { openCase } from '../../src/db/cases/cases';
import { buildPayout, randomKey } from '../support/merchant/merchant-client';
import { lookAtEach } from '../support/merchant/page-checks';
import { makeUser } from '../support/merchant/page-client';
import { openedPayment, whenPayment } from '../support/payment/payment-steps';
import { acceptedPayout, openMerchant } from '../support/payout/payout-steps';
import { describeWithBrowser, signIn, useBrowser } from '../support/servers/browser';
import { useSharedGateway } from '../support/servers/gateway';
import { started } from '../support/started';

describeWithBrowser('the console in a browser', () => {
  const gateway = started(useSharedGateway);
  const browser = useBrowser();

  test('every supervising page of the console is accessible in light and dark', async () => {
    const { client, accountId } = await openMerchant(gateway, { mode: 'test' });
    const [payoutId, paymentId] = await Promise.all([
      acceptedPayout(client),
      openedPayment(client, { metadata: { scenario: 'completed' } }),
    ]);
    const batch = await client.post(
      '/payout_batches',
      { reference: 'wages', payouts: [buildPayout(), buildPayout()] },
      { 'idempotency-key': randomKey() },
    );
    await whenPayment(client, paymentId, 'completed');
    await openCase(gateway.db, 'sent_twice', payoutId, { transfers: ['<b>one</b>', 'two'] });
    const site = new URL(gateway.baseUrl).origin;
    const page = await browser.newPage();
    await page.goto(`${site}/console`);
    await signIn(page, await makeUser(gateway.db, 'operator', 'admin'));
    await page.waitForURL(`${site}/console/home`);
    await page.getByRole('link', { name: 'Cases' }).click();
    await page.getByLabel('Object ID').fill(payoutId);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('link', { name: 'Sent twice' }).click();
    const casePath = new URL(page.url()).pathname;
    const account = `/console/accounts/${accountId}`;
    await page.goto(`${site}${account}/limits?currency=USDT`);
    await page.getByLabel('Per payout', { exact: true }).fill('250');
    await page.getByLabel('Reason').fill('Agreed by mail');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByText('Agreed by mail').first().waitFor();
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
      'notifications',
      'chats',
      'confirm',
    ];
    const found = await lookAtEach(page, site, [
      ...paths.map((path) => `/console/${path}`),
      casePath,
      account,
      `${account}/recipients`,
      `${account}/review`,
      `${account}/fees`,
      `${account}/suspend`,
      `${account}/schedules`,
      `${account}/limits?currency=USDT`,
      `/console/payments/${paymentId}`,
      `/console/batches/${String(batch.json.data.id)}`,
    ]);
    await page.goto(`${site}/console/four-eyes`);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.goto(site + casePath);
    await page.getByLabel('Resolution').fill('The second one was claimed back');
    await page.getByRole('button', { name: 'Resolve case' }).click();
    await page.getByText('The second one was claimed back').waitFor();
    expect(found).toEqual([]);
  });
});
