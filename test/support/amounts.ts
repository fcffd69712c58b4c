/** Amounts as whole numbers of the smallest unit: what decimal text must agree with. */
import fc from 'fast-check';
import type { Direction, FeeTerms } from '../../src/domain/fees';
import type { Amount } from '../../src/domain/money';

const UNITS_PER_ONE = 100_000_000n;
/** numeric(38,8) holds 38 digits. */
export const MOST_UNITS = 10n ** 38n - 1n;

/** Written digit by digit, so that it shares nothing with the code it checks. */
export function fromUnits(units: bigint): Amount {
  const digits = (units < 0n ? -units : units).toString().padStart(9, '0');
  const text = `${digits.slice(0, -8)}.${digits.slice(-8)}`;
  return (units < 0n ? `-${text}` : text) as Amount;
}

export function toUnits(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const units = BigInt(whole) * UNITS_PER_ONE + BigInt(fraction.padEnd(8, '0'));
  return text.startsWith('-') ? -units : units;
}

/** Amounts of every size: small ones are as likely as those of 38 digits. */
export function anyUnits({ min = 0n, max = MOST_UNITS } = {}): fc.Arbitrary<bigint> {
  const ceilings = [1n, 10n, 10n ** 8n, 10n ** 12n, 10n ** 26n].filter((top) => top < max);
  return fc.oneof(
    ...[...ceilings, max].map((top) => fc.bigInt({ min, max: top > min ? top : max })),
  );
}

/** Terms of a fee in whole numbers. */
export interface WholeTerms {
  /** Ten-thousandths of a per cent: 1_000_000 is 100 %. */
  percentage: number;
  fixed: bigint;
  min: bigint | null;
  max: bigint | null;
}

export function feeTerms({ percentage, fixed, min, max }: WholeTerms): FeeTerms {
  const decimals = String(percentage % 10_000).padStart(4, '0');
  return {
    percentage: `${Math.floor(percentage / 10_000)}.${decimals}`,
    fixedAmount: fromUnits(fixed),
    minFee: min === null ? null : fromUnits(min),
    maxFee: max === null ? null : fromUnits(max),
  };
}

/** The fee by the decision's words (decisions/money#service-fees), in whole numbers and without the gateway's code. */
export function wholeFee(direction: Direction, base: bigint, terms: WholeTerms): bigint {
  const { percentage, fixed, min, max } = terms;
  // In millionths of the smallest unit; adding half of one rounds half up.
  let fee = (base * BigInt(percentage) + fixed * 1_000_000n + 500_000n) / 1_000_000n;
  if (min !== null && fee < min) fee = min;
  if (max !== null && fee > max) fee = max;
  return direction === 'payin' && fee > base ? base : fee;
}
