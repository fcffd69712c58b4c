/**
 * The exports for finance, by API and dashboard (decisions/books#exports): read in pages and sent as fast
 * as the client reads. Amounts are exact. `gross − service_fee − network_fee = net` in every file, net is
 * the change of the balance, and the sum of a file's nets is the sum of its postings.
 */
import { EXPORTED, type ExportPeriod, readObjects, readPostings } from '../../db/books/exports';
import { listBalances } from '../../db/ledger/ledger';
import { balanceAfter, countPostings } from '../../db/books/statements';
import type { Reader } from '../../db/transaction';
import type { Bookkeeping, ExportFormat, ExportKind } from '../../domain/bookkeeping';
import type { StoredLine } from '../../domain/ledger';
import { add, type Amount, subtract, ZERO } from '../../domain/money';
import { csvFile, jsonArray } from '../../platform/lib/download';
import { localDay, localTime } from '../../platform/lib/local-time';
import { camt053File } from './camt053';
import { journalFile, type PostingPage } from './journal';

export interface ExportRequest extends ExportPeriod {
  kind: ExportKind;
  format: ExportFormat;
}

export interface ExportFile {
  name: string;
  type: string;
  content: AsyncGenerator<string>;
}

const CSV = { ending: 'csv', type: 'text/csv' };
const FILES: Readonly<Record<ExportFormat, { ending: string; type: string }>> = {
  csv: CSV,
  xero: CSV,
  quickbooks: CSV,
  json: { ending: 'json', type: 'application/json' },
  beancount: { ending: 'beancount', type: 'text/plain' },
  hledger: { ending: 'journal', type: 'text/plain' },
  camt053: { ending: 'xml', type: 'application/xml' },
};

/** A cell, as text; null means empty. */
type Cells = readonly (string | null)[];

/** The rows of a file, one cell for each column. The columns that end with `_at` have times in UTC. */
interface Sheet {
  columns: readonly string[];
  pages: AsyncGenerator<Cells[]>;
}

/** @param db as the account sees it */
export function exportFile(db: Reader, books: Bookkeeping, request: ExportRequest): ExportFile {
  const { kind, format, mode } = request;
  const suffix = format === 'csv' || format === 'json' ? '' : `-${format}`;
  const { ending, type } = FILES[format];
  return {
    name: `${kind}${suffix}-${mode}-${periodName(request, books)}.${ending}`,
    type: `${type}; charset=utf-8`,
    content: contentOf(db, request, books),
  };
}

function contentOf(db: Reader, request: ExportRequest, books: Bookkeeping): AsyncGenerator<string> {
  const { kind, format } = request;
  if (format === 'camt053') return statementFile(db, request);
  if (kind === 'journal') return journalFile(postingsOf(db, request), books, format);
  const sheet = sheetOf(db, request, kind);
  if (format === 'json') return jsonArray(objectsOf(sheet));
  return csvFile([...sheet.columns, 'utc_offset'], localRows(sheet, books.timeZone));
}

function sheetOf(db: Reader, request: ExportRequest, kind: Exclude<ExportKind, 'journal'>): Sheet {
  if (kind === 'transactions' || kind === 'fees') {
    const columns = kind === 'fees' ? FEE_COLUMNS : TRANSACTION_COLUMNS;
    return { columns, pages: postingRows(db, request, kind) };
  }
  const columns = Object.keys(EXPORTED[kind].columns);
  return { columns, pages: readObjects(db, kind, request) };
}

async function* localRows({ columns, pages }: Sheet, zone: string) {
  const isTime = columns.map((name) => name.endsWith('_at'));
  for await (const rows of pages) yield rows.map((row) => localCells(row, isTime, zone));
}

/** The cells with times in the zone of the account, and the offset of the first time in the last cell. */
function localCells(row: Cells, isTime: readonly boolean[], zone: string): string[] {
  let offset = '';
  const cells = row.map((cell, index) => {
    if (cell === null || isTime[index] !== true) return cell ?? '';
    const local = localTime(new Date(cell), zone);
    if (offset === '') offset = local.offset;
    return local.time;
  });
  return [...cells, offset];
}

async function* objectsOf({ columns, pages }: Sheet) {
  for await (const rows of pages) {
    yield rows.map((row) =>
      Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])),
    );
  }
}

const HEAD = ['id', 'posted_at', 'type', 'source_id', 'reference', 'counterparty', 'network'];
const MONEY = ['tx_hash', 'currency', 'gross', 'service_fee', 'network_fee', 'net'];
const FEE_COLUMNS = [...HEAD, ...MONEY.filter((name) => name !== 'gross' && name !== 'net')];
const TRANSACTION_COLUMNS = [
  ...HEAD,
  ...MONEY,
  'available_after',
  'reserved_after',
  'balance_after',
  'description',
];

async function* postingRows(
  db: Reader,
  request: ExportRequest,
  kind: 'transactions' | 'fees',
): AsyncGenerator<Cells[]> {
  for await (const { currency, postings, held } of postingsOf(db, request)) {
    const rows = postings.map((posting) => {
      const { lines } = posting;
      for (const { account, balanceAfter: after } of lines) {
        if (after !== null && (account === 'available' || account === 'reserved')) {
          held[account] = after;
        }
      }
      const { gross, serviceFee, networkFee } = partsOf(lines);
      const head = [posting.id, posting.postedAt.toISOString(), posting.type, posting.sourceId];
      const who = [posting.reference, posting.counterparty, posting.network, posting.txHash];
      if (kind === 'fees') return [...head, ...who, currency, serviceFee, networkFee];
      const net = subtract(gross, add(serviceFee, networkFee));
      const after = [held.available, held.reserved, add(held.available, held.reserved)];
      const money = [currency, gross, serviceFee, networkFee, net, ...after];
      return [...head, ...who, ...money, posting.description];
    });
    // A transaction without a fee is not a line of the fees.
    const fees = [FEE_COLUMNS.indexOf('service_fee'), FEE_COLUMNS.indexOf('network_fee')];
    yield kind === 'fees'
      ? rows.filter((row) => fees.some((column) => row[column] !== ZERO))
      : rows;
  }
}

/** The amounts of a posting as the merchant sees them; an amount that came in is positive. */
function partsOf(lines: readonly StoredLine[]) {
  const out = (account: StoredLine['account']) => negative(net(lines, account));
  return {
    gross: add(out('provider_clearing'), out('adjustments')),
    serviceFee: net(lines, 'fee_income'),
    networkFee: net(lines, 'network_cost'),
  };
}

function net(lines: readonly StoredLine[], account: StoredLine['account']): Amount {
  return lines
    .filter((line) => line.account === account)
    .reduce<Amount>(
      (sum, { direction, amount }) =>
        direction === 'in' ? add(sum, amount) : subtract(sum, amount),
      ZERO,
    );
}

function negative(amount: Amount): Amount {
  return subtract(ZERO, amount);
}

/** The postings of the period, currency by currency. */
async function* postingsOf(
  db: Reader,
  { accountId, mode, currency: wanted, createdFrom, createdTo }: ExportPeriod,
): AsyncGenerator<PostingPage> {
  for (const { currency } of await listBalances(db, accountId, mode)) {
    if (wanted !== undefined && currency !== wanted) continue;
    const key = { accountId, mode, currency };
    const first =
      createdFrom === undefined ? 0 : await countPostings(db, key, new Date(createdFrom));
    const last = await countPostings(db, key, after(createdTo));
    const held = {
      available: await balanceAfter(db, key, 'available', first),
      reserved: await balanceAfter(db, key, 'reserved', first),
    };
    for await (const postings of readPostings(db, key, first, last)) {
      yield { currency, postings, held };
    }
  }
}

async function* statementFile(db: Reader, request: ExportRequest): AsyncGenerator<string> {
  const { accountId, mode, currency = '', createdFrom, createdTo } = request;
  const key = { accountId, mode, currency };
  const to = after(createdTo);
  const from = new Date(createdFrom ?? 0);
  const [first, last] = [await countPostings(db, key, from), await countPostings(db, key, to)];
  const heldAfter = async (postings: number) =>
    add(
      await balanceAfter(db, key, 'available', postings),
      await balanceAfter(db, key, 'reserved', postings),
    );
  const opening = await heldAfter(first);
  const closing = await heldAfter(last);
  const id = `${currency}-${mode}-${first}-${last}`;
  const name = `${currency}, ${mode} mode`;
  const statement = { id, accountId, name, currency, from, to, opening, closing };
  yield* camt053File(statement, readPostings(db, key, first, last));
}

/** The millisecond after the last moment of a period. */
function after(createdTo: string | undefined): Date {
  return createdTo === undefined ? new Date() : new Date(new Date(createdTo).getTime() + 1);
}

function periodName({ createdFrom, createdTo }: ExportPeriod, { timeZone }: Bookkeeping): string {
  const day = (at: Date) => localDay(at, timeZone);
  const last = day(createdTo === undefined ? new Date() : new Date(createdTo));
  return createdFrom === undefined ? `until-${last}` : `${day(new Date(createdFrom))}-to-${last}`;
}
