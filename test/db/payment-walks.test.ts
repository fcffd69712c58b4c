/**
 * Random walks of payments: what providers, operators, time and crashes can do, in any order, told
 * to the activities over a real database and the sandbox over HTTP, and to a small model. After
 * each walk both agree and every invariant of the ledger holds. TEST_SEED repeats a run.
 */
import fc from 'fast-check';
import { checkPayment } from '../../activities/payment/check';
import { decidePayment } from '../../activities/payment/decide';
import type { PayoutDeps } from '../../activities/payout/deps';
import { connect } from '../../src/db/connect';
import { listBalances } from '../../src/db/repositories/ledger';
import { findPayment } from '../../src/db/repositories/payments';
import { type Db, rows } from '../../src/db/transaction';
import { amount, ZERO } from '../../src/domain/money';
import type { PaymentDecisionKind } from '../../src/domain/payment';
import { newId } from '../../src/lib/new-id';
import { presentPayment } from '../../src/presenters/payment';
import type { Provider } from '../../src/providers/port';
import { startSandbox, type Sandbox } from '../../src/sandbox/server';
import { connectProviders, control, makeCredentials } from '../e2e/sandbox-harness';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { brokenInvariants } from '../support/gateway';
import { fund } from '../support/ledger';
import { type ModelFacts, PaymentModel } from '../support/payment-model';
import { scaled } from '../support/scale';
import { chooseSeed } from '../support/seeded-random';

const RUNS = scaled(200, 2_000);

let database: TestDatabase;
let db: Db;
let sandbox: Sandbox;
let providers: ReturnType<typeof connectProviders>;

beforeAll(async () => {
  const credentials = makeCredentials();
  database = await createTestDatabase();
  // With the owner's rights: it moves the end of the window, too.
  db = connect({ url: database.ownerUrl, size: 6, applicationName: 'test' });
  sandbox = await startSandbox({ settleMs: 3_600_000, credentials });
  providers = connectProviders(sandbox, credentials);
});

afterAll(async () => {
  await providers.close();
  await sandbox.stop();
  await db.destroy();
  await database.drop();
});

type Crash = { at: 'before_call' | 'after_call' | 'after_commit'; number: number };

type Command =
  | { do: 'pay'; cents: number; then: 'confirmed' | 'seen' }
  | { do: 'provider'; verb: string }
  | { do: 'provider_refund'; cents: number | null }
  | { do: 'decide'; kind: PaymentDecisionKind; cents: number | null; twice: boolean }
  | { do: 'look'; how: 'once' | 'twice_at_once' | 'no_answer' | Crash }
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
    fc.constantFrom('once' as const, 'twice_at_once' as const, 'no_answer' as const),
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
        ...['start', 'confirm', 'drop', 'hold', 'hold', 'release', 'reject', 'cancel', 'fail'],
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

test(
  `${RUNS} random walks end as the model does, in a sound ledger`,
  async () => {
    const seed = chooseSeed();
    console.log(`payment walks: TEST_SEED=${seed}`);
    const passed: Record<string, number> = {};
    const walk = fc.array(command, { minLength: 2, maxLength: 16, size: 'max' });
    await fc.assert(
      fc.asyncProperty(walk, async (commands) => {
        const { statuses } = await play(commands);
        for (const status of statuses) passed[status] = (passed[status] ?? 0) + 1;
        expect(await brokenInvariants({ db })).toEqual([]);
      }),
      { numRuns: RUNS, seed },
    );
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
  const id = newId('payment');
  const accountId = newId('account');
  const expiresAt = new Date(Date.now() + 3_600_000);
  await rows(db, 'INSERT INTO accounts (id, name) VALUES (?, ?)', [accountId, accountId]);
  const opened = await providers.get('onchain_provider', 'test').openCheckout({
    reference: id,
    amount: amount('100'),
    currency: 'USDT',
    network: 'tron',
    expiresAt,
    successUrl: null,
    cancelUrl: null,
    description: null,
    scenario: null,
  });
  if (opened.kind !== 'found') throw new Error(JSON.stringify(opened));
  await db('payments').insert({
    id,
    account_id: accountId,
    mode: 'test',
    reference: id,
    status: 'created',
    provider: 'onchain_provider',
    amount: '100',
    currency: 'USDT',
    network: 'tron',
    fee_terms: { percentage: '1.0000', fixedAmount: ZERO, minFee: null, maxFee: null },
    checkout_url: opened.checkout.checkoutUrl,
    api_key_id: 'key_walks',
    provider_checkout_id: opened.checkout.providerId,
    expires_at: expiresAt,
  });
  await rows(
    db,
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body)
     VALUES (?, ?, 'test', 'payment.created', ?, 1, ?)`,
    [newId('event'), accountId, id, Buffer.from('{"data":{"status":"created"}}')],
  );
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
      return atProvider(id, 'pay', { amount: textOf(one.cents), ...at });
    }
    case 'provider':
      return atProvider(id, one.verb);
    case 'provider_refund':
      return atProvider(id, 'refund', one.cents === null ? {} : { amount: textOf(one.cents) });
    case 'decide':
      return decide(walk, one);
    case 'look':
      return lookAtIt(walk, one.how);
    case 'close_window': {
      const days = one.daysAgo * 24 * 3_600_000;
      const expiresAt = Math.min(model.expiresAt, Date.now() - days - 1);
      model.expiresAt = expiresAt;
      await rows(db, 'UPDATE payments SET expires_at = ? WHERE id = ?', [new Date(expiresAt), id]);
      return;
    }
    case 'fund':
      await fund(db, key, '50');
      model.available += 5_000 * 100;
      return;
    case 'spend_all': {
      if (model.available === 0) return;
      await fund(db, key, (model.available / 10_000).toFixed(4), 'out');
      model.available = 0;
    }
  }
}

/** What is not possible there now is refused, and changes nothing. */
async function atProvider(
  id: string,
  verb: string,
  members: Record<string, unknown> = {},
): Promise<void> {
  const key = { provider: 'onchain_provider', mode: 'test', client_reference: id };
  const status = await control(sandbox.url, `checkouts/${verb}`, { ...key, ...members });
  expect([200, 409]).toContain(status);
}

async function decide(
  { id, model }: Walk,
  { kind, cents: part, twice }: Command & { do: 'decide' },
): Promise<void> {
  const reference = newId('request');
  const value = kind === 'refund' && part !== null ? textOf(part) : null;
  const decision = { id: reference, kind, by: 'alice', reason: 'a walk', amount: value };
  const { refusal } = await decidePayment({ db, providers }, id, decision);
  const counts = model.decide(id, kind, kind === 'refund' ? part : null);
  expect({ kind, refusal }).toEqual({ kind, refusal: counts ? null : expect.any(String) });
  if (twice) expect(await decidePayment({ db, providers }, id, decision)).toEqual({ refusal });
}

async function lookAtIt(walk: Walk, how: (Command & { do: 'look' })['how']): Promise<void> {
  const { id, model } = walk;
  if (how === 'no_answer') {
    const { answered } = await checkPayment(withProvider(silent), id);
    expect(answered).toBe(false);
    return;
  }
  if (how === 'twice_at_once') {
    await Promise.all([checkPayment({ db, providers }, id), checkPayment({ db, providers }, id)]);
  } else {
    if (how !== 'once') await checkPayment(crashing(how), id).catch(expectCrash);
    // What has crashed is run again.
    await checkPayment({ db, providers }, id);
  }
  model.look(await readFacts(id), Date.now());
}

async function readFacts(id: string): Promise<ModelFacts> {
  const found = await providers.get('onchain_provider', 'test').findCheckout(id);
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
  const payment = await findPayment(db, id);
  const [balance] = await listBalances(db, accountId, 'test');
  const events = await rows<{ type: string; sequence: number }>(
    db,
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

type Wrap = <T>(call: () => Promise<T>) => Promise<T>;

/** The provider whose calls go through `wrap`, and the database whose commits do. */
function withProvider(wrap: Wrap, wrapCommit: Wrap = (call) => call()): PayoutDeps {
  const real = providers.get('onchain_provider', 'test');
  const provider: Provider = {
    ...real,
    findCheckout: (...args) => wrap(() => real.findCheckout(...args)),
    cancelCheckout: (...args) => wrap(() => real.cancelCheckout(...args)),
    releaseHold: (...args) => wrap(() => real.releaseHold(...args)),
    refundCheckout: (...args) => wrap(() => real.refundCheckout(...args)),
  };
  const wrapped = new Proxy(db, {
    get: (target, name) =>
      name === 'transaction'
        ? (work: Parameters<Db['transaction']>[0]) => wrapCommit(() => target.transaction(work))
        : (Reflect.get(target, name) as unknown),
  });
  return { db: wrapped, providers: { ...providers, get: () => provider } };
}

const silent: Wrap = () => Promise.resolve({ kind: 'unknown', reason: 'No answer.' } as never);

function crashing({ at, number }: Crash): PayoutDeps {
  let calls = 0;
  const failing =
    (isBefore: boolean): Wrap =>
    async (call) => {
      calls += 1;
      if (calls !== number) return call();
      if (!isBefore) await call();
      throw new Error(CRASH);
    };
  return at === 'after_commit'
    ? withProvider((call) => call(), failing(false))
    : withProvider(failing(at === 'before_call'));
}

function textOf(value: number): string {
  return (value / 100).toFixed(2);
}

function centsOf(text: string): number {
  return Math.round(Number(text) * 100);
}
