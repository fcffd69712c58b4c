/** Checkouts at both providers through the adapters, over HTTP: each call, its repetition, its refusal. */
import { amount } from '../../../src/domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { Checkout, CheckoutResult } from '../../../src/adapters/providers/port';
import {
  buildCheckout,
  connectProviders,
  control,
  makeCredentials,
  readCheckoutEntry,
  startSandboxWorld,
  type SandboxWorld,
} from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

let world: SandboxWorld;
beforeEach(async () => {
  world = await startSandboxWorld();
});
afterEach(() => world.stop());

function found(result: CheckoutResult): Checkout {
  if (result.kind !== 'found') throw new Error(JSON.stringify(result));
  return result.checkout;
}

/** A chain does not say who paid, so the gateway sends a payout. */
const REFUNDS = { exchange_pay: true, onchain_provider: false };

describe.each(PROVIDER_CODES)('%s', (code: ProviderCode) => {
  const provider = () => world.patient.get(code, 'test');
  const act = (verb: string, reference: string, more: Record<string, unknown> = {}) =>
    control(world.sandbox.url, `checkouts/${verb}`, {
      provider: code,
      mode: 'test',
      client_reference: reference,
      ...more,
    });
  const open = async (overrides = {}) => {
    const order = buildCheckout(code, overrides);
    return { order, checkout: found(await provider().openCheckout(order)) };
  };
  const paid = async (overrides = {}) => {
    const { order } = await open(overrides);
    expect(await act('pay', order.reference)).toBe(200);
    return await waitFor('the confirmation', async () => {
      const now = found(await provider().findCheckout(order.reference));
      return now.transfers[0]?.status === 'confirmed' ? now : undefined;
    });
  };

  it('refuses an address of the shop with a control character, which no database stores', async () => {
    const order = buildCheckout(code, { successUrl: 'https://shop.example/\0' });
    expect(await provider().openCheckout(order)).toMatchObject({ kind: 'unknown' });
    expect(await provider().findCheckout(order.reference)).toEqual({ kind: 'not_found' });
  });

  it('opens a checkout with the order as it was, and finds it again', async () => {
    // The scheme of a URL may be in capitals.
    const { order, checkout } = await open({ successUrl: 'HTTPS://shop.example/thanks' });
    expect(checkout).toEqual({
      providerId: expect.stringMatching(/^.{8,}$/),
      reference: order.reference,
      checkoutUrl: expect.stringContaining(`${world.sandbox.url}/checkout/`),
      amount: '25.00000000',
      currency: 'USDT',
      network: code === 'onchain_provider' ? 'tron' : null,
      depositAddress: code === 'onchain_provider' ? expect.stringMatching(/^T\w{33}$/) : null,
      state: 'open',
      onHold: false,
      transfers: [],
      refunds: [],
      failureReason: null,
    });
    expect(found(await provider().findCheckout(order.reference))).toEqual(checkout);
    expect((await fetch(checkout.checkoutUrl)).status).toBe(200);
  });

  it('opens one checkout for a reference, however often and fast it is asked', async () => {
    const order = buildCheckout(code);
    const later = { ...order, expiresAt: new Date(order.expiresAt.getTime() + 1_000) };
    const results = await Promise.all(
      [order, order, later].map((one) => provider().openCheckout(one)),
    );
    expect(new Set(results.map((one) => found(one).providerId)).size).toBe(1);
    const other = { ...order, amount: amount('25.00000001') };
    expect(await provider().openCheckout(other)).toEqual({
      kind: 'unknown',
      reason: 'The provider has a different order under this reference.',
    });
    expect(found(await provider().findCheckout(order.reference)).amount).toBe('25.00000000');
  });

  it('knows no checkout of another mode', async () => {
    const { order } = await open();
    const live = world.patient.get(code, 'live');
    const answers = await Promise.all([
      live.findCheckout(order.reference),
      live.cancelCheckout(order.reference),
      live.releaseHold(order.reference, 'release'),
      ...(REFUNDS[code] ? [live.refundCheckout(order.reference, 're_1', amount('1'))] : []),
    ]);
    expect(answers).toEqual(answers.map(() => ({ kind: 'not_found' })));
  });

  it('refuses a currency that it does not take', async () => {
    const order = buildCheckout(code, { currency: 'DOGE' });
    expect((await provider().openCheckout(order)).kind).toBe('refused');
    expect(await provider().findCheckout(order.reference)).toEqual({ kind: 'not_found' });
  });

  it('keeps every digit of an amount', async () => {
    const exact = amount('123456789012345678.12345678');
    const { order } = await open({ amount: exact });
    await act('pay', order.reference, { amount: '0.00000001' });
    const { amount: asked, transfers } = found(await provider().findCheckout(order.reference));
    expect([asked, transfers[0]?.amount]).toEqual([exact, '0.00000001']);
  });

  it('shows a transfer when it is seen and when it is confirmed', async () => {
    const { order } = await open();
    await act('pay', order.reference, { then: 'stay' });
    const seen = found(await provider().findCheckout(order.reference));
    expect(seen).toMatchObject({ state: 'started', transfers: [{ status: 'seen' }] });
    expect(seen.transfers[0]?.confirmedAt).toBeNull();
    await act('confirm', order.reference);
    const [transfer] = found(await provider().findCheckout(order.reference)).transfers;
    expect(transfer).toMatchObject({ id: seen.transfers[0]?.id, status: 'confirmed' });
    expect(transfer!.confirmedAt!.getTime()).toBeGreaterThanOrEqual(transfer!.seenAt.getTime());
    expect(transfer!.txHash === null).toBe(code === 'exchange_pay');
  });

  it('dates a transfer as it is told', async () => {
    const { order } = await open();
    const at = '2031-02-03T04:05:06.789Z';
    await act('pay', order.reference, { at });
    const [transfer] = found(await provider().findCheckout(order.reference)).transfers;
    expect(transfer).toMatchObject({ status: 'confirmed', confirmedAt: new Date(at) });
  });

  it('cancels once nobody has paid, and takes back nothing that came', async () => {
    const { order } = await open();
    for (let times = 0; times < 2; times += 1) {
      expect(found(await provider().cancelCheckout(order.reference)).state).toBe('cancelled');
    }
    const { reference } = await paid();
    expect(found(await provider().cancelCheckout(reference))).toMatchObject({
      state: 'started',
      transfers: [{ status: 'confirmed' }],
    });
  });

  it('refunds once under one reference, and never more than came; not where nobody knows who paid', async () => {
    const { reference } = await paid();
    if (!REFUNDS[code]) {
      expect(await provider().refundCheckout(reference, 're_1', amount('1'))).toEqual({
        kind: 'refused',
        reason: expect.stringContaining('does not say who paid'),
      });
      return;
    }
    const refund = (name: string, sum: string) =>
      provider().refundCheckout(reference, name, amount(sum));
    for (let times = 0; times < 2; times += 1) {
      const { refunds } = found(await refund('re_1', '20'));
      expect(refunds).toMatchObject([{ amount: '20.00000000' }]);
    }
    expect((await refund('re_1', '21')).kind).toBe('unknown');
    expect((await refund('re_2', '5.00000001')).kind).toBe('refused');
    expect(found(await refund('re_2', '5')).refunds.map((one) => one.amount)).toEqual([
      '20.00000000',
      '5.00000000',
    ]);
    expect((await refund('re_3', '0.00000001')).kind).toBe('refused');
  });

  it('releases a hold, once and again, and does not reject what it released', async () => {
    const { reference } = await paid();
    await act('hold', reference);
    expect(found(await provider().findCheckout(reference)).onHold).toBe(true);
    for (let times = 0; times < 2; times += 1) {
      const { onHold, refunds } = found(await provider().releaseHold(reference, 'release'));
      expect([onHold, refunds]).toEqual([false, []]);
    }
    expect((await provider().releaseHold(reference, 'reject')).kind).toBe('refused');
  });

  it('rejects a hold: what came goes back, once', async () => {
    const { reference } = await paid();
    await act('hold', reference);
    for (let times = 0; times < 2; times += 1) {
      expect(found(await provider().releaseHold(reference, 'reject'))).toMatchObject({
        onHold: false,
        state: 'started',
        refunds: [{ amount: '25.00000000' }],
      });
    }
    expect((await provider().releaseHold(reference, 'release')).kind).toBe('refused');
  });

  it('fails a rejected hold without confirmed money, and drops what was on its way', async () => {
    const { order } = await open();
    await act('pay', order.reference, { then: 'stay' });
    await act('hold', order.reference);
    expect(found(await provider().releaseHold(order.reference, 'reject'))).toMatchObject({
      state: 'failed',
      transfers: [{ status: 'dropped' }],
      refunds: [],
      failureReason: 'The provider rejected the payment for compliance reasons.',
    });
  });

  it('can be told to fail, and then takes no money', async () => {
    const { order } = await open();
    expect(await act('fail', order.reference)).toBe(200);
    expect(found(await provider().findCheckout(order.reference))).toMatchObject({
      state: 'failed',
      failureReason: 'The provider could not carry out the payment.',
    });
    expect(await act('pay', order.reference)).toBe(409);
  });

  it('tells the gateway of each change with a callback that verifies', async () => {
    const { reference } = await paid();
    await act('refund', reference, { amount: '1' });
    const callbacks = await waitFor('three callbacks', () =>
      world.receiver.received.length >= 3 ? world.receiver.received : undefined,
    );
    for (const { headers, rawBody, path } of callbacks) {
      expect(path).toBe(`/provider-callbacks/${code}/test`);
      const hint = provider().readCallback(headers, rawBody);
      expect(hint).toEqual({ object: 'payment', reference });
      const live = world.patient.get(code, 'live');
      expect(live.readCallback(headers, rawBody)).toBeNull();
    }
    await waitFor('the acknowledgement', async () => {
      const entry = await readCheckoutEntry(world.sandbox.url, reference);
      return entry?.acknowledged_version === 3 ? entry : undefined;
    });
    expect(world.receiver.received).toHaveLength(3);
  });

  it('opens nothing for a wrong key, and the adapter then knows nothing', async () => {
    const stranger = connectProviders(world.sandbox, makeCredentials());
    const order = buildCheckout(code);
    expect((await stranger.get(code, 'test').openCheckout(order)).kind).toBe('unknown');
    expect((await stranger.get(code, 'test').findCheckout(order.reference)).kind).toBe('unknown');
    expect(await readCheckoutEntry(world.sandbox.url, order.reference)).toBeUndefined();
    await stranger.close();
  });

  it.each(['answer_503', 'hang', 'refuse'])('is out with %s for checkouts too', async (kind) => {
    const order = buildCheckout(code);
    const outage = { provider: code, mode: 'test' };
    await control(world.sandbox.url, 'outage', { ...outage, kind });
    const out = world.impatient.get(code, 'test');
    const answers = await Promise.all([
      out.openCheckout(order),
      out.findCheckout(order.reference),
      out.cancelCheckout(order.reference),
      out.releaseHold(order.reference, 'release'),
      ...(REFUNDS[code] ? [out.refundCheckout(order.reference, 're_1', amount('1'))] : []),
    ]);
    expect(answers.map((one) => one.kind)).toEqual(answers.map(() => 'unknown'));
    await control(world.sandbox.url, 'outage', { ...outage, kind: null });
    expect((await provider().openCheckout(order)).kind).toBe('found');
  });
});

it.each([
  ['pay', {}, 404],
  ['pay', { provider: 'bank' }, 400],
  ['pay', { mode: 'prod' }, 400],
])('control %s of %j answers %i', async (verb, wrong, status) => {
  const key = { provider: 'onchain_provider', mode: 'test', client_reference: 'pay_none' };
  expect(await control(world.sandbox.url, `checkouts/${verb}`, { ...key, ...wrong })).toBe(status);
});

it.each([[{ amount: '-1' }], [{ amount: 1 }], [{ at: 'soon' }], [{ then: 'vanish' }]])(
  'control does not pay %j',
  async (wrong) => {
    const order = buildCheckout('onchain_provider');
    await world.patient.get('onchain_provider', 'test').openCheckout(order);
    const key = { provider: 'onchain_provider', mode: 'test', client_reference: order.reference };
    expect(await control(world.sandbox.url, 'checkouts/pay', { ...key, ...wrong })).toBe(400);
    expect((await readCheckoutEntry(world.sandbox.url, order.reference))?.transfers).toEqual([]);
  },
);
