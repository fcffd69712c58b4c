/**
 * What a provider's facts make of a payment (decisions/payments#payment-statuses, decisions/payments#late-payments,
 * decisions/payments#refunds and decisions/payments#provider-facts).
 */
import fc from 'fast-check';
import { type Amount, add, amount, ZERO } from '../../../src/domain/money';
import {
  isOpenPayment,
  nextPaymentStatus,
  type Payment,
  type PaymentStatus,
  type PaymentTrigger,
} from '../../../src/domain/payment';
import { amountDue, overpaidAmount } from '../../../src/domain/payment-pricing';
import {
  type CheckoutFacts,
  figuresAfter,
  LATE_WINDOW_MS,
  nextPaymentStep,
  type PaymentBackground,
  type PaymentStep,
  type TransferFacts,
} from '../../../src/domain/payment-step';
import { scaled } from '../../support/scale';

const CREATED = new Date('2026-11-01T12:00:00.000Z');
const END = new Date('2026-11-01T13:00:00.000Z');
const MINUTE_MS = 60_000;

const EARLY = at(-10);
const OVER = at(10);
/** Minutes from the end of the window. */
function at(minutes: number): Date {
  return new Date(END.getTime() + minutes * MINUTE_MS);
}

function build(status: PaymentStatus, overrides: Partial<Payment> = {}): Payment {
  return {
    id: 'pay_1',
    accountId: 'acc_1',
    mode: 'test',
    reference: 'order-1',
    status,
    provider: 'onchain_provider',
    amount: amount('100'),
    currency: 'USDT',
    network: 'tron',
    receivedAmount: ZERO,
    unconfirmedAmount: ZERO,
    creditedAmount: ZERO,
    serviceFee: ZERO,
    refundedAmount: ZERO,
    reversedAmount: ZERO,
    reversedFee: ZERO,
    feeTerms: { percentage: '1.0000', fixedAmount: ZERO, minFee: null, maxFee: null },
    exceptions: [],
    txHash: null,
    depositAddress: null,
    transfers: [],
    checkoutUrl: 'https://provider.example/checkout/1',
    successUrl: null,
    cancelUrl: null,
    description: null,
    customerEmail: null,
    metadata: {},
    failureReason: null,
    apiKeyId: 'key_1',
    providerCheckoutId: 'checkout_1',
    sequence: 1,
    createdAt: CREATED,
    updatedAt: CREATED,
    expiresAt: END,
    completedAt: null,
    ...overrides,
  };
}

type Facts = Partial<CheckoutFacts>;

function facts(overrides: Facts = {}): CheckoutFacts {
  return {
    state: 'started',
    onHold: false,
    transfers: [],
    refunds: [],
    failureReason: null,
    ...overrides,
  };
}

function seen(id: string, value: string, seenAt = EARLY): TransferFacts {
  return {
    id,
    amount: amount(value),
    status: 'seen',
    seenAt,
    confirmedAt: null,
    txHash: `0x${id}`,
  };
}

function dropped(id: string, value: string): TransferFacts {
  return { ...seen(id, value), status: 'dropped' };
}

/** Seen at the same time unless that is given. */
function confirmed(id: string, value: string, confirmedAt = EARLY, seenAt = confirmedAt) {
  return { ...seen(id, value, seenAt), status: 'confirmed', confirmedAt } as const;
}

const sent = (value: string) => ({ id: 'r', reference: 'r', amount: amount(value) });

function background(
  credited: Iterable<string> = [],
  rejection: PaymentBackground['rejection'] = null,
): PaymentBackground {
  return { credited: new Set(credited), rejection };
}

/** What is told: transfers alone, or with more. */
type Told = readonly TransferFacts[] | Facts;
/**
 * @param outcome the trigger, the ids of the transfers that are credited, and the exceptions:
 *   `complete a b (late)`
 * @param before ids of the transfers that were credited before
 */
type Row = [what: string, status: PaymentStatus, told: Told, outcome: string, before?: string];

const A100 = confirmed('a', '100');
const A40 = confirmed('a', '40');
test('late money is taken for 30 days', () => {
  expect(LATE_WINDOW_MS).toBe(30 * 86_400_000);
});

const LAST_MOMENT = new Date(END.getTime() + LATE_WINDOW_MS);
const TOO_LATE = new Date(LAST_MOMENT.getTime() + 1);

const STEPS: readonly [when: string, askedAt: Date, rows: Row[]][] = [
  [
    'in the window',
    EARLY,
    [
      ['nobody came', 'created', { state: 'open' }, 'nothing'],
      ['the customer begins', 'created', {}, 'start'],
      ['the customer has begun', 'pending', {}, 'nothing'],
      ['a transfer is seen', 'pending', [seen('a', '100')], 'see'],
      ['it was first heard of then', 'created', [seen('a', '9')], 'see'],
      ['it is still seen', 'processing', [seen('a', '100')], 'nothing'],
      ['exact', 'processing', [A100], 'complete a'],
      ['exact, first heard of then', 'created', [A100], 'complete a'],
      ['exact, heard of again', 'completed', [A100], 'nothing', 'a'],
      ['over', 'processing', [confirmed('a', '100.00000001')], 'complete a (overpaid)'],
      ['in two transfers', 'processing', [A40, confirmed('b', '60')], 'complete a b'],
      [
        'in two transfers, one of them unconfirmed',
        'processing',
        [A40, seen('b', '60')],
        'nothing',
      ],
      ['enough, and more is on its way', 'processing', [A100, seen('b', '1')], 'complete a'],
      [
        'more after the completion',
        'completed',
        [A100, confirmed('b', '1')],
        'complete b (overpaid)',
        'a',
      ],
      ['under, in the window', 'processing', [A40], 'nothing'],
      ['under, in the window, heard of first', 'pending', [A40], 'see'],
      ['dropped in the window', 'processing', [dropped('a', '100')], 'nothing'],
      ['dropped, never heard of before', 'created', [dropped('a', '100')], 'start'],
      [
        'dropped, and paid again',
        'processing',
        [dropped('a', '100'), confirmed('b', '100')],
        'complete b',
      ],
      [
        'enough only with what went back, in the window',
        'processing',
        { transfers: [A100, confirmed('b', '5')], refunds: [sent('10')] },
        'nothing',
      ],
      [
        'enough without what went back',
        'processing',
        { transfers: [A100, confirmed('b', '10')], refunds: [sent('10')] },
        'complete a b (overpaid)',
      ],
      [
        'held when it is seen',
        'processing',
        { onHold: true, transfers: [seen('a', '100')] },
        'hold',
      ],
      ['held when it is confirmed', 'created', { onHold: true, transfers: [A100] }, 'hold'],
      ['still held', 'on_hold', { onHold: true, transfers: [A100] }, 'nothing'],
      ['released', 'on_hold', [A100], 'complete a'],
      ['released with too little, in the window', 'on_hold', [A40], 'nothing'],
      ['released, nothing left, in the window', 'on_hold', [dropped('a', '100')], 'nothing'],
      ['rejected', 'on_hold', { transfers: [A100], refunds: [sent('100')] }, 'refund'],
      ...(['created', 'pending', 'processing'] as const).map((status): Row => [
        `held and rejected between two looks at a ${status} payment`,
        status,
        { transfers: [A100], refunds: [sent('100')] },
        'hold',
      ]),
      [
        'rejected with nothing confirmed',
        'on_hold',
        { state: 'failed', transfers: [dropped('a', '9')] },
        'fail',
      ],
      [
        'held after the completion',
        'completed',
        { onHold: true, transfers: [A100] },
        'nothing',
        'a',
      ],
      ['cancelled, nothing seen', 'pending', { state: 'cancelled' }, 'cancel'],
      ['cancelled, never begun', 'created', { state: 'cancelled' }, 'cancel'],
      [
        'cancelled, a transfer is seen',
        'pending',
        { state: 'cancelled', transfers: [seen('a', '100')] },
        'see',
      ],
      [
        'cancelled, and paid',
        'processing',
        { state: 'cancelled', transfers: [A100] },
        'complete a',
      ],
      ['failed', 'pending', { state: 'failed' }, 'fail'],
      [
        'failed with a transfer',
        'processing',
        { state: 'failed', transfers: [seen('a', '9')] },
        'fail',
      ],
      ['failed while held', 'on_hold', { state: 'failed', onHold: true }, 'fail'],
      ['failed already', 'failed', { state: 'failed' }, 'nothing'],
      ['failed, and money after all', 'failed', [A100], 'nothing'],
      ['money for a refunded payment', 'refunded', [A100], 'nothing'],
      [
        'late for a cancelled payment, in its window',
        'cancelled',
        { state: 'cancelled', transfers: [A100] },
        'complete a (late)',
      ],
    ],
  ],
  [
    'in its last moment',
    new Date(END.getTime() - 1),
    [['under, a moment before the end', 'processing', [A40], 'nothing']],
  ],
  [
    'at its end',
    END,
    [
      ['under, at the end', 'processing', [A40], 'underpay a'],
      ['the window closes on nobody', 'created', { state: 'open' }, 'expire'],
      ['the window closes on a beginner', 'pending', {}, 'expire'],
    ],
  ],
  [
    'after its end',
    OVER,
    [
      ['under, first heard of after the end', 'created', [A40], 'underpay a'],
      ['under, heard of again', 'underpaid', [A40], 'nothing', 'a'],
      ['under at the end, more is on its way', 'processing', [A40, seen('b', '60')], 'nothing'],
      [
        'under at the end, the rest vanished',
        'processing',
        [A40, dropped('b', '60')],
        'underpay a',
      ],
      ...(['completed', 'underpaid'] as const).map((status): Row => [
        'dropped after it was credited, and paid again',
        status,
        [dropped('a', '100'), confirmed('b', '100', OVER)],
        'nothing',
        'a',
      ]),
      [
        'one of two credited is not there any more, and there is more',
        'underpaid',
        [A40, confirmed('c', '60', OVER)],
        'nothing',
        'a b',
      ],
      [
        'credited and in doubt again, and there is more',
        'completed',
        [seen('a', '100'), confirmed('b', '5')],
        'nothing',
        'a',
      ],
      [
        'enough only with what went back, at the end',
        'processing',
        { transfers: [A100, confirmed('b', '5')], refunds: [sent('10')] },
        'underpay a b (overpaid)',
      ],
      [
        'the rest comes late, and some of the first went back after it was credited',
        'underpaid',
        { transfers: [A40, confirmed('b', '60', OVER)], refunds: [sent('10')] },
        'complete b (late)',
        'a',
      ],
      ['dropped at the end', 'processing', [dropped('a', '100')], 'expire'],
      ['dropped at the end, never heard of', 'pending', [dropped('a', '100')], 'expire'],
      ['still held after the end', 'on_hold', { onHold: true, transfers: [A100] }, 'nothing'],
      ['released with too little, at the end', 'on_hold', [A40], 'underpay a'],
      ['released, not confirmed yet', 'on_hold', [seen('a', '100')], 'nothing'],
      ['released, nothing left, at the end', 'on_hold', [dropped('a', '100')], 'fail'],
      [
        'late and held',
        'expired',
        { onHold: true, transfers: [confirmed('a', '100', OVER)] },
        'nothing',
      ],
      [
        'late and rejected',
        'expired',
        { transfers: [confirmed('a', '100', OVER)], refunds: [sent('100')] },
        'nothing',
      ],
      ['the window has closed', 'expired', {}, 'nothing'],
      ['closed while a transfer is seen', 'processing', [seen('a', '100')], 'nothing'],
      ['confirmed in time, heard of after the end', 'created', [A100], 'complete a'],
      [
        'seen in time, confirmed after the end',
        'processing',
        [confirmed('a', '100', OVER, EARLY)],
        'complete a',
      ],
      [
        'came after the end, heard of before it was expired',
        'pending',
        [confirmed('a', '100', OVER)],
        'complete a (late)',
      ],
      ['cancelled after the end', 'pending', { state: 'cancelled' }, 'cancel'],
      ['cancelled already', 'cancelled', { state: 'cancelled' }, 'nothing'],
      [
        'cancelled, seen already',
        'processing',
        { state: 'cancelled', transfers: [seen('a', '100')] },
        'nothing',
      ],
      ['late, all of it', 'expired', [confirmed('a', '100', OVER)], 'complete a (late)'],
      ['late, a part', 'expired', [confirmed('a', '40', OVER)], 'underpay a (late)'],
      ['late, too much', 'expired', [confirmed('a', '101', OVER)], 'complete a (overpaid, late)'],
      ['late, not confirmed yet', 'expired', [seen('a', '100', OVER)], 'nothing'],
      [
        'late in the last moment',
        'expired',
        [confirmed('a', '100', LAST_MOMENT)],
        'complete a (late)',
      ],
      ['later than that', 'expired', [confirmed('a', '100', TOO_LATE)], 'nothing'],
      [
        'late for a cancelled payment, a part',
        'cancelled',
        { state: 'cancelled', transfers: [confirmed('a', '1', OVER)] },
        'underpay a (late)',
      ],
      [
        'much too late for a cancelled payment',
        'cancelled',
        [confirmed('a', '100', TOO_LATE)],
        'nothing',
      ],
      [
        'the rest comes late',
        'underpaid',
        [A40, confirmed('b', '60', OVER)],
        'complete b (late)',
        'a',
      ],
      [
        'some of the rest comes late',
        'underpaid',
        [A40, confirmed('b', '50', OVER)],
        'underpay b (late)',
        'a',
      ],
      [
        'the rest comes much too late',
        'underpaid',
        [A40, confirmed('b', '60', TOO_LATE)],
        'nothing',
        'a',
      ],
      [
        'more, late, after the completion',
        'completed',
        [A100, confirmed('b', '5', OVER)],
        'complete b (overpaid, late)',
        'a',
      ],
    ],
  ],
];

describe.each(STEPS)('the next step %s', (_when, askedAt, rows) => {
  test.each(rows)('%s (%s)', (_what, status, told, outcome, before = '') => {
    const known = 'length' in told ? facts({ transfers: [...told] }) : facts(told);
    const ids = before.split(' ');
    const credited = known.transfers.filter(({ id }) => ids.includes(id));
    const creditedAmount = add(ZERO, ...credited.map((one) => one.amount));
    const payment = build(status, { creditedAmount });
    const step = nextPaymentStep(payment, known, background(before === '' ? [] : ids), askedAt);
    expect(say(step)).toBe(outcome);
  });
});

function say(step: PaymentStep | null): string {
  if (step === null) return 'nothing';
  const { trigger, credits, exceptions } = step;
  const shown = exceptions.length === 0 ? [] : [`(${exceptions.join(', ')})`];
  return [trigger, ...credits.map(({ id }) => id), ...shown].join(' ');
}

describe('the next step', () => {
  type RejectedRow = [
    what: string,
    facts: Facts,
    askedAt: Date,
    accepted: PaymentTrigger | null,
    pending: PaymentTrigger | null,
  ];
  test.each<RejectedRow>([
    ['all went back', { transfers: [A100], refunds: [sent('100')] }, EARLY, 'refund', 'refund'],
    ['less went back', { transfers: [A100], refunds: [sent('99.5')] }, EARLY, 'refund', null],
    ['enough is left', { transfers: [A100, A40], refunds: [sent('40')] }, EARLY, 'refund', null],
    ['nothing went back yet', { transfers: [A100] }, EARLY, null, null],
    ['nothing went back at the end', { transfers: [A40] }, OVER, null, null],
    ['it is still held', { onHold: true, transfers: [A100] }, EARLY, null, null],
    ['nothing had come', { state: 'failed' }, EARLY, 'fail', 'fail'],
    ['what was seen vanished', { transfers: [dropped('a', '100')] }, OVER, 'fail', 'fail'],
  ])('a hold was rejected: %s', (_what, told, askedAt, ...triggers) => {
    (['accepted', 'pending'] as const).forEach((rejection, index) => {
      const known = background([], rejection);
      const step = nextPaymentStep(build('on_hold'), facts(told), known, askedAt);
      expect(step?.trigger ?? null).toBe(triggers[index]);
      expect(step?.credits ?? []).toEqual([]);
    });
  });

  test('what is confirmed is received, what is only seen is unconfirmed, and the hash is of the last confirmed', () => {
    const transfers = [A40, confirmed('b', '60'), seen('c', '7'), dropped('d', '9')];
    const step = nextPaymentStep(build('created'), facts({ transfers }), background(), EARLY);
    const figures = { receivedAmount: '100.00000000', unconfirmedAmount: '7.00000000' };
    expect(step).toMatchObject({ figures, txHash: '0xb' });
  });

  test('facts that were asked for earlier never make the received less than the credited', () => {
    const payment = build('underpaid', { creditedAmount: amount('40') });
    const stale = facts({ transfers: [confirmed('b', '30', OVER)] });
    expect(figuresAfter(payment, stale, new Set(['a']))).toEqual({
      receivedAmount: '40.00000000',
      unconfirmedAmount: '0.00000000',
    });
    expect(nextPaymentStep(payment, stale, background(['a']), OVER)).toBeNull();
  });
});

test('a credited transfer that older facts show as seen is not counted twice', () => {
  const payment = build('completed', { creditedAmount: amount('40') });
  const stale = facts({ transfers: [seen('a', '40'), seen('b', '5')] });
  expect(figuresAfter(payment, stale, new Set(['a']))).toEqual({
    receivedAmount: '40.00000000',
    unconfirmedAmount: '5.00000000',
  });
});

test.each([
  ['0', '0', '100.00000000', '0.00000000'],
  ['99.99999999', '0', '0.00000001', '0.00000000'],
  ['100', '0', '0.00000000', '0.00000000'],
  ['150', '0', '0.00000000', '50.00000000'],
  ['0', '100', '0.00000000', '0.00000000'],
  ['40', '50', '10.00000000', '0.00000000'],
  ['100', '50', '0.00000000', '0.00000000'],
])('of 100, %s received and %s unconfirmed: %s due, %s too much', (received, more, due, over) => {
  const payment = build('processing', {
    receivedAmount: amount(received),
    unconfirmedAmount: amount(more),
  });
  expect([amountDue(payment), overpaidAmount(payment)]).toEqual([due, over]);
});

const minutes = fc.integer({ min: -60, max: 31 * 24 * 60 });
const anyTransfer = fc
  .record({
    cents: fc.integer({ min: 1, max: 15_000 }),
    status: fc.constantFrom('seen' as const, 'confirmed' as const, 'dropped' as const),
    seenAt: minutes,
    wait: fc.integer({ min: 0, max: 60 }),
  })
  .map(({ cents, status, seenAt, wait }): Omit<TransferFacts, 'id'> => ({
    amount: amount((cents / 100).toFixed(2)),
    status,
    seenAt: at(seenAt),
    confirmedAt: status === 'confirmed' ? at(seenAt + wait) : null,
    txHash: null,
  }));
const anyFacts = fc.record({
  state: fc.constantFrom(
    'open' as const,
    'started' as const,
    'cancelled' as const,
    'failed' as const,
  ),
  onHold: fc.boolean(),
  transfers: fc
    .array(anyTransfer, { maxLength: 4 })
    .map((all) => all.map((one, index) => ({ ...one, id: `t${index}` }))),
  refunds: fc.constantFrom<CheckoutFacts['refunds']>([], [sent('10')], [sent('1000')]),
  failureReason: fc.constant(null),
});

interface Recorded {
  payment: Payment;
  /** Transfer → how often it was credited. */
  credits: Map<string, number>;
}

/** Takes one step as the database would. @returns null when there is none */
function take({ payment, credits }: Recorded, told: CheckoutFacts, askedAt: Date): Recorded | null {
  const step = nextPaymentStep(payment, told, background(credits.keys()), askedAt);
  if (step === null) return null;
  const status = nextPaymentStatus(payment.status, step.trigger);
  if (status === undefined) throw new Error(`${step.trigger} is impossible in ${payment.status}`);
  const after = new Map(credits);
  for (const { id } of step.credits) after.set(id, (after.get(id) ?? 0) + 1);
  const creditedAmount: Amount = add(payment.creditedAmount, ...step.credits.map((c) => c.amount));
  return {
    payment: { ...payment, ...step.figures, status, creditedAmount },
    credits: after,
  };
}

test('any facts, in any order, lead to rest within ten steps, and credit each transfer once', () => {
  const updates = fc.array(fc.tuple(anyFacts, minutes), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(updates, (all) => {
      let recorded: Recorded = { payment: build('created'), credits: new Map() };
      for (const [told, askedAfter] of all) {
        const before = recorded.payment.status;
        let steps = 0;
        for (let next: Recorded | null = recorded; next !== null; steps += 1) {
          recorded = next;
          next = take(recorded, told, at(askedAfter));
        }
        expect(steps - 1).toBeLessThan(10);
        expect(take(recorded, told, at(askedAfter))).toBeNull();
        expect([...recorded.credits.values()].every((times) => times === 1)).toBe(true);
        if (!isOpenPayment(before)) expect(isOpenPayment(recorded.payment.status)).toBe(false);
        if (isOpenPayment(recorded.payment.status)) expect(recorded.credits.size).toBe(0);
      }
    }),
    { numRuns: scaled(400, 20_000) },
  );
});

test('at rest after the end every confirmed transfer that counts is credited, and no other', () => {
  fc.assert(
    fc.property(anyFacts, minutes, (random, askedAfter) => {
      const told = { ...random, onHold: false, refunds: [] };
      let recorded: Recorded = { payment: build('created'), credits: new Map() };
      for (let next: Recorded | null = recorded; next !== null;) {
        recorded = next;
        next = take(recorded, told, at(askedAfter));
      }
      const { status, creditedAmount, receivedAmount } = recorded.payment;
      const counts = told.transfers.filter(
        ({ confirmedAt }) => confirmedAt !== null && confirmedAt <= LAST_MOMENT,
      );
      const isCredited = status === 'completed' || status === 'underpaid';
      const ids = isCredited ? counts.map(({ id }) => id) : [];
      expect([...recorded.credits.keys()].sort()).toEqual(ids.sort());
      expect(creditedAmount).toBe(add(ZERO, ...(isCredited ? counts : []).map((t) => t.amount)));
      if (status === 'completed') expect(Number(creditedAmount)).toBeGreaterThanOrEqual(100);
      if (status === 'underpaid') expect(Number(creditedAmount)).toBeLessThan(100);
      if (status === 'expired' || status === 'cancelled') expect(counts).toEqual([]);
      // Nothing is left hanging when the window is over and nothing is under way.
      const isUnderWay = told.transfers.some((one) => one.status === 'seen');
      if (askedAfter >= 0 && !isUnderWay) expect(isOpenPayment(status)).toBe(false);
      expect(Number(receivedAmount)).toBeGreaterThanOrEqual(Number(creditedAmount));
    }),
    { numRuns: scaled(400, 20_000) },
  );
});
