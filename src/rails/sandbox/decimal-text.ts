/**
 * An amount is text, and two amounts are the same when their text is the same after padding.
 * Sums are taken in whole hundred-millionths (bigint), so nothing here ever becomes a number.
 */
const DECIMAL_TEXT = /^[0-9]{1,18}(\.[0-9]{1,8})?$/;
const DECIMALS = 8;

/** `"010.5"` → `"10.50000000"`; null for anything but a positive decimal with up to 8 decimals. */
export function normalizeAmount(value: unknown): string | null {
  const text = normalizeTransferred(value);
  return text !== null && /[1-9]/.test(text) ? text : null;
}

/** Zero too: anybody can send a token's transfer of nothing. */
export function normalizeTransferred(value: unknown): string | null {
  if (typeof value !== 'string' || !DECIMAL_TEXT.test(value)) return null;
  const [whole = '', fraction = ''] = value.split('.');
  return `${whole.replace(/^0+(?=[0-9])/, '')}.${fraction.padEnd(DECIMALS, '0')}`;
}

/** `"10.50000000"` → `"10.5"`, `"10.00000000"` → `"10"`. */
export function shortenAmount(amount: string): string {
  return amount.replace(/\.?0+$/, '');
}

/** The digits 5 to 8 after the point of a normalized amount. */
export function lastFourDecimals(amount: string): string {
  return amount.slice(-4);
}

/** `"10.50000000"` → `1050000000n`: a normalized amount in hundred-millionths. */
export function toUnits(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

export function fromUnits(units: bigint): string {
  const digits = units.toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
}

export function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, amount) => sum + toUnits(amount), 0n);
}
