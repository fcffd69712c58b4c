/**
 * What transfers and checkouts have in common in the book: their key, and how both providers list
 * what changed, page by page, the oldest change first. An entry that changes while the list is
 * read appears again at the end; nothing is skipped.
 */
import type { BookMode, ProviderName } from './config';

/** One client reference in one provider's book of one mode. */
export interface ReferenceKey {
  provider: ProviderName;
  mode: BookMode;
  reference: string;
}

export function nameOf({ provider, mode, reference }: ReferenceKey): string {
  return `${provider}/${mode}/${reference}`;
}

export interface ChangesQuery {
  /** ISO 8601: earlier changes are left out. */
  from: string | null;
  /** The last entry of the page before; null for the first page. */
  after: Changed | null;
  limit: number;
}

interface Changed {
  id: string;
  updatedAt: string;
}

/** The oldest change first. */
export function listChanges<T extends Changed>(
  all: readonly T[],
  { from, after, limit }: ChangesQuery,
): T[] {
  return all
    .filter((one) => from === null || one.updatedAt >= from)
    .filter((one) => after === null || placeOf(one) > placeOf(after))
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .slice(0, limit);
}

export function placeOf({ updatedAt, id }: Changed): string {
  return `${updatedAt}_${id}`;
}
