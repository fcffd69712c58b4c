/** An operator signs in at a real OpenID provider on another site, in a real browser with strict cookies. */
import type { Page } from 'playwright-core';
import { findFreePort } from '../../src/dev/ports';
import { newId } from '../../src/platform/lib/new-id';
import { lookAt } from './page-checks';
import { giveSecondFactor, makeUser } from '../support/merchant/page-client';
import { describeWithBrowser, signIn, useBrowser } from './browser';
import { ChildProgram } from '../support/servers/child-program';
import { useSharedGateway } from '../support/servers/gateway';
import { startOpenIdProvider } from '../support/servers/openid-provider';
import { started } from '../support/started';

describeWithBrowser('single sign-on in a browser', () => {
  const gateway = started(useSharedGateway);
  const breakGlass = `${newId('user').toLowerCase()}@example.com`;
  const site = started(async () => {
    const port = await findFreePort();
    // The provider is at an IP address, so it is another site.
    const url = `http://localhost:${port}`;
    const provider = await startOpenIdProvider(`${url}/console`);
    const settings = provider.settings({ OIDC_BREAK_GLASS: breakGlass });
    const env = { ...gateway.env, ...settings, PORT: String(port), PUBLIC_URL: url };
    const api = new ChildProgram('api', env);
    await api.start();
    const stop = () => Promise.all([api.stop(), provider.stop()]);
    return { url: `${url}/console`, people: provider.people, stop };
  });
  const browser = useBrowser();

  function person(groups: string[]): { subject: string; email: string } {
    const subject = newId('user').toLowerCase();
    const email = `${subject}@example.com`;
    site.people.set(subject, { email, email_verified: true, name: 'Alice Example', groups });
    return { subject, email };
  }

  /** The provider's pages ask for fonts of the internet and an icon, which are not there. */
  async function newTab(): Promise<Page> {
    const tab = await browser.newPage();
    const isMissing = ({ hostname, pathname }: URL) =>
      !['localhost', '127.0.0.1'].includes(hostname) || pathname === '/favicon.ico';
    await tab.route(isMissing, (route) => route.fulfill({ body: '' }));
    return tab;
  }

  /** The pages of the provider. */
  async function signInThere(tab: Page, subject: string, consents: boolean): Promise<void> {
    await tab.getByPlaceholder('Enter any login').fill(subject);
    await tab.getByPlaceholder('and password').fill('any');
    await tab.getByRole('button', { name: 'Sign-in' }).click();
    if (consents) await tab.getByRole('button', { name: 'Continue' }).click();
  }

  test('the provider leads back to the page that was asked for, signs in again, and out', async () => {
    const tab = await newTab();
    const { subject, email } = person(['payments-admins']);
    await tab.goto(`${site.url}/people/invite`);
    const found = await lookAt(tab, '/console/sign-in?sso');
    await tab.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await signInThere(tab, subject, true);
    await tab.waitForURL(`${site.url}/people/invite`);
    await tab.getByTitle(email).waitFor();

    await gateway.db.query(
      `UPDATE sessions SET authenticated_at = now() - interval '11 minutes'
        WHERE user_id = (SELECT id FROM users WHERE email = ?)`,
      [email],
    );
    await tab.goto(`${site.url}/security/totp`);
    await tab.waitForURL(/confirm/);
    found.push(...(await lookAt(tab, '/console/confirm?sso')));
    await tab.getByRole('link', { name: 'Continue with single sign-on' }).click();
    await signInThere(tab, subject, false);
    await tab.getByText('Authenticator app').first().waitFor();

    await tab.goto(`${site.url}/home`);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByText('You signed out here.').waitFor();
    found.push(...(await lookAt(tab, '/console/sign-in?signed-out')));
    await tab.goto(`${site.url}/home`);
    await tab.waitForURL(/sign-in/);
    expect(found).toEqual([]);
    await tab.close();
  });

  test('a person without a group is told so', async () => {
    const tab = await newTab();
    const { subject } = person(['staff']);
    await tab.goto(`${site.url}/sign-in`);
    await tab.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await signInThere(tab, subject, true);
    await tab.getByText('None of your groups has a role here.').waitFor();
    expect(await lookAt(tab, '/console/sign-in/sso/finish')).toEqual([]);
    // The answer is 403, which Chromium logs.
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('status of 403')]);
    await tab.close();
  });

  test('an operator of before links the user, and break-glass is named on every page', async () => {
    const tab = await newTab();
    const before = await makeUser(gateway.db, 'operator', 'reviewer');
    const { subject } = person(['payments-reviewers']);
    site.people.set(subject, {
      ...{ email: before.email, email_verified: true },
      groups: ['payments-reviewers'],
    });
    await tab.goto(`${site.url}/sign-in`);
    await tab.getByRole('link', { name: 'Sign in with single sign-on' }).click();
    await signInThere(tab, subject, true);
    await tab.getByRole('heading', { name: 'Link your operator' }).waitFor();
    const found = await lookAt(tab, '/console/sign-in/sso/link');
    await tab.getByLabel('Password').fill(before.password);
    await tab.getByRole('button', { name: 'Link and sign in' }).click();
    await tab.waitForURL(`${site.url}/home`);

    const other = await newTab();
    const named = await makeUser(gateway.db, 'operator', 'admin', null, breakGlass);
    await other.goto(`${site.url}/sign-in`);
    await other.getByText('Break-glass sign-in …').click();
    found.push(...(await lookAt(other, '/console/sign-in?break-glass')));
    const [code = ''] = await giveSecondFactor(gateway.db, named);
    await signIn(other, named);
    await other.getByLabel('Recovery code').fill(code);
    await other.getByRole('button', { name: 'Continue' }).click();
    await other.waitForURL(`${site.url}/home`);
    await tab.goto(`${site.url}/cases`);
    await tab.getByText(breakGlass).waitFor();
    found.push(...(await lookAt(tab, '/console/cases?break-glass')));
    expect(found).toEqual([]);
    await Promise.all([tab.close(), other.close()]);
  });
});
