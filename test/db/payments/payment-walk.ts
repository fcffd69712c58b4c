/**
 * A walk of a payment: what providers, operators, time and crashes do, told to the activities over a
 * real database and the sandbox over HTTP, and to a small model.
 */
import { checkPayment } from '../../../activities/payment/check';
import { decidePayment } from '../../../activities/payment/decide';
import type { Deps } from '../../../activities/deps';
import { listBalances } from '../../../src/db/ledger/ledger';
import { findPayment } from '../../../src/db/payments/payments';
import { amount, ZERO } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { presentPayment } from '../../../src/features/payments/payments-contract';
import { fund } from '../../support/merchant/ledger';
import type { Command, Crash, Look } from './payment-commands';
import { type Answer, type ModelFacts, PaymentModel } from './payment-model';
import {
  answerLost,
  atProvider,
  type Faults,
  lost,
  openPayment,
  type PaymentWorld,
  withFaults,
  type Wrap,
} from '../payment-world';

/** Lets the commands happen to a new payment; after each, the gateway and the model agree. */
export async function play(world: PaymentWorld, commands: Command[]): Promise<PaymentModel> {
  const walk = await begin(world);
  for (const one of commands) {
    await run(walk, one);
    await expectAgreement(walk);
  }
  await run(walk, { do: 'look', how: 'once' });
  await expectAgreement(walk);
  return walk.model;
}

interface Walk {
  world: PaymentWorld;
  id: string;
  accountId: string;
  model: PaymentModel;
}

async function begin(world: PaymentWorld): Promise<Walk> {
  const { id, accountId, expiresAt } = await openPayment(world);
  const model = new PaymentModel();
  model.expiresAt = expiresAt.getTime();
  return { world, id, accountId, model };
}

async function run(walk: Walk, one: Command): Promise<void> {
  const { world, id, accountId, model } = walk;
  const key = { accountId, mode: 'test', currency: 'USDT' } as const;
  switch (one.do) {
    case 'pay': {
      const at = one.then === 'confirmed' ? { at: new Date().toISOString() } : { then: 'stay' };
      return tryAtProvider(walk, 'pay', { amount: textOf(one.cents), ...at });
    }
    case 'provider':
      return tryAtProvider(walk, one.verb);
    case 'provider_refund':
      return tryAtProvider(walk, 'refund', one.cents === null ? {} : { amount: textOf(one.cents) });
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
  { world, id }: Walk,
  verb: string,
  members?: Record<string, unknown>,
): Promise<void> {
  expect([200, 409]).toContain(await atProvider(world, id, verb, members));
}

async function decide(
  { world, id, model }: Walk,
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

async function lookAtIt({ world, id, model }: Walk, how: Look): Promise<void> {
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
    if (how !== 'once') await checkPayment(crashing(world, how, listen), id).catch(expectCrash);
    // What has crashed is run again.
    await checkPayment(clean, id);
  }
  model.look(await readFacts(world, id), Date.now(), answer);
}

async function readFacts(world: PaymentWorld, id: string): Promise<ModelFacts> {
  const found = await world.providers.get('exchange_pay', 'test').findCheckout(id);
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

async function expectAgreement({ world, id, accountId, model }: Walk): Promise<void> {
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
    events: model.events.map((event, index) => ({
      type: `payment.${event}`,
      sequence: index + 1,
    })),
  });
}

const CRASH = 'a crash on purpose';

function expectCrash(error: Error): void {
  expect(error.message).toBe(CRASH);
}

function crashing(world: PaymentWorld, { at, number }: Crash, listen: (wrap: Wrap) => Wrap): Deps {
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
