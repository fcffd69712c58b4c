/**
 * Reads members of a provider's answer without trusting its shape. A member that is absent or of
 * another type reads as undefined, and the adapter then does not understand the answer.
 */
import { isLosslessNumber } from 'lossless-json';
import { amount, type Amount, ZERO } from '../domain/money';
import { storableText } from '../lib/storable-text';

const TEXT_LENGTH_MAX = 256;
/** No sign: a provider that speaks of a negative transfer is not understood. */
const PROVIDER_AMOUNT = /^[0-9]{1,18}(\.[0-9]{1,8})?$/;

export function readMember(from: unknown, name: string): unknown {
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, name)) return undefined;
  return (from as Record<string, unknown>)[name];
}

/** Made storable: an odd name must not keep the money under it from being counted. */
export function readText(from: unknown, name: string): string | undefined {
  const value = readMember(from, name);
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX
    ? storableText(value)
    : undefined;
}

/** Null where the provider says null, which is not the same as saying nothing. */
export function readTextOrNull(from: unknown, name: string): string | null | undefined {
  return readMember(from, name) === null ? null : readText(from, name);
}

/** Only text: a JSON number may have lost digits before it reached us. */
export function readAmount(from: unknown, name: string): Amount | undefined {
  const text = readText(from, name);
  return text !== undefined && PROVIDER_AMOUNT.test(text) ? amount(text) : undefined;
}

const URL_LENGTH_MAX = 2_048;

/** Customers are sent there, so nothing but a web address will do. */
export function readWebAddress(from: unknown, name: string): string | undefined {
  const value = readMember(from, name);
  if (typeof value !== 'string' || value.length > URL_LENGTH_MAX) return undefined;
  return /^https?:\/\//.test(value) && URL.canParse(value) ? value : undefined;
}

export function readFlag(from: unknown, name: string): boolean | undefined {
  const value = readMember(from, name);
  return typeof value === 'boolean' ? value : undefined;
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

export function readIsoTime(from: unknown, name: string): Date | undefined {
  const text = readText(from, name);
  return text !== undefined && ISO_TIME.test(text) ? validTime(new Date(text)) : undefined;
}

/** Milliseconds since 1970 as a JSON number. */
export function readUnixTimeMs(from: unknown, name: string): Date | undefined {
  const value = readMember(from, name);
  if (!isLosslessNumber(value) || !/^[0-9]{1,15}$/.test(value.value)) return undefined;
  const unixTimeMs = value.valueOf();
  return typeof unixTimeMs === 'number' ? validTime(new Date(unixTimeMs)) : undefined;
}

function validTime(time: Date): Date | undefined {
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Null where the provider says null; `read` reads everything else. */
export function readOrNull<T>(
  from: unknown,
  name: string,
  read: (from: unknown, name: string) => T | undefined,
): T | null | undefined {
  return readMember(from, name) === null ? null : read(from, name);
}

/**
 * Every entry of a list, or undefined when it is no list, one entry is not understood, or one id
 * comes twice: money is counted by these ids.
 */
export function readList<T extends { id: string }>(
  from: unknown,
  name: string,
  read: (entry: unknown) => T | undefined,
): T[] | undefined {
  const value = readMember(from, name);
  if (!Array.isArray(value)) return undefined;
  const entries = value.map(read);
  if (!entries.every((entry) => entry !== undefined)) return undefined;
  return new Set(entries.map(({ id }) => id)).size === entries.length ? entries : undefined;
}

/**
 * A list of what moved. Entries of nothing are left out: anybody can send a token's transfer of
 * zero, and there is nothing in it to credit, to take back or to compare.
 */
export function readMoneyList<T extends { id: string; amount: Amount }>(
  from: unknown,
  name: string,
  read: (entry: unknown) => T | undefined,
): T[] | undefined {
  return readList(from, name, read)?.filter((entry) => entry.amount !== ZERO);
}

/** The table's entry for a provider's word; undefined for a word that it does not have. */
export function lookUp<T>(
  table: Readonly<Record<string, T>>,
  word: string | undefined,
): T | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}
