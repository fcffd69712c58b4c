/** Every scenario of a test-mode checkout plays by itself, at both providers. */
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { Checkout } from '../../../src/adapters/providers/port';
import {
  CHECKOUT_SCENARIO_NAMES,
  type CheckoutScenario,
} from '../../../src/rails/sandbox/checkouts/checkout';
import {
  buildCheckout,
  control,
  readCheckoutEntry,
  startSandboxWorld,
  type SandboxWorld,
} from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

const SETTLE_MS = 50;

let world: SandboxWorld;
beforeAll(async () => {
  world = await startSandboxWorld({ settleMs: SETTLE_MS });
});
afterAll(() => world.stop());

interface Ending {
  /** State, hold, transfers as `status amount`, refunds. */
  facts: [Checkout['state'], boolean, string[], string[]];
  /** How many callbacks come in all. */
  callbacks: number;
}

const FULL = 'confirmed 25.00000000';
const COMPLETED: Ending['facts'] = ['started', false, [FULL], []];

const ENDINGS: Record<CheckoutScenario, Ending> = {
  completed: { facts: COMPLETED, callbacks: 3 },
  underpaid: { facts: ['started', false, ['confirmed 12.50000000'], []], callbacks: 3 },
  overpaid: { facts: ['started', false, ['confirmed 37.50000000'], []], callbacks: 3 },
  paid_again: { facts: ['started', false, [FULL, 'confirmed 12.50000000'], []], callbacks: 5 },
  late: { facts: COMPLETED, callbacks: 3 },
  on_hold: { facts: ['started', true, [FULL], []], callbacks: 4 },
  refunded: { facts: ['started', false, [FULL], ['25.00000000']], callbacks: 4 },
  failed: { facts: ['failed', false, [], []], callbacks: 2 },
  expired: { facts: ['open', false, [], []], callbacks: 0 },
  cancelled: { facts: ['cancelled', false, [], []], callbacks: 2 },
  callback_lost: { facts: COMPLETED, callbacks: 0 },
  callback_twice: { facts: COMPLETED, callbacks: 9 },
  out_of_order: { facts: COMPLETED, callbacks: 6 },
};

/** Only `late` waits for the time limit; no other scenario may reach it, however busy the machine is. */
const timeLimitOf = (scenario: string) => (scenario === 'late' ? 700 : 60_000);

async function open(code: ProviderCode, scenario: string, mode: 'test' | 'live' = 'test') {
  const timeLimitMs = timeLimitOf(scenario);
  const order = buildCheckout(code, { scenario, expiresAt: new Date(Date.now() + timeLimitMs) });
  expect((await world.patient.get(code, mode).openCheckout(order)).kind).toBe('found');
  return order;
}

async function whenPlayed(code: ProviderCode, reference: string): Promise<Checkout> {
  return waitFor('the end of the scenario', async () => {
    const entry = await readCheckoutEntry(world.sandbox.url, reference);
    if (entry?.planned.length !== 0) return undefined;
    const result = await world.patient.get(code, 'test').findCheckout(reference);
    return result.kind === 'found' ? result.checkout : undefined;
  });
}

const callbacksAbout = (reference: string) =>
  world.receiver.received.filter(({ rawBody }) => rawBody.includes(reference));

const whenToldOf = (reference: string, callbacks: number) =>
  waitFor('the callbacks', () => callbacksAbout(reference).length >= callbacks);

describe.each(PROVIDER_CODES)('%s', (code) => {
  it.each(CHECKOUT_SCENARIO_NAMES)('%s', async (scenario) => {
    const order = await open(code, scenario);
    const { state, onHold, transfers, refunds } = await whenPlayed(code, order.reference);
    const { facts, callbacks } = ENDINGS[scenario];
    expect([
      state,
      onHold,
      transfers.map((one) => `${one.status} ${one.amount}`),
      refunds.map((one) => one.amount),
    ]).toEqual(facts);
    await whenToldOf(order.reference, callbacks);
    for (const { confirmedAt } of transfers) {
      expect(confirmedAt! > order.expiresAt).toBe(scenario === 'late');
    }
  });

  it('sends no callback more than the scenario has', async () => {
    const orders = [];
    for (const scenario of CHECKOUT_SCENARIO_NAMES) orders.push(await open(code, scenario));
    const expected = CHECKOUT_SCENARIO_NAMES.map((name) => ENDINGS[name].callbacks);
    for (const [index, { reference }] of orders.entries()) {
      await whenPlayed(code, reference);
      await whenToldOf(reference, expected[index]!);
    }
    const marker = await open(code, 'callback_twice');
    await whenToldOf(marker.reference, 9);
    expect(orders.map(({ reference }) => callbacksAbout(reference).length)).toEqual(expected);
  });

  it('tells the older news last in out_of_order', async () => {
    const { reference } = await open(code, 'out_of_order');
    await whenPlayed(code, reference);
    const callbacks = await waitFor('all callbacks', () => {
      const about = callbacksAbout(reference);
      return about.length === 6 ? about : undefined;
    });
    const confirmed = callbacks.map(({ rawBody }) => /final"|SUCCESS/.test(rawBody.toString()));
    expect(confirmed.indexOf(true)).toBeLessThan(confirmed.lastIndexOf(false));
  });

  it('plays nothing in live mode, and nothing under a name that it does not know', async () => {
    const live = await open(code, 'completed', 'live');
    const unknown = await open(code, 'constructor');
    const marker = await open(code, 'completed');
    await whenPlayed(code, marker.reference);
    for (const { reference } of [live, unknown]) {
      expect(await readCheckoutEntry(world.sandbox.url, reference)).toMatchObject({
        scenario: null,
        state: 'open',
        transfers: [],
      });
    }
  });

  it('still plays late after a cancellation, but nothing that was planned in time', async () => {
    const provider = world.patient.get(code, 'test');
    const late = await open(code, 'late');
    // Nothing may be paid before the cancellation, however busy the machine is.
    await control(world.sandbox.url, 'settings', { settle_ms: 2_000 });
    const inTime = await open(code, 'completed');
    await control(world.sandbox.url, 'settings', { settle_ms: SETTLE_MS });
    for (const { reference } of [late, inTime]) await provider.cancelCheckout(reference);
    expect((await whenPlayed(code, late.reference)).transfers).toMatchObject([
      { status: 'confirmed' },
    ]);
    expect(await whenPlayed(code, inTime.reference)).toMatchObject({
      state: 'cancelled',
      transfers: [],
    });
  });
});
