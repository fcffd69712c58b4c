/**
 * The journal: the ledger in the words of an accounting program, one balanced journal for each day and currency
 * (decisions/exports). Xero takes at most 300 lines a file, so that a month of one currency fits.
 * Columns: Xero, "Enter multiple manual journals using an import template"; QuickBooks Online, "Import journal
 * entries".
 */
import type { ExportedPosting } from '../db/repositories/exports';
import {
  type Bookkeeping,
  type ExportFormat,
  type JournalAccount,
  journalAccountOf,
  namesOf,
} from '../domain/bookkeeping';
import { add, type Amount, isLess, subtract, ZERO } from '../domain/money';
import { csvLine } from '../lib/csv';
import { localTime } from '../lib/local-time';

export interface PostingPage {
  currency: string;
  postings: ExportedPosting[];
  /** Before the first of them; the reader of the rows carries it on. */
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

export async function* journalFile(
  pages: AsyncGenerator<PostingPage>,
  books: Bookkeeping,
  format: ExportFormat,
): AsyncGenerator<string> {
  const write = FORMATS[format];
  const names = namesOf(books);
  let text = write.head;
  let count = 0;
  for await (const lines of journals(pages, books.timeZone)) {
    for (const line of lines) {
      text += write.line({ ...line, account: names[line.account], taxRate: books.taxRate }, count);
      count += 1;
    }
    if (lines.length > 0) {
      yield text;
      text = '';
    }
  }
  yield text + write.end;
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
      const posted = localTime(postedAt, zone).day;
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

type Written = Omit<JournalLine, 'account'> & { account: string; taxRate: string };

interface Format {
  head: string;
  line: (line: Written, index: number) => string;
  end: string;
}

const filled = (amount: Amount) => (amount === ZERO ? '' : amount);
/** `2026-11-25` as `25/11/2026`. */
const dayFirst = (day: string) => day.split('-').reverse().join('/');
/** `2026-11-25` as `11/25/2026`. */
const monthFirst = (day: string) => day.replace(/(\d+)-(\d+)-(\d+)/, '$2/$3/$1');
const journalNumber = ({ day, currency }: Written) => `${day}-${currency}`;
const text = ({ currency, day }: Written) => `${currency} balance, ${day}`;

const FORMATS: Readonly<Record<ExportFormat, Format>> = {
  csv: {
    head: csvLine(['date', 'journal', 'account', 'currency', 'debit', 'credit', 'description']),
    line: (line) =>
      csvLine([
        line.day,
        journalNumber(line),
        line.account,
        line.currency,
        filled(line.debit),
        filled(line.credit),
        text(line),
      ]),
    end: '',
  },
  json: {
    head: '[',
    line: (line, index) =>
      (index === 0 ? '\n' : ',\n') +
      JSON.stringify({
        date: line.day,
        journal: journalNumber(line),
        account: line.account,
        currency: line.currency,
        debit: line.debit,
        credit: line.credit,
        description: text(line),
      }),
    end: '\n]\n',
  },
  xero: {
    head: csvLine([
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
    ]),
    line: (line) => {
      const amount = subtract(line.debit, line.credit);
      const tracking = ['', '', '', ''];
      const head = [text(line), dayFirst(line.day), journalNumber(line), line.account];
      return csvLine([...head, line.taxRate, amount, ...tracking]);
    },
    end: '',
  },
  quickbooks: {
    head: csvLine([
      'Journal No.',
      'Journal Date',
      'Account Name',
      'Debits',
      'Credits',
      'Description',
      'Currency',
    ]),
    line: (line) =>
      csvLine([
        journalNumber(line),
        monthFirst(line.day),
        line.account,
        filled(line.debit),
        filled(line.credit),
        text(line),
        line.currency,
      ]),
    end: '',
  },
};
