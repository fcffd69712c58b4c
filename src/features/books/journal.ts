/**
 * The journal: the ledger in the words of an accounting program, one balanced journal for each day and currency
 * (decisions/books#exports). Xero takes at most 300 lines a file, so that a month of one currency fits.
 * Columns: Xero, "Enter multiple manual journals using an import template"; QuickBooks Online, "Import journal
 * entries".
 */
import type { ExportedPosting } from '../../db/books/exports';
import {
  type Bookkeeping,
  decimalsOf,
  isPlainText,
  type JournalAccount,
  journalAccountOf,
  type JournalFormat,
  namesOf,
  type PlainTextFormat,
} from '../../domain/bookkeeping';
import { add, type Amount, isLess, roundTo, subtract, ZERO } from '../../domain/money';
import { csvFile, jsonArray } from '../../platform/lib/download';
import { localDay } from '../../platform/lib/local-time';
import { type PlainEntry, plainTextFile } from './journal-text';

export interface PostingPage {
  currency: string;
  postings: ExportedPosting[];
  /** The balance before the first posting; the reader of the rows adds each posting to it. */
  held: { available: Amount; reserved: Amount };
}

/** One account of one day's journal. Exactly one of the amounts is not zero. */
interface JournalLine {
  day: string;
  currency: string;
  account: JournalAccount;
  debit: Amount;
  credit: Amount;
}

export function journalFile(
  pages: AsyncGenerator<PostingPage>,
  books: Bookkeeping,
  format: JournalFormat,
): AsyncGenerator<string> {
  const days = writtenLines(pages, books, decimalsOf(format));
  if (format === 'json') return jsonArray(objectsOf(days));
  if (isPlainText(format)) return plainTextFile(entriesOf(days), format);
  const sheet = SHEETS[format];
  return csvFile(sheet.columns, rowsOf(days, sheet));
}

/** The lines of each day that has postings, with the account's own names. */
async function* writtenLines(
  pages: AsyncGenerator<PostingPage>,
  books: Bookkeeping,
  decimals: number | null,
): AsyncGenerator<Written[]> {
  const names = namesOf(books);
  const { taxRate } = books;
  for await (const lines of journals(pages, books.timeZone)) {
    if (lines.length === 0) continue;
    const kept = decimals === null ? lines : rounded(lines, decimals);
    yield kept.map((line) => ({
      ...line,
      of: line.account,
      account: names[line.account],
      taxRate,
    }));
  }
}

async function* rowsOf(days: AsyncIterable<Written[]>, { cells }: Sheet) {
  for await (const lines of days) yield lines.map(cells);
}

async function* objectsOf(days: AsyncIterable<Written[]>) {
  for await (const lines of days) {
    yield lines.map((line) => ({
      date: line.day,
      journal: journalNumber(line),
      account: line.account,
      currency: line.currency,
      debit: line.debit,
      credit: line.credit,
      description: text(line),
    }));
  }
}

async function* entriesOf(days: AsyncIterable<Written[]>): AsyncGenerator<PlainEntry> {
  for await (const lines of days) {
    const [first] = lines as [Written];
    const { day, currency } = first;
    yield { day, currency, number: journalNumber(first), text: text(first), lines };
  }
}

/** The lines of each day. The days of a currency follow each other. */
async function* journals(
  pages: AsyncGenerator<PostingPage>,
  zone: string,
): AsyncGenerator<JournalLine[]> {
  let day = '';
  let currency = '';
  let sums = new Map<JournalAccount, Amount>();
  for await (const page of pages) {
    for (const { postedAt, type, lines } of page.postings) {
      const posted = localDay(postedAt, zone);
      if (posted !== day || page.currency !== currency) {
        yield linesOf(sums, day, currency);
        [day, currency] = [posted, page.currency];
        sums = new Map();
      }
      for (const { account, direction, amount } of lines) {
        const name = journalAccountOf(type, account);
        const sum = sums.get(name) ?? ZERO;
        sums.set(name, direction === 'in' ? add(sum, amount) : subtract(sum, amount));
      }
    }
  }
  yield linesOf(sums, day, currency);
}

function linesOf(
  sums: ReadonlyMap<JournalAccount, Amount>,
  day: string,
  currency: string,
): JournalLine[] {
  return [...sums]
    .filter(([, sum]) => sum !== ZERO)
    .map(([account, sum]) =>
      isLess(sum, ZERO)
        ? { day, currency, account, debit: ZERO, credit: subtract(ZERO, sum) }
        : { day, currency, account, debit: sum, credit: ZERO },
    );
}

/**
 * A day's lines for a program that keeps fewer decimals. Each line is rounded by itself, and one more line
 * has the difference: without it, the program would refuse the day, or keep one that does not balance.
 */
function rounded(lines: readonly JournalLine[], decimals: number): JournalLine[] {
  const sums = new Map(
    lines.map(({ account, debit, credit }) => [
      account,
      roundTo(decimals, subtract(debit, credit)),
    ]),
  );
  const apart = add(ZERO, ...sums.values());
  const [{ day, currency }] = lines as [JournalLine];
  return linesOf(sums.set('rounding', subtract(ZERO, apart)), day, currency);
}

type Written = Omit<JournalLine, 'account'> & {
  of: JournalAccount;
  account: string;
  taxRate: string;
};

interface Sheet {
  columns: readonly string[];
  cells: (line: Written) => string[];
}

const filled = (amount: Amount) => (amount === ZERO ? '' : amount);
/** `2026-11-25` as `25/11/2026`. */
const dayFirst = (day: string) => day.split('-').reverse().join('/');
/** `2026-11-25` as `11/25/2026`. */
const monthFirst = (day: string) => day.replace(/(\d+)-(\d+)-(\d+)/, '$2/$3/$1');
const journalNumber = ({ day, currency }: Written) => `${day}-${currency}`;
const text = ({ currency, day }: Written) => `${currency} balance, ${day}`;

const SHEETS: Readonly<Record<Exclude<JournalFormat, 'json' | PlainTextFormat>, Sheet>> = {
  csv: {
    columns: ['date', 'journal', 'account', 'currency', 'debit', 'credit', 'description'],
    cells: (line) => {
      const head = [line.day, journalNumber(line), line.account, line.currency];
      return [...head, filled(line.debit), filled(line.credit), text(line)];
    },
  },
  xero: {
    columns: [
      '*Narration',
      '*Date',
      'Description',
      '*AccountCode',
      '*TaxRate',
      '*Amount',
      'TrackingName1',
      'TrackingOption1',
      'TrackingName2',
      'TrackingOption2',
    ],
    cells: (line) => {
      const head = [text(line), dayFirst(line.day), journalNumber(line), line.account];
      return [...head, line.taxRate, subtract(line.debit, line.credit), '', '', '', ''];
    },
  },
  quickbooks: {
    columns: [
      'Journal No.',
      'Journal Date',
      'Account Name',
      'Debits',
      'Credits',
      'Description',
      'Currency',
    ],
    cells: (line) => {
      const head = [journalNumber(line), monthFirst(line.day), line.account];
      return [...head, filled(line.debit), filled(line.credit), text(line), line.currency];
    },
  },
};
