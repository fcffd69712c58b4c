import fc from 'fast-check';
import { type Direction, type FeeTerms, serviceFee, totalDebit } from '../../../src/domain/fees';
import { type Amount, amount } from '../../../src/domain/money';
import { anyUnits, feeTerms, fromUnits, wholeFee } from '../../support/amounts';
import { scaled } from '../../support/scale';
import vectors from '../../fixtures/fees.json';

/** Ties, rounding down and up, minima, maxima, and a fee that is capped by the amount, in both directions. */
test('the golden vectors', () => {
  expect(vectors.length).toBe(16);
  const wrong = vectors.filter((vector) => {
    const terms: FeeTerms = {
      percentage: vector.percentage,
      fixedAmount: vector.fixed_amount as Amount,
      minFee: vector.min_fee as Amount | null,
      maxFee: vector.max_fee as Amount | null,
    };
    const fee = serviceFee(vector.direction as Direction, vector.amount as Amount, terms);
    return fee !== vector.service_fee;
  });
  expect(wrong).toEqual([]);
});

const most = 10n ** 26n - 1n;
const anyFee = anyUnits({ max: 10n ** 14n });
const feeCases = fc.record({
  direction: fc.constantFrom<Direction>('payin', 'payout'),
  base: anyUnits({ min: 1n, max: most }),
  /** Per cent in ten-thousandths: 1_000_000 is 100 %. */
  percentage: fc.nat({ max: 1_000_000 }),
  fixed: anyFee,
  min: fc.option(anyFee),
  max: fc.option(anyFee),
});

test('any fee is what whole numbers give', () => {
  fc.assert(
    fc.property(feeCases, ({ direction, base, ...terms }) => {
      const fee = serviceFee(direction, fromUnits(base), feeTerms(terms));
      expect(fee).toBe(fromUnits(wholeFee(direction, base, terms)));
    }),
    { numRuns: scaled(400, 100_000) },
  );
});

test('the fee is added on top: the example of the specification', () => {
  const terms: FeeTerms = {
    percentage: '1.0000',
    fixedAmount: amount('0'),
    minFee: null,
    maxFee: null,
  };
  const fee = serviceFee('payout', amount('10000'), terms);
  expect(fee).toBe('100.00000000');
  expect(totalDebit(amount('10000'), fee, amount('0'))).toBe('10100.00000000');
  expect(totalDebit(amount('10000'), fee, amount('2.5'))).toBe('10102.50000000');
});
