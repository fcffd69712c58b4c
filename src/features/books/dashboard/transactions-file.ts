/** The transactions as a file: read in pages and sent as fast as the client reads. */
import type { MerchantTransaction } from '../../../domain/ledger';
import { csvFile, jsonArray } from '../../../platform/lib/download';
import { presentTransaction } from '../balance';
import type { ListPosition } from '../../../kit/service/services';

type ReadPage = (after: ListPosition | null) => Promise<{
  items: MerchantTransaction[];
  next: ListPosition | null;
}>;

/** Transactions of one statement of SQL. */
export const EXPORT_PAGE = 1_000;

const COLUMNS = [
  'id',
  'posted_at',
  'type',
  'currency',
  'balance',
  'direction',
  'amount',
  'balance_after',
  'description',
  'source',
  'source_id',
  'part',
] as const;

/** One line for each entry. */
export function csvLines(read: ReadPage): AsyncGenerator<string> {
  return csvFile(COLUMNS, entryRows(read));
}

async function* entryRows(read: ReadPage) {
  for await (const items of pagesOf(read)) yield items.flatMap(rowsOf);
}

export function jsonLines(read: ReadPage): AsyncGenerator<string> {
  return jsonArray(presented(read));
}

async function* presented(read: ReadPage) {
  for await (const items of pagesOf(read)) yield items.map(withParts);
}

/** The transaction as the API shows it, with the label of each entry. */
function withParts(transaction: MerchantTransaction) {
  const shown = presentTransaction(transaction);
  const parts = transaction.entries.map(({ part }) => part);
  return {
    ...shown,
    entries: shown.entries.map((entry, index) => ({ ...entry, part: parts[index] })),
  };
}

async function* pagesOf(read: ReadPage): AsyncGenerator<MerchantTransaction[]> {
  let after: ListPosition | null = null;
  do {
    const { items, next }: Awaited<ReturnType<ReadPage>> = await read(after);
    if (items.length > 0) yield items;
    after = next;
  } while (after !== null);
}

function rowsOf(transaction: MerchantTransaction): string[][] {
  const { id, postedAt, type, currency, description, source, entries } = transaction;
  return entries.map(({ balance, direction, amount, balanceAfter, part }) => {
    const head = [id, postedAt.toISOString(), type, currency, balance, direction, amount];
    return [...head, balanceAfter, description, source.object, source.id, part];
  });
}
