/**
 * The journal as plain-text accounting keeps it: Beancount ("Language Syntax") and hledger ("Journal format"). They keep every
 * decimal, so nothing is rounded.
 */
import { type JournalAccount, type PlainTextFormat, rootOf } from '../../domain/bookkeeping';
import { type Amount, subtract } from '../../domain/money';

/** One journal: an account and its amount on each line. */
export interface PlainEntry {
  day: string;
  number: string;
  text: string;
  currency: string;
  lines: readonly { of: JournalAccount; account: string; debit: Amount; credit: Amount }[];
}

const FORMATS: Readonly<
  Record<
    PlainTextFormat,
    { head: string; title: (entry: PlainEntry) => string; commodity: (currency: string) => string }
  >
> = {
  beancount: {
    // Opens the accounts of this file when it is read alone; a book that includes it opens its own.
    head: 'plugin "beancount.plugins.auto_accounts"\n',
    title: ({ day, text, number }) => `${day} * "${text}" ^${number}`,
    // A commodity begins with a letter.
    commodity: (currency) => (/^[0-9]/.test(currency) ? `X${currency}` : currency),
  },
  hledger: {
    head: 'decimal-mark .\n',
    title: ({ day, text, number }) => `${day} * (${number}) ${text}`,
    commodity: (currency) => (/[0-9]/.test(currency) ? `"${currency}"` : currency),
  },
};

export async function* plainTextFile(
  entries: AsyncIterable<PlainEntry>,
  format: PlainTextFormat,
): AsyncGenerator<string> {
  const { head, title, commodity } = FORMATS[format];
  yield head;
  for await (const entry of entries) {
    const lines = entry.lines.map(
      ({ of, account, debit, credit }) =>
        `  ${accountName(of, account)}  ${subtract(debit, credit)} ${commodity(entry.currency)}\n`,
    );
    yield `\n${title(entry)}\n${lines.join('')}`;
  }
}

const ROOTS = ['Assets', 'Liabilities', 'Equity', 'Income', 'Expenses'];

/**
 * `Assets:Crypto-balance` of "Crypto balance". A name with one of the five roots stays under it. Both programs read letters,
 * digits and hyphens; the parts of a name begin with a capital letter or a digit.
 */
function accountName(of: JournalAccount, name: string): string {
  const parts = name
    .split(':')
    .map((part) => part.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, ''))
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1));
  const isRooted = parts.length > 1 && ROOTS.includes(parts[0] ?? '');
  return (isRooted ? parts : [rootOf(of), ...parts]).join(':');
}
