/** From an occasion on the dashboard to a mail at a real SMTP server, through the worker and its schedule. */
import { makeUser, signedIn } from '../../support/merchant/page-client';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startWatchedGateway } from './watched-gateway';

const gateway = started(startWatchedGateway);

test('a person chooses for one account what to be told, on both sites', async () => {
  for (const [site, role, on, gone] of [
    ['dashboard', 'owner', 'key_created', 'case_opened'],
    ['console', 'admin', 'case_opened', 'key_created'],
  ] as const) {
    const isMerchant = site === 'dashboard';
    const user = await makeUser(
      gateway.db,
      isMerchant ? 'merchant' : 'operator',
      role,
      isMerchant ? gateway.merchant.accountId : null,
    );
    const page = await signedIn(gateway.baseUrl, user);
    const path = `/${site}/notifications`;
    const before = await page.read(path);
    expect(before).toContain(`value="${on}"`);
    expect(before).not.toContain(`value="${gone}"`);
    // What the role may not be told is not saved.
    const wanted = new URLSearchParams([
      ['kinds', 'new_sign_in'],
      ['kinds', gone],
    ]);
    expect((await page.post(path, wanted)).status).toBe(303);
    const saved = await gateway.db.query<{ kind: string; byEmail: boolean; accountId: string }>(
      'SELECT kind, by_email, account_id FROM notification_choices WHERE user_id = ?',
      [user.id],
    );
    const accountId = isMerchant ? gateway.merchant.accountId : '';
    expect(saved).toContainEqual({ kind: 'new_sign_in', byEmail: true, accountId });
    expect(saved).toContainEqual({ kind: on, byEmail: false, accountId });
    expect(saved.map(({ kind }) => kind)).not.toContain(gone);
  }
});

test('a sign-in from a new address is told to the person who signed in, once', async () => {
  const user = await makeUser(gateway.db, 'merchant', 'viewer', gateway.merchant.accountId);
  const page = await signedIn(gateway.baseUrl, user);
  const own = () => gateway.mails.filter(({ to }) => to.includes(user.email));
  await waitFor('the mail', () => Promise.resolve(own()[0]));
  expect(own()[0]!.to).toEqual([user.email]);
  expect(own()[0]!.source).toContain('You signed in from a new address');
  expect(own()[0]!.source).toContain('/dashboard/sessions');

  // The address is known from now on.
  await page.signIn(user);
  const occasions = `SELECT kind FROM occasions WHERE user_id = ?`;
  expect(await gateway.db.query(occasions, [user.id])).toEqual([{ kind: 'new_sign_in' }]);
  const sent = `SELECT status FROM notifications WHERE user_id = ? AND status = 'sent'`;
  await waitFor('the record of the answer', async () => {
    const [found] = await gateway.db.query(sent, [user.id]);
    return found;
  });
  expect(own()).toHaveLength(1);
});
