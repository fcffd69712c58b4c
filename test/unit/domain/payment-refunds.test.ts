/** What refunds take back, and how the provider's are told apart (decisions/payments#refunds). */
import fc from 'fast-check';
import { isBalanced, refundPosting, refundReturnPosting } from '../../../src/domain/ledger';
import { add, amount, lesserOf, subtract, ZERO } from '../../../src/domain/money';
import type { Payment } from '../../../src/domain/payment';
import {
  netAmount,
  priceReturn,
  priceReversal,
  refundableOf,
} from '../../../src/domain/payment-pricing';
import {
  type CheckoutFacts,
  isAllRefunded,
  nextRefundStep,
  type PaymentRefund,
  type RefundState,
} from '../../../src/domain/payment-step';
import {
  anyUnits,
  feeTerms,
  fromUnits,
  toUnits,
  wholeFee,
  type WholeTerms,
} from '../../support/amounts';
import { scaled } from '../../support/scale';

const RUNS = { numRuns: scaled(300, 15_000) };
const ONE_PERCENT: WholeTerms = { percentage: 10_000, fixed: 0n, min: null, max: null };
const UNITS_PER_ONE = 100_000_000n;

type Money = Pick<
  Payment,
  'creditedAmount' | 'serviceFee' | 'reversedAmount' | 'reversedFee' | 'feeTerms'
>;

function credited(value: string, terms = ONE_PERCENT): Payment {
  const money: Money = {
    creditedAmount: amount(value),
    serviceFee: fromUnits(wholeFee('payin', toUnits(value), terms)),
    reversedAmount: ZERO,
    reversedFee: ZERO,
    feeTerms: feeTerms(terms),
  };
  return money as Payment;
}

function afterReversal(payment: Payment, value: string): Payment {
  const { reversed, fee } = priceReversal(payment, amount(value));
  return {
    ...payment,
    reversedAmount: add(payment.reversedAmount, reversed),
    reversedFee: add(payment.reversedFee, fee),
  };
}

const WITH_A_LEAST_FEE: WholeTerms = { ...ONE_PERCENT, min: 5n * UNITS_PER_ONE };

test.each([
  ['all of it', ONE_PERCENT, '100', '99.00000000', '1.00000000'],
  ['half of it', ONE_PERCENT, '50', '49.50000000', '0.50000000'],
  ['more than there is', ONE_PERCENT, '150', '99.00000000', '1.00000000'],
  ['half, where the least fee stays', WITH_A_LEAST_FEE, '50', '50.00000000', '0.00000000'],
  ['all, where the least fee goes too', WITH_A_LEAST_FEE, '100', '95.00000000', '5.00000000'],
])('of 100 credited, %s', (_what, terms, value, taken, fee) => {
  expect(priceReversal(credited('100', terms), amount(value))).toMatchObject({ taken, fee });
});

const anyTerms: fc.Arbitrary<WholeTerms> = fc.record({
  percentage: fc.constantFrom(0, 3_333, 10_000, 25_000, 1_000_000),
  fixed: fc.constantFrom(0n, (3n * UNITS_PER_ONE) / 10n),
  min: fc.constantFrom(null, UNITS_PER_ONE / 2n),
  max: fc.constantFrom(null, 2n * UNITS_PER_ONE),
});
const some = anyUnits({ min: 1n, max: 10n ** 12n });

test('each refund gives up the fee of what went back, to the last unit', () => {
  fc.assert(
    fc.property(some, fc.array(some, { maxLength: 4 }), anyTerms, (units, parts, terms) => {
      let payment = credited(fromUnits(units), terms);
      let left = units;
      for (const part of parts) {
        const reversed = part < left ? part : left;
        const fee = wholeFee('payin', left, terms) - wholeFee('payin', left - reversed, terms);
        expect(fee < 0n || fee > reversed).toBe(false);
        expect(priceReversal(payment, fromUnits(part))).toEqual({
          reversed: fromUnits(reversed),
          fee: fromUnits(fee),
          taken: fromUnits(reversed - fee),
        });
        payment = afterReversal(payment, fromUnits(part));
        left -= reversed;
      }
    }),
    RUNS,
  );
});

test('refunds one by one cost what their sum does, and all of them cost the net', () => {
  fc.assert(
    fc.property(some, fc.array(some, { maxLength: 4 }), anyTerms, (units, parts, terms) => {
      const before = credited(fromUnits(units), terms);
      let payment = before;
      for (const part of parts) {
        payment = afterReversal(payment, fromUnits(part));
      }
      const atOnce = afterReversal(before, add(ZERO, ...parts.map(fromUnits)));
      expect(netAmount(payment)).toBe(netAmount(atOnce));
      const rest = priceReversal(payment, refundableOf(payment));
      expect(rest.taken).toBe(netAmount(payment));
    }),
    RUNS,
  );
});

test('what is given back restores what was there', () => {
  fc.assert(
    fc.property(some, some, anyTerms, (units, part, terms) => {
      const before = credited(fromUnits(units), terms);
      const value = lesserOf(fromUnits(part), refundableOf(before));
      const { taken, fee } = priceReversal(before, value);
      expect(priceReturn(afterReversal(before, value), value)).toMatchObject({ taken, fee });
    }),
    RUNS,
  );
});

test('its postings are balanced, and the way back undoes the way out', () => {
  fc.assert(
    fc.property(some, anyTerms, (units, terms) => {
      const refund = {
        reference: 'r',
        ...priceReversal(credited(fromUnits(units), terms), fromUnits(units)),
      };
      const payment = { id: 'pay_1', reference: 'order-1' };
      const [out, back] = [refundPosting(payment, refund), refundReturnPosting(payment, refund)];
      for (const posting of [out, back]) {
        expect(isBalanced(posting)).toBe(true);
        expect(posting.lines.every((line) => line.amount !== ZERO)).toBe(true);
        // A merchant's list of transactions shows no entry without a line of theirs.
        expect(posting.lines.some(({ account }) => account === 'available')).toBe(true);
      }
      expect(isBalanced({ ...out, lines: [...out.lines, ...back.lines] })).toBe(true);
      expect(out.operationKey).not.toBe(back.operationKey);
    }),
    RUNS,
  );
});

const KNOWN: PaymentRefund = {
  reference: 'pay_1-1',
  providerRefundId: null,
  amount: amount('50'),
  taken: amount('49.5'),
  fee: amount('0.5'),
  state: 'ordered',
};
const made = (id: string, reference: string, value = '50') => ({
  id,
  reference,
  amount: amount(value),
});

type Row = [
  what: string,
  refunds: CheckoutFacts['refunds'],
  known: PaymentRefund[],
  step: string | null,
];
const inState = (state: RefundState, providerRefundId: string | null = null): PaymentRefund => ({
  ...KNOWN,
  state,
  providerRefundId,
});

test.each<Row>([
  ['none', [], [KNOWN], null],
  ['the one that was ordered', [made('a', 'pay_1-1')], [KNOWN], 'confirm'],
  ['it again', [made('a', 'pay_1-1')], [inState('done', 'a')], null],
  ['another sum than was ordered', [made('a', 'pay_1-1', '40')], [KNOWN], 'give_back'],
  ['one that was given back before', [made('a', 'pay_1-1')], [inState('refused')], 'take_back'],
  ['one that nobody ordered', [made('a', 'a')], [KNOWN], 'take_back'],
  ['one that is owed', [made('a', 'a')], [inState('owed', 'a')], null],
  [
    'one that nobody ordered, before the one that was',
    [made('b', 'b'), made('a', 'pay_1-1')],
    [KNOWN],
    'confirm',
  ],
  ['one for which the ordered one leaves too little', [made('a', 'a', '50.01')], [KNOWN], null],
  [
    'one of which the same is true, and one that fits',
    [made('a', 'a', '60'), made('b', 'b')],
    [KNOWN],
    'take_back',
  ],
  [
    'more than is left, after the ordered one',
    [made('a', 'a', '60')],
    [inState('done', 'x')],
    'take_back',
  ],
  [
    'more than is left, after the ordered one was refused',
    [made('a', 'a', '60')],
    [inState('refused')],
    'take_back',
  ],
  ['a second one', [made('a', 'a'), made('b', 'b')], [inState('done', 'a')], 'take_back'],
])('the provider shows %s', (_what, refunds, known, kind) => {
  const facts = { refunds } as CheckoutFacts;
  const payment = known.some(({ state }) => state === 'refused')
    ? credited('100')
    : afterReversal(credited('100'), '50');
  expect(nextRefundStep(payment, facts, known)?.kind ?? null).toBe(kind);
  expect(nextRefundStep(credited('0'), facts, known)).toBeNull();
});

test('all is refunded when as much went back as was credited', () => {
  const payment = credited('100');
  expect(isAllRefunded(payment, amount('100'))).toBe(true);
  expect(isAllRefunded(payment, subtract(amount('100'), amount('0.00000001')))).toBe(false);
});
