/**
 * Amounts of the gateway, with 8 decimals, and units of a chain: wei, or the smallest part of a
 * token. Only bigint calculations, so nothing is rounded unless it is said.
 */
import { amount, type Amount } from '../../domain/money';

const AMOUNT_DECIMALS = 8;
export const NATIVE_DECIMALS = 18;

/** Null when the amount has more decimals than the token. */
export function unitsOf(of: Amount, decimals: number): bigint | null {
  const parts = BigInt(of.replace('.', ''));
  if (decimals >= AMOUNT_DECIMALS) return parts * 10n ** BigInt(decimals - AMOUNT_DECIMALS);
  const part = 10n ** BigInt(AMOUNT_DECIMALS - decimals);
  return parts % part === 0n ? parts / part : null;
}

/** It is rounded down to 8 decimals, so nobody is credited with more than what came. */
export function amountOf(units: bigint, decimals: number): Amount {
  const parts =
    decimals >= AMOUNT_DECIMALS
      ? units / 10n ** BigInt(decimals - AMOUNT_DECIMALS)
      : units * 10n ** BigInt(AMOUNT_DECIMALS - decimals);
  const text = parts.toString().padStart(AMOUNT_DECIMALS + 1, '0');
  return amount(`${text.slice(0, -AMOUNT_DECIMALS)}.${text.slice(-AMOUNT_DECIMALS)}`);
}
