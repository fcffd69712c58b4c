/** Amounts as whole numbers of the smallest unit: what decimal text must agree with. */
import fc from 'fast-check';
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
