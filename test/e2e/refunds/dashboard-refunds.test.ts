/** A person refunds and cancels payments on the dashboard, without JavaScript; an operator sees who asked. */
import { ageSignIn, hiddenIn, makeUser, signedIn } from '../../support/merchant/page-client';
import {
  atProvider,
  openedPayment,
  type Opened,
  paidPayment,
  whenPayment,
  whenRefund,
} from '../../support/payment/payment-steps';
import { balanceOf, openMerchant } from '../../support/payout/payout-steps';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';

const gateway = started(useSharedGateway, isSound);

async function enter(accountId: string | null, role = 'owner') {
  const kind = accountId === null ? 'operator' : 'merchant';
  const user = await makeUser(gateway.db, kind, role, accountId);
  return { user, client: await signedIn(gateway.baseUrl, user) };
}

interface Seen {
  status: number;
  location: string;
  text: string;
}

async function seen(answer: Promise<Response>): Promise<Seen> {
  const response = await answer;
  const location = response.headers.get('location') ?? '';
  return { status: response.status, location, text: await response.text() };
}

const refundPath = ({ id }: Pick<Opened, 'id'>, mode = 'test') =>
  `/dashboard/${mode}/payments/${id}/refund`;

test('a part and then all that is left are refunded after a review, and two clicks are one refund', async () => {
  const payment = await paidPayment(gateway);
  const { user, client } = await enter(payment.accountId);
  const path = refundPath(payment);
  const page = `/dashboard/test/payments/${payment.id}`;
  expect((await seen(client.get(page))).text).toContain(`href="${path}"`);
  const form = await seen(client.get(path));
  expect(form.text).toContain('100.00000000');

  const fields = {
    ...hiddenIn(form.text),
    amount: '40',
    reference: 'broken-lamp',
    reason: 'Broken',
  };
  const review = await seen(client.post(path, fields));
  expect(review.status).toBe(200);
  for (const shown of ['40.00000000', '39.60000000', '0.40000000', '60.00000000']) {
    expect(review.text).toContain(shown);
  }
  expect((await payment.client.get(`/payments/${payment.id}/refunds`)).json.data).toEqual([]);
  const back = await seen(client.post(path, { ...hiddenIn(review.text), step: 'change' }));
  expect(back.text).toContain('value="broken-lamp"');

  const send = () => seen(client.post(path, { ...hiddenIn(review.text), step: 'send' }));
  const clicks = await Promise.all([send(), send()]);
  const [first, second] = clicks.map(({ location }) => location);
  expect(first).toMatch(/^\/dashboard\/test\/refunds\/rf_/);
  expect(second).toBe(first);
  const id = first!.split('/').at(-1)!;
  const done = await whenRefund(payment.client, id, 'completed');
  expect(done).toMatchObject({ amount: '40.00000000', reason: 'Broken', requested_by: 'merchant' });
  const shown = await seen(client.get(first!));
  for (const text of [user.email, 'broken-lamp', 'Broken', 'Completed', '39.60000000']) {
    expect(shown.text).toContain(text);
  }

  // Nothing is named: the review fixes the amount that was left.
  const rest = await seen(client.post(path, { reference: 'rest' }));
  expect(hiddenIn(rest.text)['amount']).toBe('60.00000000');
  const sent = await seen(client.post(path, { ...hiddenIn(rest.text), step: 'send' }));
  await whenRefund(payment.client, sent.location.split('/').at(-1)!, 'completed');
  await whenPayment(payment.client, payment.id, 'refunded');
  const after = await seen(client.get(page));
  expect(after.text).toContain('broken-lamp');
  expect(after.text).not.toContain(`href="${path}"`);
  expect((await balanceOf(payment.client))?.available).toBe('0.00000000');

  const list = (query: string) => seen(client.get(`/dashboard/test/refunds?${query}`));
  expect((await list('status=completed')).text).toContain('broken-lamp');
  expect((await list('reference=rest')).text).not.toContain('broken-lamp');
  expect((await list('status=failed')).text).toContain('No refunds match these filters');
  expect((await list('status=lost')).status).toBe(422);

  const operator = await enter(null, 'viewer');
  const atConsole = await seen(operator.client.get(`/console/payments/${payment.id}`));
  expect(atConsole.text).toContain(user.email);
  expect(atConsole.text).toContain('broken-lamp');
});

test('what the API refuses is said on the form, which keeps what was typed', async () => {
  const payment = await paidPayment(gateway, 'onchain_provider');
  const { client } = await enter(payment.accountId);
  const path = refundPath(payment);
  const ask = (form: Record<string, string>) => seen(client.post(path, form));
  const more = await ask({ amount: '100.00000001', reference: 'too-much' });
  expect(more.status).toBe(422);
  expect(more.text).toContain('value="too-much"');
  expect(more.text).toContain('100.00000000');
  const nothing = await ask({ amount: '-1', reference: '' });
  expect(nothing.text).toContain('Correct the fields that are marked.');
  const tron = { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6x' };
  const address = await ask({ amount: '1', reference: 'elsewhere', ...tron });
  expect(address.status).toBe(422);
  expect(address.text).toMatch(/field-value-error/);
});

test('a test refund may name an address; another account and a viewer refund nothing', async () => {
  const payment = await paidPayment(gateway, 'onchain_provider');
  const [{ client }, viewer, stranger] = await Promise.all([
    enter(payment.accountId),
    enter(payment.accountId, 'viewer'),
    openMerchant(gateway).then(({ accountId }) => enter(accountId)),
  ]);
  const path = refundPath(payment);
  const value = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const form = { amount: '5', reference: 'elsewhere', type: 'crypto_address', value };
  expect((await seen(viewer.client.post(path, form))).status).toBe(403);
  expect((await seen(stranger.client.post(path, form))).status).toBe(404);
  const review = await seen(client.post(path, form));
  expect(review.text).toContain(value);
  const sent = await seen(client.post(path, { ...hiddenIn(review.text), step: 'send' }));
  const id = sent.location.split('/').at(-1)!;
  expect((await whenRefund(payment.client, id, 'completed')).destination).toMatchObject({ value });
  expect((await seen(stranger.client.get(sent.location))).status).toBe(404);
  expect((await seen(viewer.client.get(sent.location))).status).toBe(200);

  // Without an address, the page makes the link that a customer would get.
  const open = await seen(client.post(path, { amount: '5', reference: 'by-link', step: 'send' }));
  expect((await seen(viewer.client.post(`${open.location}/link`))).status).toBe(403);
  expect((await seen(client.post(`${open.location}/link`))).location).toBe(open.location);
  const made = (await seen(client.get(open.location))).text;
  const [link = ''] = /http[^"<\s]+refund-address\?token=[\w-]+/.exec(made) ?? [];
  expect((await seen(fetch(link))).text).toContain('5.00000000');
});

test('a live refund needs a recent sign-in and an owner, and its customer names the address by a link', async () => {
  const { accountId, client: api } = await openMerchant(gateway, { funds: {} });
  const id = await openedPayment(api, { provider: 'onchain_provider' });
  await atProvider(gateway, id, 'pay');
  await whenPayment(api, id, 'completed');
  const { user, client } = await enter(accountId);
  const developer = await enter(accountId, 'developer');
  const path = refundPath({ id }, 'live');
  const form = { amount: '10', reference: 'live-1' };
  expect((await seen(developer.client.post(path, form))).status).toBe(403);
  expect((await seen(client.get(path))).text).not.toContain('name="value"');
  const forged = { ...form, type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' };
  expect((await seen(client.post(path, { ...forged, step: 'send' }))).status).toBe(422);

  await ageSignIn(gateway.db, user);
  const asked = await client.post(path, { ...form, step: 'send' });
  expect(asked.headers.get('location')).toMatch(/^\/dashboard\/confirm/);
  const next = await client.confirm(user, asked);
  expect((await seen(client.get(next))).text).toContain('value="live-1"');
  expect((await api.get(`/payments/${id}/refunds`)).json.data).toEqual([]);
  const review = await seen(client.post(path, form));
  const sent = await seen(client.post(path, { ...hiddenIn(review.text), step: 'send' }));
  const refund = sent.location.split('/').at(-1)!;
  const read = async () => (await api.get(`/refunds/${refund}`)).json.data;
  expect(await read()).toMatchObject({ mode: 'live', awaits_address: true, destination: null });
  const shown = (await seen(client.get(sent.location))).text;
  expect(shown).toContain('Waiting for the customer’s address');
  expect(shown).toContain('Ask the operator of the gateway');
  const home = (await seen(client.get('/dashboard/live'))).text;
  expect(home).toMatch(/<b>1<\/b>\s*refund waits for the customer’s address/);
  // The merchant never has the link; an operator hands it over.
  expect((await seen(client.post(`${sent.location}/link`))).status).toBe(404);
  const operator = await enter(null, 'reviewer');
  const atConsole = `/console/payments/${id}`;
  const order = { refund, 'link-reason': 'Ticket 812' };
  await ageSignIn(gateway.db, operator.user);
  const unsure = await operator.client.post(`${atConsole}/refund-link`, order);
  expect(await operator.client.confirm(operator.user, unsure)).toBe(atConsole);
  const made = await seen(operator.client.post(`${atConsole}/refund-link`, order));
  const [, token = ''] =
    /refund-address\?token=([\w-]+)/.exec((await seen(operator.client.get(made.location))).text) ??
    [];
  const link = new URL('/dashboard/refund-address', gateway.baseUrl).href;
  expect((await seen(client.get(sent.location))).text).not.toContain(token);
  const page = await seen(fetch(`${link}?token=${token}`));
  expect([page.status, page.text.includes('10.00000000')]).toEqual([200, true]);
  const name = (value: string) =>
    seen(
      fetch(link, {
        method: 'POST',
        headers: { origin: new URL(gateway.baseUrl).origin },
        body: new URLSearchParams({ token, value }),
      }),
    );
  expect((await name('nonsense')).status).toBe(422);
  expect((await name('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t')).text).toContain('is stored');
  expect((await name('TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')).status).toBe(404);
  const { payout_id: payout, ...named } = await read();
  expect(named).toMatchObject({ status: 'pending', awaits_address: false });
  expect((await api.get(`/payouts/${payout}`)).json.data).toMatchObject({
    ...{ status: 'under_review', reference: refund, amount: '10.00000000' },
    destination: { value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  });
});

test('a payment that nobody has paid is cancelled, and one that is paid is not', async () => {
  const { accountId, client: api } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const { client } = await enter(accountId);
  const id = await openedPayment(api);
  const page = `/dashboard/test/payments/${id}`;
  expect((await seen(client.get(page))).text).toContain(`action="${page}/cancel"`);
  expect((await seen(client.post(`${page}/cancel`))).location).toBe(page);
  await whenPayment(api, id, 'cancelled');
  expect((await seen(client.get(page))).text).not.toContain(`${page}/cancel`);
  const again = await seen(client.post(`${page}/cancel`));
  expect(again.status).toBe(409);
  expect(again.text).toContain('This payment is cancelled.');
});
