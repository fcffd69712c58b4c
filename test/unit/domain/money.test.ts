import fc from 'fast-check';
import {
  add,
  amount,
  compare,
  greaterOf,
  hasMoreDecimals,
  lesserOf,
  parseRequestAmount,
  percentOf,
  plainDecimal,
  roundTo,
  shareOf,
  subtract,
  ZERO,
} from '../../../src/domain/money';
import { anyUnits, fromUnits, MOST_UNITS, toUnits } from '../../support/amounts';
import { scaled } from '../../support/scale';
import amounts from '../../fixtures/amounts.json';

const RUNS = { numRuns: scaled(400, 20_000) };

/** What the gateway makes (decisions/money#amounts) of the JSON text of a request's amount. */
function readRequestAmount(json: string): string | null {
  if (json.startsWith('"')) return parseRequestAmount(JSON.parse(json) as string);
  return /^[-0-9]/.test(json) ? parseRequestAmount(plainDecimal(json)) : null;
}

test.each(amounts.good)('a request may say $json', ({ json, amount: expected }) => {
  expect(readRequestAmount(json)).toBe(expected);
});

test.each(amounts.bad)('a request may not say $json', ({ json }) => {
  expect(readRequestAmount(json)).toBeNull();
});

test.each([
  ['1e2', '100'],
  ['1E+2', '100'],
  ['1.5e1', '15'],
  ['12345e-3', '12.345'],
  ['1e-8', '0.00000001'],
  ['0e5', '0'],
  ['1e0002', '100'],
  ['1e100', `1${'0'.repeat(100)}`],
  ['12345678901234567.12345678', '12345678901234567.12345678'],
  ['1.2345678901234567890123456789e28', '12345678901234567890123456789'],
  ['0.1', '0.1'],
  ['100.10', '100.10'],
])('the number %s is %s in plain digits', (source, plain) => {
  expect(plainDecimal(source)).toBe(plain);
});

test.each(['1e101', '1e999999999', '1e-999999999', `1e${'9'.repeat(10_000)}`])(
  'a nonsensical exponent is left as it is, at once (%#)',
  (source) => {
    expect(plainDecimal(source)).toBe(source);
    expect(parseRequestAmount(plainDecimal(source))).toBeNull();
  },
);

test.each(['', ' 1', '1e3', '+1', '.5', '5.', '0x1', 'NaN', '1.123456789', '1'.repeat(31)])(
  'what our database would never write is refused: %j',
  (text) => {
    expect(() => amount(text)).toThrow(RangeError);
  },
);

test('text to amount and back keeps every digit of numeric(38,8), without an exponent', () => {
  fc.assert(
    fc.property(anyUnits({ min: -MOST_UNITS }), (units) => {
      const text = fromUnits(units);
      const read = amount(text);
      expect(read).toBe(text);
      expect(read).toMatch(/^-?[0-9]+\.[0-9]{8}$/);
      expect(toUnits(read)).toBe(units);
    }),
    RUNS,
  );
});

test('a request amount and its JSON number agree, however many zeros are left out', () => {
  fc.assert(
    fc.property(anyUnits({ min: 1n, max: 10n ** 26n - 1n }), (units) => {
      const text = fromUnits(units);
      const short = text.replace(/\.?0+$/, '');
      expect(parseRequestAmount(text)).toBe(text);
      expect(parseRequestAmount(plainDecimal(short))).toBe(text);
      expect(parseRequestAmount(plainDecimal(`${units}e-8`))).toBe(text);
    }),
    RUNS,
  );
});

test('sums, differences and comparisons are those of whole numbers', () => {
  const signed = anyUnits({ min: -MOST_UNITS });
  fc.assert(
    fc.property(signed, signed, (a, b) => {
      const [one, other] = [fromUnits(a), fromUnits(b)];
      expect(add(one, other)).toBe(fromUnits(a + b));
      expect(subtract(one, other)).toBe(fromUnits(a - b));
      expect(compare(one, other)).toBe(a < b ? -1 : a > b ? 1 : 0);
      expect(lesserOf(one, other)).toBe(fromUnits(a < b ? a : b));
      expect(greaterOf(one, other)).toBe(fromUnits(a > b ? a : b));
    }),
    RUNS,
  );
});

test('nothing added up is zero', () => {
  expect(add()).toBe(ZERO);
});

test.each([
  ['0.00000001', '50', '0.00000001'],
  ['0.00000001', '49.9999', '0.00000000'],
  ['0.00000003', '50', '0.00000002'],
  ['10000', '1.0000', '100.00000000'],
])('%s at %s per cent is %s: half goes up', (base, percentage, expected) => {
  expect(percentOf(amount(base), percentage, ZERO)).toBe(expected);
});

test.each([
  [2, '0.00500000', '0.01000000'],
  [2, '0.02500000', '0.03000000'],
  [2, '-0.02500000', '-0.03000000'],
  [2, '0.02499999', '0.02000000'],
  [0, '2.50000000', '3.00000000'],
  [8, '0.00000001', '0.00000001'],
])('with %i decimals %s is %s: half goes away from zero', (decimals, value, expected) => {
  expect(roundTo(decimals, amount(value))).toBe(expected);
});

test('rounding comes after the fixed part was added, once', () => {
  expect(percentOf(amount('0.00000001'), '50', amount('0.00000001'))).toBe('0.00000002');
});

test('equal amounts are neither less nor greater', () => {
  expect(compare(amount('0.1'), amount('0.10'))).toBe(0);
});

test.each([
  [6, '0.0000010', false],
  [6, '0.0000011', true],
  [0, '7', false],
  [0, '7.5', true],
])('%i decimals are too few for %s: %s', (decimals, value, isMore) => {
  expect(hasMoreDecimals(decimals, amount(value))).toBe(isMore);
});

test.each([
  ['1', '3', 0.333],
  ['3', '3', 1],
  ['0', '0', 0],
])('%s of %s is a bar of %s', (part, whole, share) => {
  expect(shareOf(amount(part), amount(whole))).toBe(share);
});
