/** What operators decide about payments over HTTP: holds and cancelling, up to the balance. */
import type { PaymentStatus } from '../../src/domain/payment';
import { PROVIDER_CODES } from '../../src/domain/provider-codes';
import { brokenInvariants, type TestGateway, useSharedGateway } from '../support/gateway';
import type { MerchantClient } from '../support/merchant-client';
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
} from '../support/payment-steps';
import { balanceOf, eventually, openMerchant } from '../support/payout-steps';
import { placeOf, temporalCommand } from '../support/temporal-command';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await useSharedGateway();
});

afterAll(async () => {
  expect(await brokenInvariants(gateway)).toEqual([]);
  await gateway.stop();
});

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
    await eventually('the end of the attention', async () =>
      (await needsAttention(gateway, payment.id)) === false ? true : undefined,
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
