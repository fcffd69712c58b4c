/** What operators decide about payments over HTTP: holds and cancelling, up to the balance. */
import type { PaymentStatus } from '../../../src/domain/payment';
import { PROVIDER_CODES } from '../../../src/domain/provider-codes';
import { newId } from '../../../src/platform/lib/new-id';
import { useSharedGateway, isSound } from '../../support/servers/gateway';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import { ageSignIn, hiddenIn, makeUser, signedIn } from '../../support/merchant/page-client';
import {
  atProvider,
  checkoutOf,
  closeWindow,
  decide,
  eventsOf,
  needsAttention,
  openedPayment,
  postingsOf,
  readPayment,
  whenDetails,
  whenPayment,
} from '../../support/payment/payment-steps';
import { balanceOf, openMerchant } from '../../support/payout/payout-steps';
import { placeOf, temporalCommand } from '../../support/servers/temporal-command';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';

const gateway = started(useSharedGateway, isSound);

async function opened(overrides: Record<string, unknown> = {}) {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  return { client, id: await openedPayment(client, overrides) };
}

/** Held with this much confirmed; null: with a transfer that is seen only. */
async function held(confirmed: string | null, provider = 'onchain_provider') {
  const payment = await opened({ provider });
  const { client, id } = payment;
  // Confirmed only once it is held: the gateway would credit it at once.
  const amount = confirmed === null ? {} : { amount: confirmed };
  await atProvider(gateway, id, 'pay', { ...amount, then: 'stay' });
  await atProvider(gateway, id, 'hold');
  await whenPayment(client, id, 'on_hold');
  if (confirmed !== null) await atProvider(gateway, id, 'confirm');
  return payment;
}

async function expectEnd(
  { client, id }: { client: MerchantClient; id: string },
  end: PaymentStatus,
  available: string,
): Promise<void> {
  const data = await whenPayment(client, id, end);
  expect(data.exceptions).toEqual(['manual']);
  const events = await eventsOf(gateway, id);
  expect(events.at(-1)).toMatchObject({ type: `payment.${end}`, body: { data } });
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_one, index) => index + 1));
  expect((await balanceOf(client))?.available ?? '0.00000000').toBe(available);
  expect(await postingsOf(gateway, id)).toHaveLength(available === '0.00000000' ? 0 : 1);
}

describe.each(PROVIDER_CODES)('a hold at %s', (provider) => {
  test.concurrent('that is released with enough completes the payment', async () => {
    const payment = await held('100', provider);
    expect(await whenDetails(gateway, payment.id, /an operator must release or reject/)).toContain(
      `--name release --input '{"by":"you"}'`,
    );
    expect(await needsAttention(gateway, payment.id)).toBe(true);
    await decide(gateway, payment.id, 'release');
    await expectEnd(payment, 'completed', '99.00000000');
    await waitFor(
      'the end of the attention',
      async () => (await needsAttention(gateway, payment.id)) === false,
    );
  });

  test.concurrent('that is rejected with confirmed money ends as refunded', async () => {
    const payment = await held('100', provider);
    await decide(gateway, payment.id, 'reject', { reason: 'sanctions hit' });
    await expectEnd(payment, 'refunded', '0.00000000');
    expect(await readPayment(payment.client, payment.id)).toMatchObject({
      failure_reason: 'sanctions hit',
      refunded_amount: '100.00000000',
      net_amount: null,
    });
    expect((await checkoutOf(gateway, payment.id)).refunds).toHaveLength(1);
  });

  test.concurrent('that is rejected with nothing confirmed ends as failed', async () => {
    const payment = await held(null, provider);
    await decide(gateway, payment.id, 'reject', { reason: 'sanctions hit' });
    await expectEnd(payment, 'failed', '0.00000000');
    const { failure_reason } = await readPayment(payment.client, payment.id);
    expect(failure_reason).toBe('sanctions hit');
  });
});

test.concurrent(
  'a hold that is released with too little is underpaid at the end of the window',
  async () => {
    const payment = await held('40');
    await decide(gateway, payment.id, 'release');
    await whenDetails(gateway, payment.id, /`release` by alice, done/);
    expect((await readPayment(payment.client, payment.id)).status).toBe('on_hold');
    await closeWindow(gateway, payment.id);
    await payment.client.post(`/payments/${payment.id}/verify`);
    await expectEnd(payment, 'underpaid', '39.60000000');
  },
);

test.concurrent(
  'a hold that comes again is not released by the decision about the first',
  async () => {
    const { client, id } = await held('40');
    await decide(gateway, id, 'release');
    await whenDetails(gateway, id, /`release` by alice, done/);
    await atProvider(gateway, id, 'hold');
    await whenDetails(gateway, id, /an operator must release or reject/);
    expect((await checkoutOf(gateway, id)).on_hold).toBe(true);
    await decide(gateway, id, 'reject', { reason: 'the second look' });
    await expectEnd({ client, id }, 'refunded', '0.00000000');
  },
);

test.concurrent('a hold that the provider releases by itself was decided by nobody', async () => {
  const { client, id } = await held('100');
  await atProvider(gateway, id, 'release');
  expect((await whenPayment(client, id, 'completed')).exceptions).toEqual([]);
});

describe('cancel', () => {
  test.concurrent.each([
    ['created', []],
    ['pending', ['start']],
  ] as const)('ends a payment that is %s, also without input', async (status, steps) => {
    const payment = await opened();
    for (const step of steps) await atProvider(gateway, payment.id, step);
    await whenPayment(payment.client, payment.id, status);
    await temporalCommand(
      placeOf(gateway.env),
      ...['workflow', 'signal', '-w', payment.id, '--name', 'cancel'],
    );
    await expectEnd(payment, 'cancelled', '0.00000000');
    expect((await checkoutOf(gateway, payment.id)).state).toBe('cancelled');
  });

  test.concurrent('money that comes all the same is late, and credited', async () => {
    const { client, id } = await opened();
    await decide(gateway, id, 'cancel');
    await whenPayment(client, id, 'cancelled');
    await atProvider(gateway, id, 'pay');
    const data = await whenPayment(client, id, 'completed');
    expect(data.exceptions).toEqual(['manual', 'late']);
    expect((await balanceOf(client))?.available).toBe('99.00000000');
  });

  test.concurrent('is refused once money was seen', async () => {
    const { client, id } = await opened();
    await atProvider(gateway, id, 'pay', { then: 'stay' });
    await whenPayment(client, id, 'processing');
    await decide(gateway, id, 'cancel');
    await whenDetails(gateway, id, /`cancel` by alice had no effect: the payment is processing/);
    await atProvider(gateway, id, 'confirm');
    expect((await whenPayment(client, id, 'completed')).exceptions).toEqual([]);
  });
});

test.concurrent('a release for a payment that nobody holds changes nothing', async () => {
  const { client, id } = await opened();
  await decide(gateway, id, 'release');
  await whenDetails(gateway, id, /`release` by alice had no effect: the payment is created/);
  await decide(gateway, id, 'refund', { reason: 'x' });
  await whenDetails(gateway, id, /`refund` by alice had no effect: the payment is created/);
  await atProvider(gateway, id, 'pay');
  expect((await whenPayment(client, id, 'completed')).exceptions).toEqual([]);
});

describe('on the pages of the console', () => {
  const PROBE = '<img src=x onerror=alert(1)>';

  async function reviewer() {
    const user = await makeUser(gateway.db, 'operator', 'reviewer');
    const page = await signedIn(gateway.baseUrl, user);
    const read = async (path: string) => {
      const html = await page.read(path);
      expect(html).not.toContain(PROBE);
      return html;
    };
    /** Opens the payment's page and sends the form. @returns the page that it leads to */
    const send = async (id: string, kind: string, fields: Record<string, string>) => {
      const html = await read(`/console/payments/${id}`);
      return page.post(`/console/payments/${id}/${kind}`, { ...hiddenIn(html, kind), ...fields });
    };
    return { page, user, read, send };
  }

  test.concurrent(
    'a payment is found, refunded in part, and a refund too large is refused',
    async () => {
      const { page: visitor, read, send, user } = await reviewer();
      const reference = `console-${newId('request')}`;
      const { client, id } = await opened({
        provider: 'exchange_pay',
        reference,
        description: PROBE,
        metadata: { a: PROBE },
      });
      await atProvider(gateway, id, 'pay');
      await whenPayment(client, id, 'completed');
      const [owner] = await gateway.db.query<{ accountId: string }>(
        'SELECT account_id FROM payments WHERE id = ?',
        [id],
      );
      const found = async (query: string) =>
        (await read(`/console/payments?${query}`)).includes(id);
      const of = `account=${owner!.accountId}`;
      for (const query of [
        `search=${id}`,
        `search=${reference}`,
        `${of}&status=completed&mode=test`,
      ]) {
        expect([query, await found(query)]).toEqual([query, true]);
      }
      for (const query of [
        `${of}&mode=live`,
        `${of}&status=failed`,
        `${of}&flag=exception`,
        `${of}&flag=open_case`,
      ]) {
        expect([query, await found(query)]).toEqual([query, false]);
      }
      await ageSignIn(gateway.db, user);
      const draft = { 'refund-amount': '7', 'refund-reason': 'Too late' };
      const confirmed = await visitor.confirm(user, await send(id, 'refund', draft));
      // The form that was typed is open.
      expect(await read(confirmed)).toMatch(
        /<details class="confirm" open>(?:(?!<details)[^])*="7"/,
      );
      const empty = await send(id, 'refund', { 'refund-amount': '10', 'refund-reason': ' ' });
      expect([empty.status, (await empty.text()).includes('Enter a value.')]).toEqual([422, true]);
      const reason = `Sold out ${PROBE}`;
      const large = await send(id, 'refund', { 'refund-amount': '1000', 'refund-reason': reason });
      const refused = await read(large.headers.get('location')!);
      expect(refused).toContain('Your decision had no effect.');
      expect(refused).toContain('exceeds the refundable amount');
      const part = await send(id, 'refund', { 'refund-amount': '10', 'refund-reason': reason });
      expect(await read(part.headers.get('location')!)).toMatch(
        /the provider has accepted it|waiting for the provider/,
      );
      await waitFor(
        'the refund',
        async () => (await readPayment(client, id)).refunded_amount === '10.00000000',
      );
      const page = await read(`/console/payments/${id}`);
      for (const shown of [
        user.email,
        'Sold out',
        'Refund: completed',
        'Credited',
        'Payment refunded',
      ]) {
        expect(page).toContain(shown);
      }
    },
  );

  test.concurrent('a hold is rejected with a reason that the merchant reads', async () => {
    const [{ send, read, page, user }, payment] = await Promise.all([reviewer(), held('100')]);
    const answer = await send(payment.id, 'reject', { 'reject-reason': 'sanctions hit' });
    expect(await read(answer.headers.get('location')!)).toContain('Reject: ');
    await expectEnd(payment, 'refunded', '0.00000000');
    expect((await readPayment(payment.client, payment.id)).failure_reason).toBe('sanctions hit');
    const late = await page.post(`/console/payments/${payment.id}/release`, {
      decision: newId('decision'),
      'release-reason': 'too late',
    });
    expect(await read(late.headers.get('location')!)).toContain('The payment is refunded');
    const asked = await page.post(`/console/payments/${payment.id}/ask`);
    expect(await read(asked.headers.get('location')!)).toContain('was told to ask the provider');
    const forged = await page.post(`/console/payments/${payment.id}/refund`, {
      decision: 'x',
      'refund-amount': '1',
      'refund-reason': 'x',
    });
    expect(forged.status).toBe(404);
    await ageSignIn(gateway.db, user);
    const again = await send(payment.id, 'refund', { 'refund-amount': '1', 'refund-reason': 'x' });
    expect(again.headers.get('location')).toMatch(/^\/console\/confirm\?next=/);
  });
});
