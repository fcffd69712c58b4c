/** One search over everything that operators look for (decisions/pages#console-search). */
import { type Found, findById, findText, FOUND_MAX } from '../../db/operations/console-search';
import type { Db } from '../../db/transaction';
import { spellingsOf } from '../../adapters/destinations/canonical';
import { ID_PREFIXES, type IdKind, kindOfId } from '../../domain/ids';

export type { Found } from '../../db/operations/console-search';

export interface FoundKind {
  kind: IdKind;
  found: Found[];
  /** Whether there are more objects than these. */
  isCut: boolean;
}

export interface SearchResult {
  kinds: FoundKind[];
  /** The one object that the text names in full; null means none, or several. */
  exact: Found | null;
}

/** A shorter text would be the beginning of too many references. */
export const SEARCH_LENGTH_MIN = 2;

export async function searchAll(db: Db, text: string): Promise<SearchResult> {
  const kind = kindOfId(text);
  const byId = kind === null ? [] : await findById(db, kind, text);
  const all = byId.length > 0 ? byId : await findText(db, { text, addresses: spellingsOf(text) });
  const found = [...new Map(all.map((one) => [one.id, one])).values()];
  const exact = found.filter(({ isExact }) => isExact);
  return { kinds: byKind(found), exact: exact.length === 1 ? (exact[0] ?? null) : null };
}

const KINDS = Object.keys(ID_PREFIXES) as IdKind[];

function byKind(all: readonly Found[]): FoundKind[] {
  return KINDS.flatMap((kind) => {
    const ofKind = all.filter((one) => one.kind === kind);
    const [exact, others] = [true, false].map((is) => ofKind.filter((one) => one.isExact === is));
    const found = [...(exact ?? []), ...(others ?? [])];
    if (found.length === 0) return [];
    return [{ kind, found: found.slice(0, FOUND_MAX), isCut: found.length > FOUND_MAX }];
  });
}
