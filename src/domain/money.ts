/**
 * Money as text. Outside this module every amount is an `Amount`, a decimal string with exactly 8
 * decimals; all calculations happen here. Strings pass through JSON, workflow histories and
 * numeric(38,8) columns without loss; JavaScript numbers do not.
 */
import { Decimal as SharedDecimal } from 'decimal.js';

/** A decimal string with exactly 8 decimals, never an exponent: `"12.50000000"`. */
export type Amount = string & { readonly __brand: 'Amount' };

/**
 * The clone is private, so that other modules cannot change its settings. numeric(38,8) times a
 * percentage with 4 decimals needs 38 + 8 digits; 80 leaves room for sums.
 */
const Decimal = SharedDecimal.clone({
  precision: 80,
  rounding: SharedDecimal.ROUND_HALF_UP,
  toExpNeg: -100,
  toExpPos: 100,
});

const SCALE = 8;

/** The form in which the API writes an amount (decisions/money#amounts). */
export const AMOUNT_PATTERN = '^[0-9]{1,30}\\.[0-9]{8}$';
/** The form of a currency code, such as `USDT`. */
export const CURRENCY_PATTERN = '^[A-Z0-9]{2,12}$';
/** The form of an amount in a request. It includes zero, which parseRequestAmount refuses. */
export const REQUEST_AMOUNT_PATTERN = '^[0-9]{1,18}(\\.[0-9]{1,8})?$';
const REQUEST_AMOUNT = new RegExp(REQUEST_AMOUNT_PATTERN);
const STORED_AMOUNT = /^-?[0-9]{1,30}(\.[0-9]{1,8})?$/;
/** Larger exponents are not amounts, and writing them out in digits would exhaust memory. */
const EXPONENT_MAX = 100;

/** The amount zero. */
export const ZERO = '0.00000000' as Amount;

/**
 * Reads an amount of a request (decisions/money#amounts): plain decimal text, greater than zero, at most 18
 * digits before and 8 after the decimal point. Returns null for anything else.
 */
export function parseRequestAmount(text: string): Amount | null {
  if (!REQUEST_AMOUNT.test(text)) return null;
  const value = new Decimal(text);
  return value.isZero() ? null : (value.toFixed(SCALE) as Amount);
}

/**
 * Reads an amount from the database or a provider.
 * @throws RangeError if the text is not a number with at most 8 decimals
 */
export function amount(text: string): Amount {
  if (!STORED_AMOUNT.test(text)) throw new RangeError(`not an amount: ${text.slice(0, 60)}`);
  // Adding zero converts -0 to 0.
  return new Decimal(text).plus(0).toFixed(SCALE) as Amount;
}

/**
 * The plain decimal text of a JSON number's source digits: `1e2` → `"100"`, with every digit. Returns
 * the source unchanged if its exponent is too large; the caller's format rule then rejects it.
 */
export function plainDecimal(source: string): string {
  const exponent = /[eE]([+-]?[0-9]+)$/.exec(source)?.[1];
  if (exponent === undefined) return source;
  if (new Decimal(exponent).abs().greaterThan(EXPONENT_MAX)) return source;
  return new Decimal(source).toFixed();
}

/** The sum of the amounts; zero without any. */
export function add(...amounts: Amount[]): Amount {
  return amounts.reduce((sum, next) => sum.plus(next), new Decimal(0)).toFixed(SCALE) as Amount;
}

/** `from` less `what`; may be negative. */
export function subtract(from: Amount, what: Amount): Amount {
  return new Decimal(from).minus(what).toFixed(SCALE) as Amount;
}

/** -1, 0 or 1 if `a` is less than, equal to or greater than `b`. */
export function compare(a: Amount, b: Amount): -1 | 0 | 1 {
  const order = new Decimal(a).comparedTo(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/** Whether `a` is less than `b`. */
export function isLess(a: Amount, b: Amount): boolean {
  return compare(a, b) < 0;
}

/** Whether the amount has more decimals than `than`; zeros at the end do not count. */
export function hasMoreDecimals(than: number, value: Amount): boolean {
  return new Decimal(value).decimalPlaces() > than;
}

/** The amount with this many decimals, rounded half up, away from zero. */
export function roundTo(decimals: number, value: Amount): Amount {
  const rounded = new Decimal(value).toDecimalPlaces(decimals, SharedDecimal.ROUND_HALF_UP);
  return rounded.toFixed(SCALE) as Amount;
}

/** The lesser of two amounts. */
export function lesserOf(a: Amount, b: Amount): Amount {
  return isLess(b, a) ? b : a;
}

/** The greater of two amounts. */
export function greaterOf(a: Amount, b: Amount): Amount {
  return isLess(a, b) ? b : a;
}

/**
 * The part's share of the whole, from 0 to 1. It sets the length of a bar and is never used for money.
 */
export function shareOf(part: Amount, whole: Amount): number {
  if (whole === ZERO) return 0;
  return new Decimal(part).dividedBy(whole).toDecimalPlaces(3).toNumber();
}

/**
 * `percentage` per cent of `base` plus `plus`; the sum is rounded half up to 8 decimals
 * (decisions/money#service-fees).
 */
export function percentOf(base: Amount, percentage: string, plus: Amount): Amount {
  return new Decimal(base)
    .times(percentage)
    .dividedBy(100)
    .plus(plus)
    .toFixed(SCALE, SharedDecimal.ROUND_HALF_UP) as Amount;
}
