/** A person signs in with a passkey in a real browser, which has a virtual authenticator. */
import { lookAt } from './page-checks';
import { makeUser } from '../support/merchant/page-client';
import { describeWithBrowser, signIn, useBrowser } from './browser';
import { useSharedGateway } from '../support/servers/gateway';
import { started } from '../support/started';

describeWithBrowser('passkeys in a browser', () => {
  const gateway = started(useSharedGateway);
  const browser = useBrowser();

  test('a passkey signs in, after the password and instead of it, and each answer works once', async () => {
    // Browsers refuse passkeys for IP addresses.
    const local = new URL(gateway.baseUrl).origin.replace('127.0.0.1', 'localhost');
    const user = await makeUser(gateway.db, 'merchant', 'developer', gateway.merchant.accountId);
    const tab = await browser.newPage();
    const devtools = await tab.context().newCDPSession(tab);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    });
    const enterPassword = async () => {
      await tab.goto(`${local}/dashboard/sign-in`);
      await signIn(tab, user);
    };
    const signOut = () => tab.getByRole('button', { name: 'Sign out' }).click();

    await enterPassword();
    await tab.getByRole('link', { name: 'Security' }).click();
    await tab.getByRole('link', { name: 'Add' }).click();
    await tab.getByLabel('Name').fill('Laptop <b>1</b>');
    await tab.getByRole('button', { name: 'Add passkey' }).click();
    await tab.getByRole('heading', { name: 'Recovery codes' }).waitFor();
    expect(await tab.locator('.codes li').count()).toBe(10);
    const found = await lookAt(tab, '/dashboard/security/recovery-codes');
    await tab.getByRole('link', { name: 'Continue' }).click();
    expect(await tab.locator('tbody').innerText()).toContain('Laptop <b>1</b>');
    await signOut();

    await enterPassword();
    await tab.getByRole('button', { name: 'Use a passkey' }).waitFor();
    found.push(...(await lookAt(tab, '/dashboard/sign-in/second-step')));
    const [answered] = await Promise.all([
      tab.waitForRequest((request) => request.url().endsWith('second-step/passkey')),
      tab.getByRole('button', { name: 'Use a passkey' }).click(),
    ]);
    await tab.waitForURL(`${local}/dashboard/test`);
    // The same answer again, with the cookies that it was sent with.
    const replayed = await fetch(answered.url(), {
      method: 'POST',
      body: answered.postData() ?? '',
      redirect: 'manual',
      headers: await answered.allHeaders(),
    });
    expect(replayed.status).toBe(401);
    for (const path of ['security', 'security/recovery-codes', 'confirm']) {
      await tab.goto(`${local}/dashboard/${path}`);
      found.push(...(await lookAt(tab, `/dashboard/${path}?passkey`)));
    }
    expect(found).toEqual([]);
    // It confirms too; the password alone does not.
    await tab.goto(`${local}/dashboard/confirm?next=%2Fdashboard%2Fsessions`);
    expect(await tab.getByLabel('Password').isVisible()).toBe(false);
    await tab.getByRole('button', { name: 'Use a passkey' }).click();
    await tab.waitForURL(`${local}/dashboard/sessions`);
    await signOut();

    await tab.getByRole('link', { name: 'Sign in with a passkey' }).click();
    await tab.waitForURL(`${local}/dashboard/test`);
    await signOut();
    // An operator's console does not accept it.
    await tab.goto(`${local}/console/sign-in/passkey`);
    await tab.getByText('The passkey was not accepted').waitFor();
    // The answer is 401, which Chromium logs.
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('status of 401')]);
    await tab.close();
  });
});
