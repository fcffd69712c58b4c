/**
 * Money as text: every amount outside this module is an `Amount`, a decimal string with exactly
 * 8 decimals, and every calculation on one happens here. Strings survive JSON, workflow histories
 * and numeric(38,8) columns without loss; JavaScript numbers do not.
 */
import { Decimal as SharedDecimal } from 'decimal.js';

/** A decimal string with exactly 8 decimals, never an exponent: `"12.50000000"`. */
export type Amount = string & { readonly __brand: 'Amount' };

/**
 * A private clone, so that no other module's settings reach money. numeric(38,8) times a
 * percentage with 4 decimals needs 38 + 8 digits; 80 leaves room for sums.
 */
const Decimal = SharedDecimal.clone({
  precision: 80,
  rounding: SharedDecimal.ROUND_HALF_UP,
  toExpNeg: -100,
  toExpPos: 100,
});

const SCALE = 8;
const REQUEST_AMOUNT = /^[0-9]{1,18}(\.[0-9]{1,8})?$/;
const STORED_AMOUNT = /^-?[0-9]{1,30}(\.[0-9]{1,8})?$/;
/** Beyond this an exponent is nonsense, and writing it out in digits would exhaust memory. */
const EXPONENT_MAX = 100;

export const ZERO = '0.00000000' as Amount;

/**
 * Reads an amount as a request carries it (decision W1): plain decimal text, more than zero, at
 * most 18 digits before and 8 after the point. Returns null for anything else.
 */
export function parseRequestAmount(text: string): Amount | null {
  if (!REQUEST_AMOUNT.test(text)) return null;
  const value = new Decimal(text);
  return value.isZero() ? null : (value.toFixed(SCALE) as Amount);
}

/**
 * Reads an amount that our own database or a provider wrote.
 * @throws RangeError when the text is not a decimal with at most 8 decimals
 */
export function amount(text: string): Amount {
  if (!STORED_AMOUNT.test(text)) throw new RangeError(`not an amount: ${text.slice(0, 60)}`);
  // Adding zero makes -0 what it is.
  return new Decimal(text).plus(0).toFixed(SCALE) as Amount;
}

/**
 * The plain decimal text of a JSON number's source digits: `1e2` → `"100"`, every digit kept.
 * Returns the source unchanged when its exponent is out of all proportion, for the caller's
 * format rule to refuse.
 */
export function plainDecimal(source: string): string {
  const exponent = /[eE]([+-]?[0-9]+)$/.exec(source)?.[1];
  if (exponent === undefined) return source;
  if (new Decimal(exponent).abs().greaterThan(EXPONENT_MAX)) return source;
  return new Decimal(source).toFixed();
}

export function add(...amounts: Amount[]): Amount {
  return amounts.reduce((sum, next) => sum.plus(next), new Decimal(0)).toFixed(SCALE) as Amount;
}

export function subtract(from: Amount, what: Amount): Amount {
  return new Decimal(from).minus(what).toFixed(SCALE) as Amount;
}

/** -1, 0 or 1, as `a` is less than, equal to or greater than `b`. */
export function compare(a: Amount, b: Amount): -1 | 0 | 1 {
  const order = new Decimal(a).comparedTo(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

export function isLess(a: Amount, b: Amount): boolean {
  return compare(a, b) < 0;
}

export function lesserOf(a: Amount, b: Amount): Amount {
  return isLess(b, a) ? b : a;
}

export function greaterOf(a: Amount, b: Amount): Amount {
  return isLess(a, b) ? b : a;
}

/** `percentage` per cent of `base`, half up at 8 decimals only after `plus` was added (decision M1). */
export function percentOf(base: Amount, percentage: string, plus: Amount): Amount {
  return new Decimal(base)
    .times(percentage)
    .dividedBy(100)
    .plus(plus)
    .toFixed(SCALE, SharedDecimal.ROUND_HALF_UP) as Amount;
}
