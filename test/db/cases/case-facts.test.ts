/**
 * A case collects facts, and a decision covers the facts that its operator saw: none that came later
 * is waived or hidden. Played through the activities and the reconciliation over a real database and
 * the sandbox.
 */
import { checkPayment } from '../../../activities/payment/check';
import { reportPayment } from '../../../activities/payment/report';
import { noteDifferences } from '../../../activities/reconciliation/note-differences';
import { checkoutEntries } from '../../../activities/reconciliation/read-statements';
import { findCase, listCases, type Case } from '../../../src/db/cases/cases';
import { listRefunds } from '../../../src/db/payments/payment-refunds';
import { creditedTransfers, findPayment } from '../../../src/db/payments/payments';
import { storeEntries } from '../../../src/db/books/provider-statements';
import type { CaseKind } from '../../../src/domain/cases';
import { resolveCase } from '../../../src/features/cases/cases';
import { AdminRefusal } from '../../../src/kit/service/refusal';
import { isSound } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/ledger';
import { atProvider, openPayment, type OpenedPayment, startPaymentWorld } from '../payment-world';
import { scaled } from '../../support/scale';
import { chooseSeed, createDice } from '../../support/seeded-random';
import { started } from '../../support/started';

const NOT_COVERED = 'refund_not_covered';
const NOT_CREDITED = 'money_not_credited';
const SETTLED_MS = 2 * 3_600_000;

const world = started(startPaymentWorld, isSound);

async function provider(
  { id }: OpenedPayment,
  verb: string,
  members: Record<string, unknown>,
): Promise<void> {
  expect({ verb, status: await atProvider(world, id, verb, members) }).toMatchObject({
    status: 200,
  });
}

const pay = (payment: OpenedPayment, value: string) =>
  provider(payment, 'pay', { amount: value, at: new Date().toISOString() });

const takeBack = (payment: OpenedPayment, value: string) =>
  provider(payment, 'refund', { amount: value });

/** Does what its workflow does: the check, and the collection of what is owed. */
async function look({ id }: OpenedPayment): Promise<void> {
  await checkPayment(world, id);
  const stored = await findPayment(world.db, id);
  await reportPayment(world.db, stored!, 'Waiting for the customer.', { askedAt: new Date() });
}

/** A completed payment whose merchant has spent the money. */
async function spentPayment(): Promise<OpenedPayment> {
  const payment = await openPayment(world);
  await pay(payment, '100');
  await look(payment);
  await fund(world.db, { ...payment, mode: 'test', currency: 'USDT' }, '99', 'out');
  return payment;
}

async function openCaseOf({ id }: OpenedPayment, kind: CaseKind): Promise<Case | undefined> {
  const open = await listCases(world.db, false, 100_000);
  return open.find((one) => one.objectId === id && one.kind === kind);
}

/** @returns what became of the form of a page that showed `page` */
async function resolve(page: Case): Promise<string> {
  const by = { actor: 'alice', reason: null };
  const { id, facts } = page;
  return resolveCase.make(world.db, by, { id, seen: facts.length }, { resolution: 'agreed' }).then(
    () => 'resolved',
    (error: unknown) => {
      if (error instanceof AdminRefusal) return error.refusal.code;
      throw error;
    },
  );
}

/** The copy of the statement, as if everything had changed at the provider a while ago. */
async function reconcile({ id }: OpenedPayment): Promise<void> {
  const found = await world.providers.get('exchange_pay', 'test').findCheckout(id);
  if (found.kind !== 'found') throw new Error(JSON.stringify(found));
  const changedAt = new Date(Date.now() - SETTLED_MS);
  const entries = checkoutEntries(found.checkout, new Date()).map((entry) => {
    return { ...entry, changedAt };
  });
  const side = { provider: 'exchange_pay', mode: 'test' } as const;
  await storeEntries(world.db, side, new Date(), entries);
  await noteDifferences(world.db);
}

async function refundStates({ id }: OpenedPayment): Promise<Record<string, string>> {
  const refunds = await listRefunds(world.db, id);
  return Object.fromEntries(refunds.map(({ amount, state }) => [amount, state]));
}

const idsIn = (facts: readonly unknown[]) => facts.map((fact) => (fact as { id: string }).id);

test('a resolution waives the refunds on the page and no later one', async () => {
  const payment = await spentPayment();
  await takeBack(payment, '1');
  await look(payment);
  const page = await openCaseOf(payment, NOT_COVERED);
  expect(page?.facts).toEqual([expect.objectContaining({ amount: '1.00000000' })]);
  await takeBack(payment, '50');
  await look(payment);
  expect(await resolve(page!)).toBe('case_changed');
  expect((await findCase(world.db, page!.id))?.facts).toEqual([
    expect.objectContaining({ amount: '1.00000000' }),
    expect.objectContaining({ amount: '50.00000000' }),
  ]);
  const again = await openCaseOf(payment, NOT_COVERED);
  expect(await resolve(again!)).toBe('resolved');
  await takeBack(payment, '30');
  await look(payment);
  expect(await refundStates(payment)).toEqual({
    '1.00000000': 'waived',
    '50.00000000': 'waived',
    '30.00000000': 'owed',
  });
  expect((await openCaseOf(payment, NOT_COVERED))?.facts).toEqual([
    expect.objectContaining({ amount: '30.00000000' }),
  ]);
});

test('a resolution hides the money on the page and no later one', async () => {
  const payment = await spentPayment();
  await provider(payment, 'refund', { amount: '100' });
  await look(payment);
  await pay(payment, '10');
  await look(payment);
  const page = await openCaseOf(payment, NOT_CREDITED);
  expect(page?.details).toMatchObject({ transfers: [{ amount: '10.00000000' }] });
  await pay(payment, '5000');
  await look(payment);
  expect(await resolve(page!)).toBe('case_changed');
  const again = await openCaseOf(payment, NOT_CREDITED);
  expect(again?.facts).toHaveLength(2);
  expect(await resolve(again!)).toBe('resolved');
  await reconcile(payment);
  await look(payment);
  expect(await openCaseOf(payment, NOT_CREDITED)).toBeUndefined();
});

test('reconciliation notes money that no decision saw, although it is older than one', async () => {
  const payment = await spentPayment();
  await provider(payment, 'refund', { amount: '100' });
  await look(payment);
  await pay(payment, '10');
  await look(payment);
  const page = await openCaseOf(payment, NOT_CREDITED);
  await pay(payment, '5000');
  expect(await resolve(page!)).toBe('resolved');
  await reconcile(payment);
  expect((await openCaseOf(payment, NOT_CREDITED))?.details).toMatchObject({
    transfers: [{ amount: '5000.00000000' }],
  });
});

describe('facts at any moment', () => {
  const seed = chooseSeed();
  const { roll } = createDice(seed);
  const chance = (percent: number) => roll(100) < percent;

  /** A thousand payments take up to a second each on a busy machine. */
  const PLAY_MS = scaled(120_000, 1_500_000);

  /** What the person saw, by the decisions that were recorded. */
  async function play(payment: OpenedPayment): Promise<Set<string>> {
    const seen = new Set<string>();
    const isDebt = chance(50);
    const kind = isDebt ? NOT_COVERED : NOT_CREDITED;
    if (!isDebt) await takeBack(payment, '100');
    const arrive = async () => {
      const value = `${1 + roll(8)}.${10 + roll(90)}`;
      await (isDebt ? takeBack(payment, value) : pay(payment, value));
    };
    let page: Case | undefined;
    for (let step = 0; step < 12; step += 1) {
      if (chance(35)) await arrive();
      if (chance(45)) await look(payment);
      if (chance(20)) await reconcile(payment);
      if (page === undefined && chance(60)) page = await openCaseOf(payment, kind);
      if (page === undefined || chance(50)) continue;
      // The click, and a check that runs at the same moment.
      const [answer] = await Promise.all([resolve(page), chance(50) ? look(payment) : null]);
      if (answer === 'resolved') {
        for (const fact of page.facts)
          seen.add((fact as Record<string, string>)[isDebt ? 'refund' : 'id'] ?? '');
      }
      page = undefined;
    }
    await look(payment);
    await reconcile(payment);
    return seen;
  }

  async function expectNothingLost(payment: OpenedPayment, seen: Set<string>): Promise<void> {
    const found = await world.providers.get('exchange_pay', 'test').findCheckout(payment.id);
    if (found.kind !== 'found') throw new Error(JSON.stringify(found));
    const credited = await creditedTransfers(world.db, payment.id);
    const lost = found.checkout.transfers.filter(({ id }) => !credited.has(id));
    const shown = idsIn((await openCaseOf(payment, NOT_CREDITED))?.facts ?? []);
    const unseen = lost.filter(({ id }) => !seen.has(id) && !shown.includes(id));
    expect({ payment: payment.id, seed, unseen }).toMatchObject({ unseen: [] });
    const refunds = await listRefunds(world.db, payment.id);
    const debts = (await openCaseOf(payment, NOT_COVERED))?.facts ?? [];
    for (const { reference, state } of refunds) {
      if (state === 'waived') expect([...seen]).toContain(reference);
      if (state === 'owed')
        expect(debts).toContainEqual(expect.objectContaining({ refund: reference }));
    }
    expect(refunds).toHaveLength(found.checkout.refunds.length);
  }

  test(
    'are waived and hidden only where somebody saw them',
    async () => {
      for (let played = 0; played < scaled(5, 1_000); played += 1) {
        const payment = await spentPayment();
        await expectNothingLost(payment, await play(payment));
      }
    },
    PLAY_MS,
  );
});
