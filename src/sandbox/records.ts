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
  /** Of the page before; null for the first. */
  cursor: string | null;
  limit: number;
}

export interface ChangesPage<T> {
  entries: T[];
  /** Null when this is the last page. */
  cursor: string | null;
}

interface Changed {
  id: string;
  updatedAt: string;
}

const CURSOR = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z_[0-9a-f]+$/;

/** Null when the cursor is not valid. */
export function pageOfChanges<T extends Changed>(
  all: readonly T[],
  { from, cursor, limit }: ChangesQuery,
): ChangesPage<T> | null {
  if (cursor !== null && !CURSOR.test(cursor)) return null;
  const left = all
    .filter((one) => from === null || one.updatedAt >= from)
    .filter((one) => cursor === null || placeOf(one) > cursor)
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  const entries = left.slice(0, limit);
  const last = entries.at(-1);
  return {
    entries,
    cursor: left.length > limit && last !== undefined ? placeOf(last) : null,
  };
}

function placeOf({ updatedAt, id }: Changed): string {
  return `${updatedAt}_${id}`;
}
