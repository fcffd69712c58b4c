/**
 * Reads a provider's answer without trusting it; shared by the adapters. A member that is absent or
 * of another type reads as undefined, and the adapter then treats the answer as unknown. Below the
 * members: whether an answer is about what was asked, and pages of statements.
 */
import { isLosslessNumber } from 'lossless-json';
import { amount, type Amount, ZERO } from '../../domain/money';
import { storableText } from '../../platform/lib/storable-text';
import type {
  Checkout,
  CheckoutOrder,
  CheckoutResult,
  PayoutOrder,
  ProviderTransfer,
  StatementPage,
  SubmitResult,
} from './port';

const TEXT_LENGTH_MAX = 256;
/** An amount has no sign, because no provider documents a negative one. */
const PROVIDER_AMOUNT = /^[0-9]{1,18}(\.[0-9]{1,8})?$/;

export function readMember(from: unknown, name: string): unknown {
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, name)) return undefined;
  return (from as Record<string, unknown>)[name];
}

/** Made storable: unusual characters in an id must not keep its money from being recorded. */
export function readText(from: unknown, name: string): string | undefined {
  const value = readMember(from, name);
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX
    ? storableText(value)
    : undefined;
}

/** Null where the member is null, which differs from absent. */
export function readTextOrNull(from: unknown, name: string): string | null | undefined {
  return readMember(from, name) === null ? null : readText(from, name);
}

/** Reads only text, because a JSON number may have lost digits before it reached us. */
export function readAmount(from: unknown, name: string): Amount | undefined {
  const text = readText(from, name);
  return text !== undefined && PROVIDER_AMOUNT.test(text) ? amount(text) : undefined;
}

const URL_LENGTH_MAX = 2_048;

/** Customers are sent there, so only an http or https URL is accepted. */
export function readWebUrl(from: unknown, name: string): string | undefined {
  const value = readMember(from, name);
  if (typeof value !== 'string' || value.length > URL_LENGTH_MAX) return undefined;
  return /^https?:\/\//.test(value) && URL.canParse(value) ? value : undefined;
}

export function readFlag(from: unknown, name: string): boolean | undefined {
  const value = readMember(from, name);
  return typeof value === 'boolean' ? value : undefined;
}

/** At most three digits, as counts such as decimals have. */
export function readSmallCount(from: unknown, name: string): number | undefined {
  const value = readMember(from, name);
  if (!isLosslessNumber(value) || !/^[0-9]{1,3}$/.test(value.value)) return undefined;
  const count = value.valueOf();
  return typeof count === 'number' ? count : undefined;
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

/** Null where the member is null; otherwise what `read` returns. */
export function readOrNull<T>(
  from: unknown,
  name: string,
  read: (from: unknown, name: string) => T | undefined,
): T | null | undefined {
  return readMember(from, name) === null ? null : read(from, name);
}

/**
 * Every entry of a list; undefined when it is not a list, an entry is not understood or an id
 * repeats: money is counted by these ids.
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
 * A list of money movements. Entries of zero are left out: anybody can send a token transfer of
 * zero, and it has nothing to credit, reverse or compare.
 */
export function readMoneyList<T extends { id: string; amount: Amount }>(
  from: unknown,
  name: string,
  read: (entry: unknown) => T | undefined,
): T[] | undefined {
  return readList(from, name, read)?.filter((entry) => entry.amount !== ZERO);
}

/** The table's entry for a provider's word; undefined for an unknown word. */
export function lookUp<T>(
  table: Readonly<Record<string, T>>,
  word: string | undefined,
): T | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}

/**
 * An answer about another order leaves ours in doubt; findPayout then tells what the provider holds
 * under the reference.
 */
export function acceptIfSameOrder(order: PayoutOrder, transfer: ProviderTransfer): SubmitResult {
  const isSame =
    transfer.reference === order.reference &&
    transfer.amount === order.amount &&
    transfer.currency === order.currency;
  return isSame
    ? { kind: 'accepted', transfer }
    : { kind: 'unknown', reason: 'The provider answered about a different order.' };
}

export function foundIfSameOrder(
  order: Pick<CheckoutOrder, 'reference' | 'amount' | 'currency' | 'network'>,
  checkout: Checkout,
): CheckoutResult {
  const isSame =
    checkout.reference === order.reference &&
    checkout.amount === order.amount &&
    checkout.currency === order.currency &&
    checkout.network === order.network;
  return isSame
    ? { kind: 'found', checkout }
    : { kind: 'unknown', reason: 'The provider answered about a different checkout.' };
}

export function foundIfSameReference(
  reference: string,
  checkout: Checkout | undefined,
): CheckoutResult | undefined {
  return checkout?.reference === reference ? { kind: 'found', checkout } : undefined;
}

/** The names of the parts of a page at a provider. */
interface PageReader<Entry> {
  list: string;
  cursor: string;
  entry: (shown: unknown) => Entry | undefined;
  changedAt: (shown: unknown) => Date | undefined;
}

/**
 * Undefined when any entry is not understood: a gap in a statement would appear as a difference that
 * does not exist.
 */
export function readStatementPage<Entry extends { providerId: string }>(
  page: unknown,
  read: PageReader<Entry>,
): (StatementPage<Entry> & { kind: 'page' }) | undefined {
  const entries = readList(page, read.list, (shown) => {
    const entry = read.entry(shown);
    const changedAt = read.changedAt(shown);
    return entry === undefined || changedAt === undefined
      ? undefined
      : { id: entry.providerId, changedAt, entry };
  });
  const cursor = readOrNull(page, read.cursor, readText);
  if (entries === undefined || cursor === undefined) return undefined;
  return {
    kind: 'page',
    entries: entries.map(({ changedAt, entry }) => ({ changedAt, entry })),
    changedUntil: entries.at(-1)?.changedAt ?? null,
    cursor,
  };
}
