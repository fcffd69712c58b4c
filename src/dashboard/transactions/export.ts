/** The transactions as a file: read in pages and sent as fast as the client reads. */
import type { MerchantTransaction } from '../../domain/ledger';
import { csvLine } from '../../lib/csv';
import { presentTransaction } from '../../presenters/balance';
import type { ListPosition } from '../../services/services';

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

/** RFC 4180, one line for each entry. */
export async function* csvLines(read: ReadPage): AsyncGenerator<string> {
  let head = `${COLUMNS.join(',')}\r\n`;
  for await (const items of pagesOf(read)) {
    yield head + items.map(csvOf).join('');
    head = '';
  }
  if (head !== '') yield head;
}

export async function* jsonLines(read: ReadPage): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const items of pagesOf(read)) {
    yield items
      .map((transaction) => {
        const line = separator + JSON.stringify(withParts(transaction));
        separator = ',\n';
        return line;
      })
      .join('');
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
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

function csvOf(transaction: MerchantTransaction): string {
  const { id, postedAt, type, currency, description, source, entries } = transaction;
  return entries
    .map(({ balance, direction, amount, balanceAfter, part }) => {
      const head = [id, postedAt.toISOString(), type, currency, balance, direction, amount];
      const all = [...head, balanceAfter, description, source.object, source.id, part];
      return csvLine(all);
    })
    .join('');
}
