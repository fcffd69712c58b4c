/** The journal as accounting programs keep it: rounded to their decimals, and balanced all the same. */
import { parse } from 'csv-parse/sync';
import type { ExportedPosting } from '../../../src/db/books/exports';
import type { Bookkeeping, JournalFormat } from '../../../src/domain/bookkeeping';
import { amount, ZERO } from '../../../src/domain/money';
import { journalFile } from '../../../src/features/books/journal';

const BOOKS: Bookkeeping = { timeZone: 'UTC', journalAccounts: {}, taxRate: 'Tax Exempt' };

type Line = [account: string, direction: 'in' | 'out', text: string];

function posting(type: string, ...lines: Line[]): ExportedPosting {
  return {
    postedAt: new Date('2026-11-27T10:00:00Z'),
    type,
    lines: lines.map(([account, direction, text]) => ({
      account,
      direction,
      amount: amount(text),
    })),
  } as unknown as ExportedPosting;
}

async function* pages(postings: ExportedPosting[]) {
  yield await Promise.resolve({
    currency: 'USDC',
    postings,
    held: { available: ZERO, reserved: ZERO },
  });
}

async function written(
  postings: ExportedPosting[],
  format: JournalFormat,
  books: Bookkeeping = BOOKS,
) {
  let text = '';
  for await (const part of journalFile(pages(postings), books, format)) text += part;
  return text;
}

async function rowsOf(postings: ExportedPosting[], format: 'csv' | 'xero' | 'quickbooks') {
  return parse<Record<string, string>>(await written(postings, format), {
    columns: true,
    bom: true,
  });
}

/** In the smallest unit that a file may have, so that nothing is rounded here. */
const units = (text: string | undefined) => BigInt((text || '0.00000000').replace('.', ''));
const total = (rows: Record<string, string>[], column: string) =>
  rows.reduce((sum, row) => sum + units(row[column]), 0n);

/** A day whose lines are a cent apart when each is rounded for itself. */
const REPORTED = [
  posting(
    'payin_settlement',
    ['available', 'in', '20.88163'],
    ['fee_income', 'in', '0.23337'],
    ['provider_clearing', 'out', '21.115'],
  ),
  posting(
    'payout_settlement',
    ['available', 'out', '4.222'],
    ['provider_clearing', 'in', '2.222'],
    ['network_cost', 'in', '2'],
  ),
];
const WHOLE = posting(
  'payin_settlement',
  ['available', 'in', '9.90'],
  ['fee_income', 'in', '0.10'],
  ['provider_clearing', 'out', '10'],
);

test('a day balances with two decimals in Xero and in QuickBooks, by a line of its own', async () => {
  const xero = await rowsOf(REPORTED, 'xero');
  for (const row of xero) expect(row['*Amount']).toMatch(/^-?\d+\.\d{2}0{6}$/);
  expect(total(xero, '*Amount')).toBe(0n);
  const quickbooks = await rowsOf(REPORTED, 'quickbooks');
  expect(total(quickbooks, 'Debits')).toBe(total(quickbooks, 'Credits'));
  const line = quickbooks.find((row) => row['Account Name'] === 'Rounding differences');
  expect(line).toMatchObject({ Debits: '0.01000000', Credits: '' });
});

test('a day of whole cents has no line for it, and the exact file never has', async () => {
  const whole = await rowsOf([WHOLE], 'xero');
  const exact = await rowsOf(REPORTED, 'csv');
  expect(whole.map((row) => row['*AccountCode'])).not.toContain('Rounding differences');
  expect(exact.map((row) => row['account'])).not.toContain('Rounding differences');
  expect(total(exact, 'debit')).toBe(2_111_500_000n);
});

const PLAIN = {
  beancount: /^\d{4}-\d\d-\d\d \* "[^"\\]+" \^[\w-]+$/,
  hledger: /^\d{4}-\d\d-\d\d \* \([\w-]+\) [^;]+$/,
};

test.each(['beancount', 'hledger'] as const)(
  'a day is exact and balances in %s, whatever its accounts are called',
  async (format) => {
    const journalAccounts = { balance: 'assets "of" Käse; (1)', sales: 'Income:Shop:web sales' };
    const text = await written([...REPORTED, WHOLE], format, { ...BOOKS, journalAccounts });
    const [head, ...entries] = text.trimEnd().split('\n\n');
    expect(head).toBe(
      { beancount: 'plugin "beancount.plugins.auto_accounts"', hledger: 'decimal-mark .' }[format],
    );
    expect(entries).toHaveLength(1);
    const [title, ...lines] = entries[0]!.split('\n');
    expect(title).toMatch(PLAIN[format]);
    const amounts = lines.map((line) => {
      // Both programs read this: an account, two spaces, an amount and a commodity.
      const found =
        /^ {2}((?:Assets|Income|Expenses|Equity)(?::[\p{Lu}\p{N}][\p{L}\p{N}-]*)+) {2}(-?\d+\.\d{8}) USDC$/u.exec(
          line,
        );
      expect([line, found]).toEqual([line, expect.anything()]);
      return [found![1]!, units(found![2])] as const;
    });
    expect(amounts.reduce((sum, [, each]) => sum + each, 0n)).toBe(0n);
    expect(Object.fromEntries(amounts)).toEqual({
      'Assets:Assets-of-Käse-1': 2_655_963_000n,
      'Expenses:Gateway-fees': 33_337_000n,
      'Income:Shop:Web-sales': -3_111_500_000n,
      'Expenses:Payouts': 222_200_000n,
      'Expenses:Network-fees': 200_000_000n,
    });
  },
);
