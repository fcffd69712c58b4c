/** The sandbox's inbox page: a developer sees what arrived and whether it was genuine. */
import { createHmac, randomBytes } from 'node:crypto';
import { startSandbox } from '../../src/rails/sandbox/server';
import { lookAt } from './page-checks';
import { makeCredentials } from '../support/servers/sandbox';
import { describeWithBrowser, useBrowser } from './browser';
import { started } from '../support/started';

describeWithBrowser('the webhook inbox', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const sandbox = started(() =>
    startSandbox({ credentials: makeCredentials(), webhookSecret: secret }),
  );
  const browser = useBrowser();

  async function deliver(id: string, key: string): Promise<number> {
    const event = { id, type: 'payment.completed', data: { id: 'pay_1', status: '<b>done</b>' } };
    const body = JSON.stringify(event);
    const t = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', key).update(`${t}.${body}`).digest('hex');
    const { status } = await fetch(`${sandbox.url}/inbox`, {
      method: 'POST',
      headers: {
        'x-gateway-event': event.type,
        'x-gateway-event-id': id,
        'x-gateway-signature': `t=${t},v1=${signature}`,
      },
      body,
    });
    return status;
  }

  test('it lists what came, says which was forged, and shows each event as it is', async () => {
    expect(await deliver('evt_good', secret)).toBe(200);
    expect(await deliver('evt_bad', `${secret}0`)).toBe(400);
    const page = await browser.newPage();
    await page.goto(`${sandbox.url}/inbox`);
    const rows = await page.locator('tbody tr').allInnerTexts();
    expect(rows).toEqual([
      expect.stringContaining('invalid signature'),
      expect.stringMatching(/payment\.completed\s+pay_1\s+<b>done<\/b>\s+verified/),
    ]);
    const found = await lookAt(page, '/inbox');
    expect(await deliver('evt_late', secret)).toBe(200);
    await page.locator('tbody tr').nth(2).waitFor();
    await page.getByRole('link', { name: 'payment.completed' }).last().click();
    await page.waitForURL(`${sandbox.url}/inbox/evt_good`);
    expect(await page.locator('pre').innerText()).toContain('"status": "<b>done</b>"');
    found.push(...(await lookAt(page, '/inbox/event')));
    expect(found).toEqual([]);
  });
});
