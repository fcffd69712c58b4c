/**
 * Random walks of payments: what providers, operators, time and crashes can do, in any order, told
 * to the activities over a real database and the sandbox over HTTP, and to a small model. After
 * each step both agree, and after all walks every invariant of the ledger holds. TEST_SEED repeats a run.
 */
import fc from 'fast-check';
import { checkPayment } from '../../activities/payment/check';
import { decidePayment } from '../../activities/payment/decide';
import type { Deps } from '../../activities/deps';
import { listBalances } from '../../src/db/repositories/ledger';
import { findPayment } from '../../src/db/repositories/payments';
import { amount, ZERO } from '../../src/domain/money';
import type { PaymentDecisionKind } from '../../src/domain/payment';
import { newId } from '../../src/lib/new-id';
import { presentPayment } from '../../src/presenters/payment';
import { brokenInvariants } from '../support/servers/gateway';
import { fund } from '../support/merchant/ledger';
import { PaymentModel } from '../support/payment/payment-model';
import type { Answer, ModelFacts } from '../support/payment/payment-model-facts';
import {
  answerLost,
  atProvider,
  type Faults,
  lost,
  openPayment,
  startPaymentWorld,
  type Wrap,
  withFaults,
} from '../support/payment/payment-world';
import { scaled } from '../support/scale';
import { chooseSeed } from '../support/seeded-random';
import { started } from '../support/started';

const RUNS = scaled(60, 600);

const world = started(startPaymentWorld);

type Crash = { at: 'before_call' | 'after_call' | 'after_commit'; number: number };

type Look =
  | 'once'
  | 'twice_at_once'
  /** Neither calls nor reads arrive, or what they are answered does not. */
  | 'no_answer'
  | 'answers_lost'
  /** The same of what it is told, while reads work. */
  | 'call_lost'
  | 'call_answer_lost'
  | Crash;

type Command =
  | { do: 'pay'; cents: number; then: 'confirmed' | 'seen' }
  | { do: 'provider'; verb: string }
  | { do: 'provider_refund'; cents: number | null }
  | { do: 'decide'; kind: PaymentDecisionKind; cents: number | null; twice: boolean }
  | { do: 'look'; how: Look }
  | { do: 'close_window'; daysAgo: 0 | 31 }
  | { do: 'spend_all' | 'fund' };

const cents = fc.constantFrom(1, 2_500, 5_000, 9_999, 10_000, 10_001, 15_000);
const maybeCents = fc.option(cents, { nil: null });
const crash = fc.record({
  at: fc.constantFrom('before_call' as const, 'after_call' as const, 'after_commit' as const),
  number: fc.integer({ min: 1, max: 3 }),
});
const look = fc.record({
  do: fc.constant('look' as const),
  how: fc.oneof(
    fc.constantFrom(
      ...(['once', 'twice_at_once', 'no_answer', 'answers_lost', 'call_lost'] as const),
      'call_answer_lost' as const,
    ),
    crash,
  ),
});

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      cents,
      then: fc.constantFrom('confirmed' as const, 'confirmed' as const, 'seen' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('provider' as const),
      verb: fc.constantFrom(
        ...['start', 'confirm', 'drop', 'reorg', 'reorg', 'hold', 'hold', 'release', 'reject'],
        ...['cancel', 'fail'],
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('provider_refund' as const), cents: maybeCents }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('decide' as const),
      kind: fc.constantFrom(
        ...(['release', 'reject', 'cancel', 'refund', 'refund', 'refund'] as const),
      ),
      cents: maybeCents,
      twice: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: look },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('close_window' as const),
      daysAgo: fc.constantFrom(0 as const, 0 as const, 31 as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('spend_all' as const, 'fund' as const) }),
  },
);

/** Most doubts come after something; few walks would get as far by chance. */
const beginning = fc.constantFrom<Command[]>(
  [],
  [
    { do: 'pay', cents: 10_000, then: 'confirmed' },
    { do: 'look', how: 'once' },
  ],
  [
    { do: 'provider', verb: 'hold' },
    { do: 'pay', cents: 10_000, then: 'confirmed' },
    { do: 'look', how: 'once' },
  ],
);

test(
  `${RUNS} random walks end as the model does, in a sound ledger`,
  async () => {
    const seed = chooseSeed();
    console.log(`payment walks: TEST_SEED=${seed}`);
    const passed: Record<string, number> = {};
    const rest = fc.array(command, { minLength: 2, maxLength: 16, size: 'max' });
    const walk = fc.tuple(beginning, rest).map((both) => both.flat());
    await fc.assert(
      fc.asyncProperty(walk, async (commands) => {
        const { statuses } = await play(commands);
        for (const status of statuses) passed[status] = (passed[status] ?? 0) + 1;
      }),
      { numRuns: RUNS, seed },
    );
    // What a walk breaks stays broken, and the rows name its payment.
    expect(await brokenInvariants(world)).toEqual([]);
    console.log(`they passed ${JSON.stringify(passed)}`);
    // Most walks would go nowhere if what they are made of were ill-chosen.
    expect(Object.keys(passed)).toEqual(expect.arrayContaining(['completed', 'refunded']));
  },
  scaled(180_000, 1_800_000),
);

interface Walk {
  id: string;
  accountId: string;
  model: PaymentModel;
}

async function play(commands: Command[]): Promise<PaymentModel> {
  const walk = await begin();
  for (const one of commands) {
    await run(walk, one);
    await expectAgreement(walk);
  }
  await run(walk, { do: 'look', how: 'once' });
  await expectAgreement(walk);
  return walk.model;
}

async function begin(): Promise<Walk> {
  const { id, accountId, expiresAt } = await openPayment(world);
  const model = new PaymentModel();
  model.expiresAt = expiresAt.getTime();
  return { id, accountId, model };
}

async function run(walk: Walk, one: Command): Promise<void> {
  const { id, accountId, model } = walk;
  const key = { accountId, mode: 'test', currency: 'USDT' } as const;
  switch (one.do) {
    case 'pay': {
      const at = one.then === 'confirmed' ? { at: new Date().toISOString() } : { then: 'stay' };
      return tryAtProvider(id, 'pay', { amount: textOf(one.cents), ...at });
    }
    case 'provider':
      return tryAtProvider(id, one.verb);
    case 'provider_refund':
      return tryAtProvider(id, 'refund', one.cents === null ? {} : { amount: textOf(one.cents) });
    case 'decide':
      return decide(walk, one);
    case 'look':
      return lookAtIt(walk, one.how);
    case 'close_window': {
      const days = one.daysAgo * 24 * 3_600_000;
      // The gateway's time is behind PostgreSQL's by some milliseconds.
      const expiresAt = Math.min(model.expiresAt, Date.now() - days - 1_000);
      model.expiresAt = expiresAt;
      await world.db.query('UPDATE payments SET expires_at = ? WHERE id = ?', [
        new Date(expiresAt),
        id,
      ]);
      return;
    }
    case 'fund':
      await fund(world.db, key, '50');
      model.available += 5_000 * 100;
      return;
    case 'spend_all': {
      if (model.available === 0) return;
      await fund(world.db, key, (model.available / 10_000).toFixed(4), 'out');
      model.available = 0;
    }
  }
}

/** What is not possible there now is refused, and changes nothing. */
async function tryAtProvider(
  id: string,
  verb: string,
  members?: Record<string, unknown>,
): Promise<void> {
  expect([200, 409]).toContain(await atProvider(world, id, verb, members));
}

async function decide(
  { id, model }: Walk,
  { kind, cents: part, twice }: Command & { do: 'decide' },
): Promise<void> {
  const reference = newId('request');
  const value = kind === 'refund' && part !== null ? textOf(part) : null;
  const decision = { id: reference, kind, by: 'alice', reason: 'a walk', amount: value };
  const { refusal } = await decidePayment(world, id, decision);
  const counts = model.decide(id, kind, kind === 'refund' ? part : null);
  expect({ kind, refusal }).toEqual({ kind, refusal: counts ? null : expect.any(String) });
  if (twice) expect(await decidePayment(world, id, decision)).toEqual({ refusal });
}

async function lookAtIt({ id, model }: Walk, how: Look): Promise<void> {
  if (how === 'no_answer' || how === 'answers_lost') {
    const fault = how === 'no_answer' ? lost : answerLost;
    const { answered } = await checkPayment(withFaults(world, { tell: fault, read: fault }), id);
    expect(answered).toBe(false);
    model.ask();
    return;
  }
  let answer: Answer = 'unknown';
  const listen =
    (wrap: Wrap = (call) => call()): Wrap =>
    async (call) => {
      const told = await wrap(call);
      const { kind } = told as { kind: Answer };
      if (kind !== 'unknown') answer = kind;
      return told;
    };
  const clean = withFaults(world, { tell: listen() });
  if (how === 'twice_at_once') {
    await Promise.all([checkPayment(clean, id), checkPayment(clean, id)]);
  } else if (how === 'call_lost' || how === 'call_answer_lost') {
    const tell = how === 'call_lost' ? lost : answerLost;
    await checkPayment(withFaults(world, { tell }), id);
  } else {
    if (how !== 'once') await checkPayment(crashing(how, listen), id).catch(expectCrash);
    // What has crashed is run again.
    await checkPayment(clean, id);
  }
  model.look(await readFacts(id), Date.now(), answer);
}

async function readFacts(id: string): Promise<ModelFacts> {
  const found = await world.providers.get('onchain_provider', 'test').findCheckout(id);
  if (found.kind !== 'found') throw new Error(JSON.stringify(found));
  const { state, onHold, transfers, refunds } = found.checkout;
  return {
    state,
    onHold,
    transfers: transfers.map((one) => ({
      id: one.id,
      cents: centsOf(one.amount),
      status: one.status,
      at: one.confirmedAt?.getTime() ?? 0,
    })),
    refunds: refunds.map((one) => ({ ...one, cents: centsOf(one.amount) })),
  };
}

async function expectAgreement({ id, accountId, model }: Walk): Promise<void> {
  const payment = await findPayment(world.db, id);
  const [balance] = await listBalances(world.db, accountId, 'test');
  const events = await world.db.query<{ type: string; sequence: number }>(
    'SELECT type, sequence FROM events WHERE object_id = ? ORDER BY sequence',
    [id],
  );
  const shown = payment === null ? null : presentPayment(payment);
  expect({
    status: shown?.status,
    available: balance?.available ?? ZERO,
    net: shown?.net_amount ?? ZERO,
    refunded: shown?.refunded_amount,
    events,
  }).toEqual({
    status: model.status,
    available: amount((model.available / 10_000).toFixed(4)),
    net: amount((model.net / 10_000).toFixed(4)),
    refunded: amount((model.refunded / 100).toFixed(2)),
    events: model.statuses.map((status, index) => ({
      type: `payment.${status}`,
      sequence: index + 1,
    })),
  });
}

const CRASH = 'a crash on purpose';

function expectCrash(error: Error): void {
  expect(error.message).toBe(CRASH);
}

function crashing({ at, number }: Crash, listen: (wrap: Wrap) => Wrap): Deps {
  let calls = 0;
  const failing: Wrap = async (call) => {
    calls += 1;
    if (calls !== number) return call();
    if (at !== 'before_call') await call();
    throw new Error(CRASH);
  };
  const faults: Faults =
    at === 'after_commit'
      ? { commit: failing, tell: listen((call) => call()) }
      : { tell: listen(failing), read: failing };
  return withFaults(world, faults);
}

function textOf(value: number): string {
  return (value / 100).toFixed(2);
}

function centsOf(text: string): number {
  return Math.round(Number(text) * 100);
}
