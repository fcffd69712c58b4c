/**
 * What is known of a payment is not always all of it: a call to the provider is without an answer
 * while its reads work, a credited transfer vanishes, a rejected hold comes back in part. Played
 * through the activities over a real database and the sandbox.
 */
import { checkPayment } from '../../../activities/payment/check';
import { decidePayment } from '../../../activities/payment/decide';
import { recordCheckout } from '../../../activities/payment/record';
import { collectOwed } from '../../../activities/payment/refunds';
import { reportPayment } from '../../../activities/payment/report';
import { listCases } from '../../../src/db/cases/cases';
import { listBalances } from '../../../src/db/ledger/ledger';
import { endDecision, findLastDecision } from '../../../src/db/payments/payment-decisions';
import { listRefunds } from '../../../src/db/payments/payment-refunds';
import { findPayment } from '../../../src/db/payments/payments';
import { newId } from '../../../src/platform/lib/new-id';
import { createAdjustment } from '../../../src/features/books/adjustments';
import { amount, subtract } from '../../../src/domain/money';
import type { PaymentDecisionKind } from '../../../src/domain/payment';
import { netAmount } from '../../../src/domain/payment-pricing';
import type { Checkout } from '../../../src/adapters/providers/port';
import { resolveCase } from '../../../src/features/cases/cases';
import { AdminRefusal } from '../../../src/kit/service/refusal';
import type { PaymentDecision } from '../../../workflows/messages';
import { brokenInvariants } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/ledger';
import { whenWaiting } from '../lock-waits';
import {
  answerLost,
  atProvider,
  type Faults,
  lost,
  openPayment,
  type OpenedPayment,
  startPaymentWorld,
  withFaults,
  type Wrap,
} from '../payment-world';
import { started } from '../../support/started';

const world = started(startPaymentWorld);

let payment: OpenedPayment;

beforeEach(async () => {
  payment = await openPayment(world);
});

afterEach(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});

const NO_ANSWER_TO_CALLS = { tell: lost };

describe('a refund of the provider while one of an operator is open', () => {
  beforeEach(async () => {
    await pay('100');
    await look();
    expect(await figures()).toMatchObject({ status: 'completed', available: '99.00000000' });
  });

  test('is taken once the ordered one is refused', async () => {
    await provider('refund', { amount: '60' });
    await decide('refund');
    await look(NO_ANSWER_TO_CALLS);
    expect(await figures()).toMatchObject({ refunded: '0.00000000', available: '0.00000000' });
    expect((await findLastDecision(world.db, payment.id))?.state).toBe('pending');
    await look();
    expect((await findLastDecision(world.db, payment.id))?.state).toBe('refused');
    await expectPartRefunded();
  });

  test('is taken when facts from before the order are recorded after it', async () => {
    await provider('refund', { amount: '60' });
    const early = await readCheckout();
    await decide('refund');
    await recordCheckout(world, payment.id, early, new Date());
    await look();
    await expectPartRefunded();
  });

  test('is taken once the provider made another sum of the ordered one', async () => {
    await provider('refund', { amount: '60' });
    await decide('refund');
    const [order] = await listRefunds(world.db, payment.id);
    await provider('refund', { amount: '15', refund_reference: order?.reference });
    await look(NO_ANSWER_TO_CALLS);
    expect(await figures()).toEqual({
      status: 'completed',
      refunded: '75.00000000',
      net: '24.75000000',
      available: '24.75000000',
      exceptions: [],
    });
  });

  test('is taken beside the ordered one where both fit', async () => {
    await decide('refund', '40');
    await provider('refund', { amount: '60' });
    await look(NO_ANSWER_TO_CALLS);
    expect(await figures()).toMatchObject({ refunded: '60.00000000', available: '0.00000000' });
    await look();
    expect(await figures()).toMatchObject({ status: 'refunded', refunded: '100.00000000' });
  });

  test('is taken after the ordered one was made', async () => {
    await pay('60');
    await decide('refund', '100');
    await look({ tell: answerLost, read: lost });
    await provider('refund', { amount: '60' });
    // The order is matched first, wherever it stands in the list.
    const { refunds, ...rest } = await readCheckout();
    const turned = { ...rest, refunds: refunds.toReversed() };
    await recordCheckout(world, payment.id, turned, new Date());
    expect(await figures()).toEqual({
      status: 'refunded',
      refunded: '160.00000000',
      net: '0.00000000',
      available: '0.00000000',
      exceptions: [EXCEEDS_CREDIT],
    });
  });

  test('is left out of what an operator can refund while it is owed', async () => {
    await move('99', 'out');
    await provider('refund', { amount: '60' });
    await look();
    expect(await figures()).toMatchObject({ net: '99.00000000', exceptions: [NOT_COVERED] });
    await move('99', 'in');
    await decide('refund');
    expect(await findLastDecision(world.db, payment.id)).toMatchObject({ amount: '40.00000000' });
    await look();
    expect(await figures()).toEqual({
      status: 'refunded',
      refunded: '100.00000000',
      net: '0.00000000',
      available: '0.00000000',
      exceptions: [],
    });
  });

  test('is owed when it comes with a credit that does not cover it', async () => {
    await move('99', 'out');
    await pay('5');
    await provider('refund', { amount: '60' });
    await look();
    expect(await figures()).toMatchObject({ available: '4.95000000', exceptions: [NOT_COVERED] });
    await move('99', 'in');
    await look();
    expect(await figures()).toMatchObject({ available: '44.55000000', exceptions: [] });
  });

  test('is collected or waived, and not both, when its case is resolved meanwhile', async () => {
    await move('99', 'out');
    await provider('refund', { amount: '60' });
    await look();
    await move('99', 'in');
    const found = await listCases(world.db, false, 1_000);
    const { id: caseId } = found.find(({ objectId }) => objectId === payment.id)!;
    const by = { actor: 'alice', reason: null };
    const held = await world.db.transaction(async (tx) => {
      const sql = 'SELECT FROM payment_refunds WHERE payment_id = ? FOR UPDATE';
      await tx.query(sql, [payment.id]);
      const collecting = look();
      await whenWaiting(world.db, 1);
      const resolving = resolveCase
        .make(world.db, by, { id: caseId, seen: 1 }, { resolution: 'paid by invoice' })
        .then(
          () => 'resolved',
          (error: unknown) => (error instanceof AdminRefusal ? error.refusal.code : error),
        );
      await Promise.race([resolving, whenWaiting(world.db, 2)]);
      return { collecting, resolving };
    });
    await held.collecting;
    expect(await held.resolving).toBe('case_already_resolved');
    await expectPartRefunded();
  });

  test('is collected only of what no ordered one reserves', async () => {
    await decide('refund', '40');
    await look(NO_ANSWER_TO_CALLS);
    await move('59.4', 'out');
    for (const part of ['60', '30']) {
      await provider('refund', { amount: part });
      await look(NO_ANSWER_TO_CALLS);
    }
    await move('59.4', 'in');
    await collectOwed(world.db, payment.id);
    // The order has reserved the 40 of which the second one would be taken.
    const states = (await listRefunds(world.db, payment.id)).map(({ amount, state }) => [
      amount,
      state,
    ]);
    expect(states).toEqual([
      ['40.00000000', 'ordered'],
      ['60.00000000', 'done'],
      ['30.00000000', 'owed'],
    ]);
    expect(await figures()).toMatchObject({ available: '0.00000000', exceptions: [NOT_COVERED] });
    // The provider refuses the order, whose 40 pay for the second one.
    await look();
    await collectOwed(world.db, payment.id);
    expect(await figures()).toEqual({
      status: 'completed',
      refunded: '90.00000000',
      net: '9.90000000',
      available: '9.90000000',
      exceptions: [],
    });
  });

  test('keeps its case open while another one is owed', async () => {
    await move('99', 'out');
    for (const part of ['60', '30']) {
      await provider('refund', { amount: part });
      await look();
    }
    await move('59.4', 'in');
    expect(await collectOwed(world.db, payment.id)).toBe(true);
    expect(await figures()).toMatchObject({
      net: '39.60000000',
      available: '0.00000000',
      exceptions: [NOT_COVERED],
    });
    await move('29.7', 'in');
    expect(await collectOwed(world.db, payment.id)).toBe(false);
    expect(await figures()).toMatchObject({ net: '9.90000000', exceptions: [] });
  });

  async function expectPartRefunded(): Promise<void> {
    expect(await figures()).toEqual({
      status: 'completed',
      refunded: '60.00000000',
      net: '39.60000000',
      available: '39.60000000',
      exceptions: [],
    });
  }
});

describe('a refund that is more than was credited', () => {
  const shownOf = async () => {
    const found = await listCases(world.db, true, 1_000);
    return found
      .filter(({ objectId, kind }) => objectId === payment.id && kind === EXCEEDS_CREDIT)
      .flatMap(({ facts }) => facts);
  };

  /** What a card scheme or an exchange takes back; the sandbox returns no more than it received. */
  const chargeBack = async (id: string, value: string) => {
    const { refunds, ...rest } = await readCheckout();
    const taken = { id, reference: id, amount: amount(value), refundedAt: new Date() };
    await recordCheckout(world, payment.id, { ...rest, refunds: [...refunds, taken] }, new Date());
  };

  beforeEach(async () => {
    await pay('100');
    await look();
  });

  test('is a case, and an operator can debit it: a chargeback after a refund', async () => {
    await decide('refund');
    await look();
    await move('500', 'in');
    await chargeBack('cb_1', '100');
    await look();
    await look();
    expect(await figures()).toMatchObject({
      ...{ status: 'refunded', refunded: '200.00000000' },
      ...{ available: '500.00000000', exceptions: [EXCEEDS_CREDIT] },
    });
    const [fact] = await shownOf();
    expect(fact).toMatchObject({ amount: '100.00000000', not_covered: '100.00000000' });
    const { accountId } = payment;
    const by = { actor: 'alice', via: 'admin', reason: `chargeback of ${payment.id}` } as const;
    const debit = { direction: 'out', amount: '100', mode: 'test', currency: 'USDT' } as const;
    await createAdjustment(world.db, by, { id: newId('adjustment'), accountId, ...debit });
    expect(await figures()).toMatchObject({ available: '400.00000000' });
  });

  test('is a case for the part that the credits do not cover', async () => {
    await decide('refund', '70');
    await look();
    await chargeBack('cb_2', '100');
    await look();
    expect(await figures()).toMatchObject({ refunded: '170.00000000', available: '0.00000000' });
    expect(await shownOf()).toMatchObject([{ not_covered: '70.00000000' }]);
  });

  test('is a case when it was owed first, and the credits were used up meanwhile', async () => {
    await move('99', 'out');
    await chargeBack('cb_3', '100');
    await look();
    await chargeBack('cb_4', '100');
    await look();
    expect(await figures()).toMatchObject({ exceptions: [NOT_COVERED] });
    await move('500', 'in');
    await look();
    expect(await figures()).toMatchObject({
      ...{ refunded: '200.00000000', available: '401.00000000', exceptions: [EXCEEDS_CREDIT] },
    });
    expect(await shownOf()).toHaveLength(1);
  });

  test('without a case is found by the ledger check', async () => {
    await decide('refund');
    await look();
    await chargeBack('cb_5', '100');
    await look();
    const move = 'UPDATE cases SET object_id = ? WHERE object_id = ?';
    await world.db.query(move, ['elsewhere', payment.id]);
    const [broken] = await brokenInvariants(world);
    expect(broken).toContain('what went back was taken, or a case shows it');
    await world.db.query(move, [payment.id, 'elsewhere']);
  });
});

describe('a credited transfer that the provider takes back', () => {
  test('and another in its place are credited once, and an operator hears of it', async () => {
    await pay('100');
    await look();
    await provider('reorg');
    await pay('100');
    await look();
    await look();
    expect(await figures()).toMatchObject({
      status: 'completed',
      available: '99.00000000',
      exceptions: [NOT_CREDITED],
    });
  });

  test('counts again when it returns: what came meanwhile was more', async () => {
    await pay('100');
    await look();
    const { transfers, ...rest } = await readCheckout();
    await pay('5');
    const both = await readCheckout();
    const gone = transfers.map(
      (one) => ({ ...one, status: 'dropped', confirmedAt: null }) as const,
    );
    const second = both.transfers.filter(({ id }) => !transfers.some((one) => one.id === id));
    const doubtful = { ...rest, transfers: [...gone, ...second] };
    await recordCheckout(world, payment.id, doubtful, new Date());
    expect(await figures()).toMatchObject({ available: '99.00000000' });
    await look();
    expect(await figures()).toMatchObject({ available: '103.95000000', exceptions: [] });
  });

  test('before its end counts for nothing', async () => {
    await pay('40');
    await look();
    await provider('reorg');
    await pay('100');
    await look();
    expect(await figures()).toMatchObject({
      status: 'completed',
      available: '99.00000000',
      exceptions: [],
    });
  });
});

describe('a rejected hold', () => {
  beforeEach(async () => {
    await provider('hold');
    await pay('100');
    await look();
    expect((await figures()).status).toBe('on_hold');
  });

  test('ends as refunded when more came before its answer', async () => {
    await decide('reject');
    await look({ tell: answerLost, read: lost });
    await pay('0.01');
    await look();
    expect(await figures()).toEqual({
      status: 'refunded',
      refunded: '100.00000000',
      net: '0.00000000',
      available: '0.00000000',
      exceptions: [NOT_CREDITED],
    });
    expect((await findLastDecision(world.db, payment.id))?.state).toBe('accepted');
  });

  test('ends as refunded when less goes back, and follows what comes after', async () => {
    await decide('reject');
    await look({ tell: answerLost, read: lost });
    const facts = await readCheckout();
    const refund = facts.refunds[0];
    if (refund === undefined) throw new Error('nothing went back');
    const record = (values: readonly string[]) =>
      recordCheckout(
        world,
        payment.id,
        {
          ...facts,
          refunds: values.map((value, index) => {
            return { ...refund, id: `${refund.id}${index}`, amount: value as typeof refund.amount };
          }),
        },
        new Date(),
      );
    await record(['60.00000000']);
    // Until the provider has accepted the decision, that may be a refund of its own.
    expect(await figures()).toMatchObject({ status: 'on_hold', available: '0.00000000' });
    await accept();
    await record(['60.00000000']);
    expect(await figures()).toMatchObject({ status: 'refunded', refunded: '60.00000000' });
    await record(['60.00000000', '39.50000000']);
    await record(['60.00000000']);
    expect(await figures()).toMatchObject({ refunded: '99.50000000', available: '0.00000000' });
  });

  test('is not credited while nothing went back, and an operator hears of it', async () => {
    const held = await readCheckout();
    await decide('reject');
    const gone = { ...held, onHold: false };
    await recordCheckout(world, payment.id, gone, new Date());
    // A pending decision says enough.
    expect(await figures()).toMatchObject({ status: 'on_hold', exceptions: [] });
    await accept();
    await recordCheckout(world, payment.id, gone, new Date());
    expect(await figures()).toMatchObject({ status: 'on_hold', exceptions: [NOT_SENT_BACK] });
    const stored = await findPayment(world.db, payment.id);
    const told = { askedAt: new Date(), isHeld: false };
    expect(await reportPayment(world.db, stored!, 'Waiting for the customer.', told)).toMatchObject(
      {
        needsAttention: true,
        wait: { why: 'Waiting for the provider to return the rejected funds.' },
      },
    );
    // A release that the provider has not accepted does not undo it.
    await decide('release');
    await recordCheckout(world, payment.id, gone, new Date());
    expect(await figures()).toMatchObject({ status: 'on_hold', available: '0.00000000' });
    await provider('reject');
    await look();
    expect(await figures()).toMatchObject({ status: 'refunded', exceptions: [] });
  });

  test('is credited when the provider refuses the rejection: it had released it', async () => {
    await provider('release');
    await decide('reject');
    await look(NO_ANSWER_TO_CALLS);
    expect((await figures()).status).toBe('on_hold');
    await look();
    expect(await figures()).toMatchObject({ status: 'completed', available: '99.00000000' });
  });

  test('of the provider counts for what is left of it, and never more is available', async () => {
    await provider('reject');
    await pay('0.01');
    await look();
    expect(await figures()).toMatchObject({ status: 'on_hold', available: '0.00000000' });
    await pay('100');
    const available = new Set<string>();
    await look({ commit: afterCommit(async () => available.add((await figures()).available)) });
    expect(await figures()).toMatchObject({
      status: 'completed',
      refunded: '100.00000000',
      available: '99.00990000',
    });
    expect([...available]).toEqual(['99.00990000']);
  });
});

describe('a refund that was decided', () => {
  const sentAgo = (ms: number) => ({
    ...{ id: `sent-${ms}-ms-ago`, kind: 'refund', by: 'alice', reason: 'a doubt' },
    ...{ amount: null, sentAt: new Date(Date.now() - ms).toISOString() },
  });

  beforeEach(async () => {
    await pay('100');
    await look();
  });

  test('six minutes ago arrives too late: no money moves, and its outcome is recorded', async () => {
    const late = sentAgo(6 * 60_000) as PaymentDecision;
    const refusal = expect.stringContaining('it arrived more than 5 minutes after it was sent');
    expect(await decidePayment(world, payment.id, late)).toEqual({ refusal });
    expect(await decidePayment(world, payment.id, late)).toEqual({ refusal });
    await look();
    expect(await figures()).toMatchObject({ status: 'completed', available: '99.00000000' });
    expect(await findLastDecision(world.db, payment.id)).toMatchObject({ state: 'refused' });
  });

  test('four minutes ago has its effect', async () => {
    const decision = sentAgo(4 * 60_000) as PaymentDecision;
    expect(await decidePayment(world, payment.id, decision)).toEqual({ refusal: null });
    await look();
    expect(await figures()).toMatchObject({ status: 'refunded', available: '0.00000000' });
  });
});

const NOT_COVERED = 'refund_not_covered';
const EXCEEDS_CREDIT = 'refund_exceeds_credit';
const NOT_CREDITED = 'money_not_credited';
const NOT_SENT_BACK = 'rejected_not_sent_back';

test.each([
  { what: 'another amount', column: 'amount', value: '90' },
  { what: 'another currency', column: 'currency', value: 'USDC' },
])('a checkout of $what credits nothing and opens one case', async ({ column, value }) => {
  await world.db.query(`UPDATE payments SET ${column} = ? WHERE id = ?`, [value, payment.id]);
  await pay('100');
  await look();
  await look();
  expect(await figures()).toMatchObject({
    ...{ status: 'created', available: '0.00000000' },
    exceptions: ['checkout_mismatch'],
  });
});

async function provider(verb: string, members: Record<string, unknown> = {}): Promise<void> {
  expect({ verb, status: await atProvider(world, payment.id, verb, members) }).toEqual({
    verb,
    status: 200,
  });
}

function pay(value: string): Promise<void> {
  return provider('pay', { amount: value, at: new Date().toISOString() });
}

async function look(faults: Faults = {}): Promise<void> {
  await checkPayment(withFaults(world, faults), payment.id);
}

async function decide(kind: PaymentDecisionKind, value: string | null = null): Promise<void> {
  const decision = { id: `${kind}-${value}`, kind, by: 'alice', reason: 'a doubt', amount: value };
  expect(await decidePayment(world, payment.id, decision)).toEqual({ refusal: null });
}

/** Does what the provider's answer would do, without its facts. */
async function accept(): Promise<void> {
  const decision = await findLastDecision(world.db, payment.id);
  if (decision === null) throw new Error('nothing was decided');
  await endDecision(world.db, payment.id, decision.id, null);
}

async function move(value: string, direction: 'in' | 'out'): Promise<void> {
  const balance = { accountId: payment.accountId, mode: 'test', currency: 'USDT' } as const;
  await fund(world.db, balance, value, direction);
}

async function readCheckout(): Promise<Checkout> {
  const found = await world.providers.get('exchange_pay', 'test').findCheckout(payment.id);
  if (found.kind !== 'found') throw new Error(JSON.stringify(found));
  return found.checkout;
}

/** A fault that only looks: at what each transaction left behind. */
function afterCommit(see: () => Promise<unknown>): Wrap {
  return async (call) => {
    const result = await call();
    await see();
    return result;
  };
}

async function figures() {
  const stored = await findPayment(world.db, payment.id);
  if (stored === null) throw new Error('it is gone');
  const [held] = await listBalances(world.db, payment.accountId, 'test');
  const open = await listCases(world.db, false, 1_000);
  return {
    status: stored.status,
    refunded: stored.refundedAmount,
    net: netAmount(stored),
    available: held?.available ?? subtract(stored.amount, stored.amount),
    exceptions: open.filter(({ objectId }) => objectId === payment.id).map(({ kind }) => kind),
  };
}
