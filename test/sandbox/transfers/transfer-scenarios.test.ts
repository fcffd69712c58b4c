/**
 * Every scenario at every provider, from the adapter's results over the book to the callbacks,
 * through real HTTP.
 */
import { amount } from '../../../src/domain/money';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { PayoutOrder } from '../../../src/adapters/providers/port';
import {
  magicAddress,
  magicExchangeId,
  SCENARIO_NAMES,
  SCENARIOS,
  type ScenarioName,
} from '../../../src/rails/sandbox/transfers/scenarios';
import {
  buildOrder,
  control,
  readBookEntry,
  startSandboxWorld,
  type ReceivedCallback,
  type SandboxWorld,
} from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

type ResultKind = 'accepted' | 'refused' | 'unknown';

interface Expectation {
  /** The adapter's results of one submission after another. */
  submissions: ResultKind[];
  /** What findPayout says after the first submission, when that was not a definite answer. */
  afterFirst?: 'found' | 'not_found';
  final: 'sent' | 'failed' | 'pending' | null;
  /** What authentic callbacks say, in order of arrival. */
  callbacks: ('pending' | 'sent' | 'failed')[];
  forged?: number;
}

const PLAIN: Expectation = { submissions: ['accepted'], final: 'sent', callbacks: ['sent'] };

const EXPECTATIONS: Record<ScenarioName, Expectation> = {
  sends: PLAIN,
  refuses: { submissions: ['refused', 'refused'], final: null, callbacks: [] },
  fails_later: { ...PLAIN, final: 'failed', callbacks: ['failed'] },
  slow: PLAIN,
  timeout_after_accept: { ...PLAIN, submissions: ['unknown', 'accepted'], afterFirst: 'found' },
  timeout_before_accept: {
    ...PLAIN,
    submissions: ['unknown', 'accepted'],
    afterFirst: 'not_found',
  },
  error_5xx: { ...PLAIN, submissions: ['unknown', 'unknown', 'accepted'], afterFirst: 'not_found' },
  error_5xx_after_accept: { ...PLAIN, submissions: ['unknown', 'accepted'], afterFirst: 'found' },
  connection_reset: { ...PLAIN, submissions: ['unknown', 'accepted'], afterFirst: 'found' },
  callback_lost: { ...PLAIN, callbacks: [] },
  callback_twice: { ...PLAIN, callbacks: ['sent', 'sent', 'sent'] },
  callback_out_of_order: { ...PLAIN, callbacks: ['sent', 'pending'] },
  callback_forged: { ...PLAIN, final: 'failed', callbacks: ['failed'], forged: 2 },
  success_after_failure: { ...PLAIN, callbacks: ['failed', 'sent'] },
  never_settles: { ...PLAIN, final: 'pending', callbacks: [] },
};

let world: SandboxWorld;
beforeAll(async () => {
  world = await startSandboxWorld();
});
afterAll(() => world.stop());

const ROWS = PROVIDER_CODES.flatMap((code) =>
  SCENARIO_NAMES.map((name) => ({ code, name, ...EXPECTATIONS[name] })),
);

describe.each(ROWS)('$code: $name', ({ code, name, ...expected }) => {
  it('answers, records and calls back as the table says', async () => {
    const order = orderForScenario(code, name);
    await submitAsExpected(code, order, name, expected);

    if (expected.final === null) {
      expect(await find(code, order)).toEqual({ kind: 'not_found' });
    } else {
      await waitFor(`${name} to be ${expected.final}`, async () => {
        const found = await find(code, order);
        return found.kind === 'found' && found.transfer.status === expected.final;
      });
      await expectFinalTransfer(code, order, expected.final);
    }
    expect(await readBookEntry(world.sandbox.url, order.reference)).toMatchObject({
      scenario: name,
      status: expected.final ?? 'refused',
      submissions: expected.submissions.length,
      times_sent: expected.final === 'sent' ? 1 : 0,
      amount: '10.50000000',
      currency: 'USDT',
    });
    await expectCallbacks(code, order, expected);
  });
});

describe.each(PROVIDER_CODES)('%s', (code) => {
  it('lets an amount call a scenario too, and the destination win over it', async () => {
    const refused = buildOrder(code, { amount: amount('3.12349001') });
    const sent = { ...orderForScenario(code, 'sends'), amount: amount('3.12349001') };
    const provider = world.patient.get(code, 'test');
    expect((await provider.submitPayout(refused)).kind).toBe('refused');
    expect((await provider.submitPayout(sent)).kind).toBe('accepted');
  });
});

function orderForScenario(code: ProviderCode, name: ScenarioName): PayoutOrder {
  const order = buildOrder(code);
  const value = code === 'onchain_provider' ? magicAddress(name, 'tron') : magicExchangeId(name);
  return { ...order, destination: { ...order.destination, value } };
}

async function find(code: ProviderCode, order: PayoutOrder) {
  return world.patient.get(code, 'test').findPayout(order.reference);
}

async function submitAsExpected(
  code: ProviderCode,
  order: PayoutOrder,
  name: ScenarioName,
  expected: Expectation,
): Promise<void> {
  for (const [index, kind] of expected.submissions.entries()) {
    const hangs = kind === 'unknown' && SCENARIOS[name].fault?.kind === 'hang';
    const providers = hangs ? world.impatient : world.patient;
    const result = await providers.get(code, 'test').submitPayout(order);
    expect(result.kind).toBe(kind);
    if (index === 0 && expected.afterFirst !== undefined) {
      expect((await find(code, order)).kind).toBe(expected.afterFirst);
    }
    if (result.kind === 'accepted') {
      const { reference, currency } = order;
      expect(result.transfer).toMatchObject({ reference, amount: order.amount, currency });
    } else {
      expect(result.reason).toMatch(/^[A-Z].*\.$/);
    }
  }
}

async function expectFinalTransfer(
  code: ProviderCode,
  order: PayoutOrder,
  final: 'sent' | 'failed' | 'pending',
): Promise<void> {
  const found = await find(code, order);
  if (found.kind !== 'found') throw new Error('the transfer is gone');
  const { transfer } = found;
  expect(transfer).toMatchObject({ reference: order.reference, amount: order.amount });
  if (final === 'sent' && code === 'onchain_provider') {
    expect(transfer.txHash).toMatch(/^[0-9a-f]{64}$/);
  } else {
    expect(transfer.txHash).toBeNull();
  }
  if (final === 'failed') expect(transfer.failureReason).toMatch(/^The transfer .*\.$/);
  else expect(transfer.failureReason).toBeNull();
}

/** A resent callback marks the end, so that one too many before it would be seen. */
async function expectCallbacks(
  code: ProviderCode,
  order: PayoutOrder,
  expected: Expectation,
): Promise<void> {
  const forged = expected.forged ?? 0;
  const count = expected.callbacks.length + forged;
  await waitFor(`${String(count)} callbacks`, () => callbacksAbout(order).length >= count);
  const key = { provider: code, mode: 'test', client_reference: order.reference };
  expect(await control(world.sandbox.url, 'transfers/resend-callback', key)).toBe(200);
  const received = await waitFor('the resent callback', () => {
    const all = callbacksAbout(order);
    return all.length > count ? all.slice(0, -1) : undefined;
  });

  const provider = world.patient.get(code, 'test');
  const [authentic, refused] = [received, received].map((all, index) =>
    all.filter(
      (one) => (provider.readCallback(one.headers, one.rawBody) !== null) === (index === 0),
    ),
  );
  expect(authentic?.map(statedStatus)).toEqual(expected.callbacks);
  expect(refused?.map(statedStatus)).toEqual(Array.from({ length: forged }, () => 'sent'));
  for (const callback of authentic ?? []) {
    expect(callback.path).toBe(`/provider-callbacks/${code}/test`);
    const hint = provider.readCallback(callback.headers, callback.rawBody);
    expect(hint).toEqual({ object: 'payout', reference: order.reference });
    const live = world.patient.get(code, 'live');
    expect(live.readCallback(callback.headers, callback.rawBody)).toBeNull();
  }
}

function callbacksAbout(order: PayoutOrder): ReceivedCallback[] {
  return world.receiver.received.filter((one) => one.rawBody.includes(order.reference));
}

const STATED = {
  queued: 'pending',
  confirmed: 'sent',
  failed: 'failed',
  PROCESSING: 'pending',
  SUCCESS: 'sent',
  FAILED: 'failed',
} as const;

function statedStatus(callback: ReceivedCallback): string {
  const body = JSON.parse(callback.rawBody.toString('utf8')) as {
    data: { status: keyof typeof STATED };
    bizStatus?: keyof typeof STATED;
  };
  return STATED[body.bizStatus ?? body.data.status];
}
