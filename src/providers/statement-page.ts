/** Reads a page of a provider's statements; shared by the adapters. */
import { readList, readOrNull, readText } from './answer-members';
import type { StatementPage } from './port';

/** What one provider calls the parts of a page. */
interface PageReader<Entry> {
  list: string;
  cursor: string;
  entry: (shown: unknown) => Entry | undefined;
  changedAt: (shown: unknown) => Date | undefined;
}

/**
 * Undefined when any entry is not understood: a statement with a gap would accuse us, or the provider,
 * of what only we could not read.
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
    cursor,
  };
}
