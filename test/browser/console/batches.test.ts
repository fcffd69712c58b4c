/** A merchant pays 20 people from a spreadsheet: two persons of the account and an operator, each with a real browser. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describeWithBrowser, signIn, useBrowser } from '../browser';
import { fund } from '../../support/merchant/merchant';
import { lookAt } from '../page-checks';
import { makeUser, type TestUser } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { startConsole } from './console-gateway';

const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

/** The sheet as a spreadsheet writes it where people use decimal commas. */
const SHEET = [
  'reference;amount;currency;destination;network',
  ...Array.from({ length: 20 }, (_, n) => `pay-${n + 1};12,50;USDT;${ADDRESS};tron`),
].join('\r\n');
const FAULTY = SHEET.replace('pay-7;12,50', 'pay-7;0').replace(
  `pay-12;12,50;USDT;${ADDRESS}`,
  'pay-12;12,50;USDT;TNoAddress',
);

describeWithBrowser('a batch in a browser', () => {
  const gateway = started(startConsole);
  const browser = useBrowser();

  beforeAll(async () => {
    const { accountId } = gateway.merchant;
    await fund(gateway.db, accountId, 'live', 'USDT', '1000');
    const rule = JSON.stringify({ USDT: '100.00000000' });
    const sql = 'UPDATE accounts SET second_person_above = ?::jsonb WHERE id = ?';
    await gateway.db.query(sql, [rule, accountId]);
  });

  async function openPage(path: string, user: TestUser): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(new URL(path, gateway.baseUrl).href);
    await signIn(page, user);
    await page.waitForURL(new URL(path, gateway.baseUrl).href);
    return page;
  }

  async function look(page: Page, name: string): Promise<void> {
    expect(await lookAt(page, `/batches/${name}`)).toEqual([]);
  }

  /** The text of the file that a button or link of this name downloads. */
  async function downloaded(page: Page, name: string): Promise<string> {
    const download = page.waitForEvent('download');
    await page.getByText(name).click();
    return readFileSync(await (await download).path(), 'utf8');
  }

  const heading = (page: Page, name: string | RegExp) =>
    page.getByRole('heading', { name }).first().waitFor();

  test('20 people are paid: two rows are mended, two persons and an operator approve, and the proof is downloaded', async () => {
    const users = ['owner', 'owner'].map((role) =>
      makeUser(gateway.db, 'merchant', role, gateway.merchant.accountId),
    );
    const [ada, bob] = await Promise.all(users);
    const alice = await makeUser(gateway.db, 'operator', 'reviewer');

    const page = await openPage('/dashboard/live/batches', ada!);
    await look(page, 'none');
    await page.getByRole('link', { name: 'Create a batch' }).click();
    await page.getByLabel('Reference', { exact: true }).fill('payroll-2026-11');
    const file = { name: 'payroll.csv', mimeType: 'text/csv', buffer: Buffer.from(FAULTY) };
    await page.getByLabel('File').setInputFiles(file);
    await look(page, 'new');
    await page.getByRole('button', { name: 'Check the table' }).click();
    await page.getByText('2 of 20 rows must be corrected. Nothing was reserved.').waitFor();
    await look(page, 'faults');
    const toCorrect = await downloaded(page, 'Table with these notes');
    expect(
      toCorrect.split('\r\n').filter((row) => /(Amount|Destination): /.test(row)),
    ).toHaveLength(2);
    const corrected = toCorrect.replace(/(pay-12.*?)TNoAddress/, `$1${ADDRESS}`);
    await page.getByText('Choose a corrected file').click();
    await page.getByLabel('File').setInputFiles({ ...file, buffer: Buffer.from(corrected) });
    // The page has read the file.
    await page.waitForFunction(() => {
      const shown = document.querySelector<HTMLTextAreaElement>('textarea:not([hidden])');
      return shown?.value.includes('what to');
    });
    await page.getByRole('button', { name: 'Check this table' }).click();
    await page.getByText('1 of 20 rows must be corrected. Nothing was reserved.').waitFor();
    await page.getByLabel('Amount, row 7').fill('12,50');
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('button', { name: 'Reserve the funds and create' }).waitFor();
    await look(page, 'preview');
    await page.getByRole('button', { name: 'Reserve the funds and create' }).click();
    await page.getByText('Waiting for two-person approval').waitFor();
    await look(page, 'second-person');

    const path = new URL(page.url()).pathname;
    const other = await openPage('/dashboard/live', bob!);
    await look(other, 'home-of-bob');
    await other.getByRole('link', { name: 'Approvals' }).first().click();
    await other.getByRole('cell', { name: 'payroll-2026-11' }).waitFor();
    await look(other, 'approvals');
    await other.getByRole('link', { name: 'payroll-2026-11' }).click();
    await look(other, 'second-person-of-bob');
    await other.locator('summary', { hasText: 'Approve' }).click();
    await other.getByRole('button', { name: 'Approve this batch now' }).click();
    await other.getByText('An operator must approve this batch.').waitFor();
    await look(other, 'approved-by-bob');

    const id = path.split('/').at(-1) ?? '';
    const operator = await openPage('/console/batches', alice);
    await look(operator, 'console');
    await operator.getByRole('link', { name: 'payroll-2026-11' }).click();
    await heading(operator, 'Manifest');
    await look(operator, 'console-review');
    expect(operator.url()).toContain(id);
    await operator.getByRole('button', { name: 'Approve 20 payouts' }).click();
    await operator.locator('.note', { hasText: 'Approved' }).waitFor();

    // Ada has not touched her page since.
    await page.locator('#batch-status', { hasText: 'Completed' }).waitFor();
    const sent = page.locator('#batch-progress div', { hasText: /^Sent\s*20$/ });
    await sent.first().waitFor();
    await page.getByText('An operator must approve this batch.').waitFor({ state: 'detached' });
    await page.locator('#batch-rows').getByText('Completed').nth(19).waitFor();
    await page.locator('#batch-progress').getByText('Closed').waitFor();
    await look(page, 'followed');
    await page.reload();
    await look(page, 'completed');
    const proof = (await downloaded(page, 'Proof as CSV')).trim().split('\r\n');
    expect(proof).toHaveLength(21);
    expect(
      proof.slice(1).filter((row) => row.includes(',completed,USDT,12.50000000')),
    ).toHaveLength(20);
    await look(operator, 'console-approved');
  });
});
