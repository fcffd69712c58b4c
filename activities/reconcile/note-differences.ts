/**
 * Compares the copy of the providers' books with ours. Each difference becomes an exception, once,
 * and nothing else: no money moves, and no status changes (decision O7).
 */
import { findNewDifferences } from '../../src/db/ledger-verify';
import { noteException } from '../../src/db/repositories/exceptions';
import {
  databaseTime,
  listMissing,
  storeEntries,
  type MissingEntry,
  type ProviderEntry,
} from '../../src/db/repositories/provider-books';
import type { Db } from '../../src/db/transaction';
import type { Provider } from '../../src/providers/port';
import { checkoutEntries, payoutEntries, type BooksDeps } from './read-books';

/** One call to a provider each. */
const MOST_ASKED = 100;

/** When everything is wrong, the first thousand say so. */
const MOST_NOTED = 1_000;

/**
 * A list may leave something out. What we count as done, and the list does not show, is asked for
 * by its reference before anybody is accused.
 */
export async function askForMissing({ db, providers }: BooksDeps): Promise<{ asked: number }> {
  const missing = await listMissing(db, MOST_ASKED);
  for (const one of missing) {
    const provider = providers.list(one.mode).find(({ code }) => code === one.provider);
    if (provider === undefined) continue;
    const readAt = await databaseTime(db);
    const entries = await ask(provider, one, readAt);
    if (entries !== null) await storeEntries(db, one, readAt, entries);
  }
  return { asked: missing.length };
}

/** Null when the provider gives no answer. */
async function ask(
  provider: Provider,
  missing: MissingEntry,
  askedAt: Date,
): Promise<ProviderEntry[] | null> {
  const { kind, reference, id, amount, currency } = missing;
  const found =
    kind === 'payout'
      ? await findPayout(provider, reference, askedAt)
      : await findCheckout(provider, reference, askedAt);
  if (found === null) return null;
  if (found.some((entry) => entry.kind === kind && (kind === 'payout' || entry.id === id)))
    return found;
  const absent = {
    kind,
    reference,
    id,
    amount,
    currency,
    held: false,
    changedAt: askedAt,
  } as const;
  return [...found, { ...absent, state: 'void' }];
}

async function findPayout(provider: Provider, reference: string, askedAt: Date) {
  const found = await provider.findPayout(reference);
  if (found.kind === 'unknown') return null;
  return found.kind === 'found' ? payoutEntries(found.transfer, askedAt) : [];
}

async function findCheckout(provider: Provider, reference: string, askedAt: Date) {
  const found = await provider.findCheckout(reference);
  if (found.kind === 'found') return checkoutEntries(found.checkout, askedAt);
  return found.kind === 'not_found' ? [] : null;
}

export async function noteDifferences(db: Db): Promise<{ noted: number }> {
  const differences = await findNewDifferences(db, MOST_NOTED);
  for (const { kind, objectId, details } of differences) {
    await noteException(db, kind, objectId, details);
  }
  return { noted: differences.length };
}
