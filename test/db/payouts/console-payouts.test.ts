/** Operators decide about payouts on the pages of the console, as a browser without JavaScript. */
import { magicAddress } from '../../../src/rails/sandbox/transfers/scenarios';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import {
  ageSignIn,
  hiddenIn,
  makeUser,
  openForm,
  type PageClient,
  signedIn,
  textOf,
} from '../../support/merchant/page-client';
import { APPROVED, openConsole } from '../../support/servers/console-gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startDirectGateway } from '../direct-gateway';

const PROBE = '<img src=x onerror=alert(1)>';

const gateway = started(async () => openConsole(await startDirectGateway(), 'ETH', 14));

async function createPayout(overrides: Record<string, unknown> = {}): Promise<string> {
  const { status, json } = await gateway.client.createPayout(buildPayout(overrides));
  expect([status, json.data.status]).toEqual([201, 'under_review']);
  return json.data.id as string;
}

const decide = (page: PageClient, id: string, kind: 'approve' | 'reject') =>
  openForm(page, `/console/payouts/${id}`, kind);

const statusOf = async (id: string) =>
  (await gateway.client.get(`/payouts/${id}`)).json.data.status;

const whenCompleted = (id: string) =>
  waitFor(`${id} to be completed`, async () => (await statusOf(id)) === 'completed');

test('the queue shows what a decision needs, and the longest waiting first', async () => {
  const [first, second] = [
    await createPayout({ description: PROBE, metadata: { note: PROBE } }),
    await createPayout(),
  ];
  const path = `/console/queue?account=${gateway.accountId}`;
  const queue = await gateway.alice.read(path);
  expect(queue.indexOf(first)).toBeGreaterThan(0);
  expect(queue.indexOf(first)).toBeLessThan(queue.indexOf(second));
  expect(queue).toContain('This is the first payout to the destination.');
  // The whole address, in groups.
  expect(queue.replaceAll('</span><span>', '')).toContain('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
  for (const other of ['mode=test', 'currency=BTC', `after=2000-01-01T00:00:00.000000Z~x`]) {
    const rest = await gateway.alice.read(`${path}&${other}`);
    expect([other, rest.includes(first)]).toEqual([other, other.startsWith('after')]);
  }
  const page = await gateway.alice.read(`/console/payouts/${first}`);
  for (const shown of ['Never by this account', 'No completed payout', 'Other merchants']) {
    expect(page).toContain(shown);
  }
  expect(page).not.toContain(PROBE);
  expect(page).toContain('&lt;img src=x');
});

test('an approval shows the new state at once; whoever comes second reads who was first', async () => {
  const id = await createPayout();
  const [mine, hers] = [
    await decide(gateway.bob, id, 'approve'),
    await decide(gateway.alice, id, 'approve'),
  ];
  expect(await mine()).toMatch(APPROVED);
  // The same form again.
  expect(await mine()).toMatch(APPROVED);
  const second = await hers();
  expect(second).toContain('Your decision had no effect: the payout was already decided.');
  expect(second).toMatch(new RegExp(`Approved by ${gateway.users.bob.email} [0-9]+ s ago`));
  expect(second).toContain(`By ${gateway.users.bob.email}, signed in`);
  await whenCompleted(id);
});

test('a rejection needs a reason, and the merchant reads it', async () => {
  const id = await createPayout();
  const empty = await gateway.alice.post(`/console/payouts/${id}/reject`, {
    decision: `dec_${id.slice(3)}`,
    reason: ' ',
  });
  expect(empty.status).toBe(422);
  expect(await empty.text()).toContain('Enter a value.');
  const reject = await decide(gateway.alice, id, 'reject');
  expect(await reject({ reason: 'sanctions hit' })).toContain('Rejected. The funds were returned');
  expect((await gateway.client.get(`/payouts/${id}`)).json.data).toMatchObject({
    status: 'rejected',
    rejection_reason: 'sanctions hit',
  });
});

const ABOVE_THRESHOLD = {
  amount: '14.5',
  currency: 'ETH',
  network: 'ethereum',
  destination: { type: 'crypto_address', value: magicAddress('sends', 'evm') },
};

test('above the threshold two operators approve, whatever one of them sends', async () => {
  const id = await createPayout(ABOVE_THRESHOLD);
  expect(await gateway.alice.read(`/console/payouts/${id}`)).toContain(
    'Two different operators must approve this amount.',
  );
  const tabs = await Promise.all([1, 2, 3].map(() => decide(gateway.alice, id, 'approve')));
  const answers = await Promise.all(tabs.map((send) => send()));
  expect(answers.filter((html) => html.includes('Your approval is stored: 1 of 2.'))).toHaveLength(
    1,
  );
  expect(await statusOf(id)).toBe('under_review');
  expect(await gateway.bob.read(`/console/queue?currency=ETH`)).toContain(
    `Approved by ${gateway.users.alice.email}, a second approval is required`,
  );
  // The id of her decision in his form is not his decision.
  const [stored] = await gateway.db.query<{ id: string }>(
    `SELECT id FROM payout_decisions WHERE payout_id = ? AND outcome = 'counted'`,
    [id],
  );
  const taken = await gateway.bob.post(`/console/payouts/${id}/approve`, { decision: stored!.id });
  expect(taken.status).toBe(404);
  const approve = await decide(gateway.bob, id, 'approve');
  expect(await approve()).toMatch(APPROVED);
  await whenCompleted(id);
});

test('above the threshold an approval needs a recent sign-in, and the note is kept', async () => {
  const id = await createPayout(ABOVE_THRESHOLD);
  const user = await makeUser(gateway.db, 'operator', 'reviewer');
  const page = await signedIn(gateway.baseUrl, user);
  await ageSignIn(gateway.db, user);
  const path = `/console/payouts/${id}`;
  const form = { decision: `dec_${id.slice(3)}`, note: `Called the merchant ${PROBE}` };
  const order = new URLSearchParams({ order: `${id} dec_${id.slice(3)}` });
  const selected = await page.post('/console/queue/approve', order);
  expect(selected.headers.get('location')).toContain('/console/confirm?next=%2Fconsole%2Fqueue');
  const asked = await page.post(`${path}/approve`, form);
  expect(asked.headers.get('location')).toBe(`/console/confirm?next=${encodeURIComponent(path)}`);
  const count = 'SELECT count(*)::int AS n FROM payout_decisions WHERE payout_id = ?';
  expect(await gateway.db.query(count, [id])).toEqual([{ n: 0 }]);

  const wrong = await page.post('/console/confirm', { password: 'wrong-password', next: path });
  expect(wrong.status).toBe(401);
  expect(await page.confirm(user, asked)).toBe(path);
  const html = await page.read(path);
  expect(html).toContain('You signed in again. Nothing has been changed yet.');
  expect(html).toContain('value="Called the merchant &lt;img');
  // It is shown once.
  expect(await page.read(path)).not.toContain('Called the merchant');
  const approve = await decide(page, id, 'approve');
  expect(await approve({ note: 'ok' })).toContain('Your approval is stored: 1 of 2.');
  const reject = await decide(gateway.alice, id, 'reject');
  await reject({ reason: 'test' });
});

test('a live payout is approved after a recent sign-in only, alone and in a selection', async () => {
  const [id, second] = [await createPayout(), await createPayout()];
  const user = await makeUser(gateway.db, 'operator', 'reviewer');
  const page = await signedIn(gateway.baseUrl, user);
  await ageSignIn(gateway.db, user);
  const path = `/console/payouts/${id}`;
  const order = new URLSearchParams({ order: `${id} dec_${id.slice(3)}` });
  const selected = await page.post('/console/queue/approve', order);
  expect(selected.headers.get('location')).toContain('/console/confirm?next=%2Fconsole%2Fqueue');
  const form = { decision: `dec_${id.slice(3)}`, note: 'Called the merchant' };
  const asked = await page.post(`${path}/approve`, form);
  expect(asked.headers.get('location')).toBe(`/console/confirm?next=${encodeURIComponent(path)}`);
  const stored = 'SELECT count(*)::int AS n FROM payout_decisions WHERE payout_id = ?';
  expect(await gateway.db.query(stored, [id])).toEqual([{ n: 0 }]);
  // A rejection returns the funds, so it asks for nothing.
  const reject = await decide(page, second, 'reject');
  expect(await reject({ reason: 'test' })).toContain('Rejected.');
  expect(await page.confirm(user, asked)).toBe(path);
  expect(await page.read(path)).toContain('value="Called the merchant"');
  const approve = await decide(page, id, 'approve');
  expect(await approve()).toMatch(APPROVED);
  await whenCompleted(id);
});

test('who requested a payout on the dashboard, or made its key, does not approve it', async () => {
  const requester = await makeUser(gateway.db, 'merchant', 'owner', gateway.accountId);
  const same = await makeUser(
    gateway.db,
    'operator',
    'reviewer',
    null,
    requester.email.toUpperCase(),
  );
  const [shop, page] = await Promise.all([
    signedIn(gateway.baseUrl, requester),
    signedIn(gateway.baseUrl, same),
  ]);
  const path = '/dashboard/live/payouts/new';
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(await shop.read(path)) ?? [];
  const { amount, currency, network, destination } = ABOVE_THRESHOLD;
  const form = { key, amount, currency, network, reference: key, ...destination };
  await ageSignIn(gateway.db, requester);
  const asked = await shop.post(path, form);
  const none = 'SELECT count(*)::int AS n FROM payouts WHERE api_key_id = ?';
  expect(await gateway.db.query(none, [requester.id])).toEqual([{ n: 0 }]);
  expect(await shop.confirm(requester, asked)).toBe(path);
  expect(await shop.read(path)).toContain(`value="${destination.value}"`);
  const review = await textOf(shop.post(path, form));
  const requested = await shop.post(path, hiddenIn(review));
  const id = requested.headers.get('location')!.split('/').at(-1)!;

  const created = await shop.post('/dashboard/live/keys/new', {
    name: 'own',
    scopes: 'payouts:write',
  });
  const [, secret = ''] =
    /(sk_live_\w+)/.exec(await shop.read(created.headers.get('location')!)) ?? [];
  const withKey = await new MerchantClient(gateway.baseUrl, secret).createPayout(
    buildPayout(ABOVE_THRESHOLD),
  );
  for (const payout of [id, withKey.json.data.id as string]) {
    const html = await page.read(`/console/payouts/${payout}`);
    expect(html).toContain('You created or rotated the API key, or requested the payout');
    expect(html).not.toContain(`/payouts/${payout}/approve`);
    const forged = await page.post(`/console/payouts/${payout}/approve`, {
      decision: `dec_${payout.slice(3)}`,
    });
    const answer = await page.read(forged.headers.get('location')!);
    expect(answer).toContain('so you cannot approve it');
    expect(
      await gateway.db.query('SELECT outcome FROM payout_decisions WHERE payout_id = ?', [payout]),
    ).toEqual([{ outcome: 'key_creator' }]);
    const reject = await decide(gateway.alice, payout, 'reject');
    await reject({ reason: 'test' });
  }
});

test('a selection is approved one by one, without what has to be decided on its page', async () => {
  const known = [await createPayout(), await createPayout()];
  const other = await createPayout({
    destination: { type: 'crypto_address', value: magicAddress('callback_lost', 'tron') },
  });
  const ids = [...known, other].map((id) => ['id', id]);
  const page = await gateway.bob.read(
    `/console/queue/selection?${new URLSearchParams(ids).toString()}`,
  );
  const orders = [...page.matchAll(/name="order" value="([^"]+)"/g)].map(([, order]) => order!);
  expect(orders.map((order) => order.split(' ')[0])).toEqual(known);
  expect(page).toContain('20.00000000');
  expect(page).toContain('The account has not paid this destination before');
  const all = [...orders, `${other} dec_${other.slice(3)}`];
  const sent = await gateway.bob.post(
    '/console/queue/approve',
    new URLSearchParams(all.map((order) => ['order', order])),
  );
  const result = await gateway.bob.read(sent.headers.get('location')!);
  expect(result).toContain('2 of 3 approved');
  expect(await statusOf(other)).toBe('under_review');
  await Promise.all(known.map(whenCompleted));
});

test('a selection is rejected for one reason, and the way on leads to the next payout', async () => {
  const [first, second, next] = [await createPayout(), await createPayout(), await createPayout()];
  const ids = [first, second].map((id) => ['id', id]);
  const chosen = `/console/queue/selection?${new URLSearchParams([...ids, ['reject', 'yes']]).toString()}`;
  const page = await gateway.bob.read(chosen);
  const orders = [...page.matchAll(/name="order" value="([^"]+)"/g)].map(([, order]) => order!);
  expect(orders.map((order) => order.split(' ')[0])).toEqual([first, second]);
  const send = (reason: string) =>
    gateway.bob.post(
      '/console/queue/reject',
      new URLSearchParams([...orders.map((order) => ['order', order]), ['reason', reason]]),
    );
  const empty = await send(' ');
  expect([empty.status, await empty.text()]).toEqual([
    422,
    expect.stringContaining('Enter a value.'),
  ]);
  const sent = await send(`Not ours ${PROBE}`);
  expect(await gateway.bob.read(sent.headers.get('location')!)).toContain('2 of 2 rejected');
  const again = await send(`Not ours ${PROBE}`);
  expect(again.status).toBe(303);
  for (const id of [first, second]) {
    const { status, rejection_reason } = (await gateway.client.get(`/payouts/${id}`)).json.data;
    expect([status, rejection_reason]).toEqual(['rejected', `Not ours ${PROBE}`]);
  }
  const reject = await decide(gateway.alice, next, 'reject');
  const after = await reject({ reason: 'test' });
  expect(after).toMatch(/Next payout in the queue|No other payout waits for a review\./);
});

test('a payout in doubt is shown with what its provider says now', async () => {
  const id = await createPayout();
  const inDoubt = 'UPDATE payouts SET in_doubt_since = ? WHERE id = ?';
  await gateway.db.query(inDoubt, ['2020-01-01T00:00:00Z', id]);
  const page = await gateway.alice.read('/console/in-doubt?mode=live');
  expect(page).toContain(id);
  expect(page).toContain('The provider does not have it.');
  const asked = await gateway.alice.post(`/console/in-doubt/${id}/ask`);
  expect(await gateway.alice.read(asked.headers.get('location')!)).toContain(
    'was told to ask the provider',
  );
  await gateway.db.query(inDoubt, [null, id]);
  const reject = await decide(gateway.alice, id, 'reject');
  await reject({ reason: 'test' });
});

test('a viewer reads everything and finds no form', async () => {
  const id = await createPayout();
  const viewer = await signedIn(gateway.baseUrl, await makeUser(gateway.db, 'operator', 'viewer'));
  const pages = await Promise.all([
    viewer.read(`/console/payouts/${id}`),
    viewer.read(`/console/queue?account=${gateway.accountId}`),
  ]);
  for (const html of pages) expect(html).not.toMatch(/name="(decision|id)"/);
  const forged = { decision: `dec_${id.slice(3)}` };
  expect((await viewer.post(`/console/payouts/${id}/approve`, forged)).status).toBe(403);
  expect(await statusOf(id)).toBe('under_review');
});
