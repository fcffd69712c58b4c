/** Two persons and a schedule of payouts in real browsers: made, approved, run, paused and ended. */
import type { Page } from 'playwright-core';
import { describeWithBrowser, signIn, useBrowser } from './browser';
import { isSound, useSharedGateway } from '../support/servers/gateway';
import { createMerchant, fund } from '../support/merchant/merchant';
import { lookAt } from './page-checks';
import { makeUser } from '../support/merchant/page-client';
import { started } from '../support/started';
import { waitFor } from '../support/wait-for';

const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const TABLE = [
  'reference,amount,currency,destination,network',
  `office-berlin,400,USDT,${ADDRESS},tron`,
  `office-london,250.50,USDT,${ADDRESS},tron`,
].join('\r\n');

describeWithBrowser('a schedule in a browser', () => {
  const gateway = started(useSharedGateway, isSound);
  const browser = useBrowser();

  async function enter(accountId: string, path: string): Promise<Page> {
    const user = await makeUser(gateway.db, 'merchant', 'owner', accountId);
    const page = await browser.newPage();
    const url = new URL(path, gateway.baseUrl).href;
    await page.goto(url);
    await signIn(page, user);
    await page.waitForURL(url);
    return page;
  }

  const look = async (page: Page, name: string) => {
    expect(await lookAt(page, `/schedules/${name}`)).toEqual([]);
  };

  test('rent is scheduled, approved by a second person, paid, paused, resumed and ended', async () => {
    const { accountId } = await createMerchant(gateway.db, gateway.pepper);
    await fund(gateway.db, accountId, 'test', 'USDT', '1000');
    await gateway.db.query(
      `UPDATE accounts SET second_person_above = '{"USDT": "500.00000000"}',
              time_zone = 'Europe/Berlin' WHERE id = ?`,
      [accountId],
    );
    const page = await enter(accountId, '/dashboard/test/schedules');
    await look(page, 'none');
    await page.getByRole('link', { name: 'Create a schedule' }).click();
    await page.getByLabel('Reference', { exact: true }).fill('rent');
    await page.getByLabel('Repeats').selectOption('Every month');
    await page.getByLabel('Day of the month').selectOption('1');
    await page.getByLabel('Time', { exact: true }).fill('09:00');
    await page.getByLabel('Payouts of each run').fill(TABLE.replace('400', '0'));
    await look(page, 'new');
    await page.getByRole('button', { name: 'Check the schedule' }).click();
    await page.getByText('1 of 2 rows must be corrected.').waitFor();
    await look(page, 'faults');
    await page
      .locator('tr[data-tone="bad"]')
      .getByLabel(/^Amount, row/)
      .fill('400');
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByText('Another person of your account').waitFor();
    await look(page, 'preview');
    await page.getByRole('button', { name: 'Create the schedule' }).click();
    await page.getByText('Waiting for two-person approval').waitFor();
    await look(page, 'second-person');

    // Its times are made near, and the first one passes without an approval.
    const path = new URL(page.url()).pathname;
    await gateway.db.query(
      `UPDATE payout_schedules SET cron = NULL, time_zone = NULL, interval_seconds = 5 WHERE id = ?`,
      [path.split('/').at(-1) ?? ''],
    );
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await reloadUntil(page, 'The last run paid nothing.');
    const other = await enter(accountId, path);
    await other.locator('summary', { hasText: 'Approve' }).click();
    await other.getByRole('button', { name: 'Approve this schedule now' }).click();
    await other.getByText('Waiting for two-person approval').waitFor({ state: 'detached' });
    await reloadUntil(page, 'pb_0');
    await look(page, 'runs');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('None while it is paused.').waitFor();
    await look(page, 'paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.locator('summary', { hasText: 'End' }).click();
    await page.getByRole('button', { name: 'End this schedule now' }).click();
    await page.getByRole('heading', { name: 'rent Ended' }).waitFor();
    await page.getByRole('link', { name: 'Schedules' }).first().click();
    await page.getByRole('cell', { name: 'rent' }).waitFor();
    await look(page, 'list');
  });

  async function reloadUntil(page: Page, text: string): Promise<void> {
    await waitFor(`the page to show ${text}`, async () => {
      await page.waitForTimeout(1_000);
      await page.reload();
      return (await page.getByText(text).count()) > 0;
    });
  }
});
