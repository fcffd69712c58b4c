/** Values of the file of networks. Each refusal names the field, and never a value that may be a secret. */
import { type Address, getAddress, isAddress } from 'viem';
import { type Amount, CURRENCY_PATTERN, parseRequestAmount } from '../domain/money';
import { SetupError } from '../lib/setup-error';

export function refuse(at: string, what: string): never {
  throw new SetupError(`${at} ${what}.`);
}

export function fieldsOf<Name extends string>(
  value: unknown,
  at: string,
  names: readonly Name[],
): Partial<Record<Name, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(at, 'must be a JSON object');
  }
  const unknown = Object.keys(value).find((name) => !names.some((one) => one === name));
  if (unknown !== undefined) refuse(`${at}.${unknown}`, 'is not a known field');
  return value;
}

export function list(value: unknown, at: string): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : refuse(at, 'must be a JSON array');
}

export function readText(value: unknown, at: string): string {
  return typeof value === 'string' && value !== '' ? value : refuse(at, 'must be a text');
}

export function readWhole(value: unknown, at: string, min: number, max: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
    ? value
    : refuse(at, `must be a whole number from ${String(min)} to ${String(max)}`);
}

export function readUrl(value: unknown, at: string): string {
  if (typeof value !== 'string' || !/^https?:\/\//.test(value) || !URL.canParse(value)) {
    return refuse(at, 'must be a URL starting with http:// or https://');
  }
  const { username, password } = new URL(value);
  try {
    decodeURIComponent(`${username}${password}`);
    return value;
  } catch {
    return refuse(at, 'must have a name and password that are percent-encoded: write % as %25');
  }
}

export function readAddress(value: unknown, at: string): Address {
  return typeof value === 'string' && isAddress(value)
    ? getAddress(value)
    : refuse(
        at,
        'must be an address with a valid checksum, such as "0x52908400098527886E0F7030069857D2E4169EE7"',
      );
}

export function readAsset(value: unknown, at: string): string {
  return typeof value === 'string' && new RegExp(CURRENCY_PATTERN).test(value)
    ? value
    : refuse(at, 'must be a currency code in upper case, such as "USDT"');
}

export function readPositive(value: unknown, at: string): Amount {
  const amount = typeof value === 'string' ? parseRequestAmount(value) : null;
  return (
    amount ??
    refuse(at, 'must be a positive amount as text with at most 8 decimals, such as "1000.00"')
  );
}

export function perAsset<T>(
  value: unknown,
  at: string,
  assets: readonly string[],
  read: (value: unknown, at: string) => T,
): Record<string, T> {
  const entries = Object.entries(fieldsOf(value ?? {}, at, assets));
  return Object.fromEntries(entries.map(([asset, one]) => [asset, read(one, `${at}.${asset}`)]));
}

export function refuseRepeated(values: readonly string[], at: string, field: string): void {
  const repeated = values.find((value, index) => values.indexOf(value) !== index);
  if (repeated !== undefined) refuse(at, `has ${repeated} twice; each ${field} must be unique`);
}
