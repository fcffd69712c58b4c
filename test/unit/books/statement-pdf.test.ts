import type { Amount } from '../../../src/domain/money';
import type { Statement } from '../../../src/domain/statement';
import { statementPdf } from '../../../src/features/books/statement-pdf';
import { readPdf } from '../../support/pdf-text';

const amount = (text: string) => text as Amount;

const STATEMENT: Statement = {
  currency: 'USDT',
  month: '2026-10',
  opening: { available: amount('1234567.00000001'), reserved: amount('0.00000000') },
  movements: [
    {
      ...{ type: 'payin_settlement', postings: 500 },
      ...{ available: amount('1000.50000000'), reserved: amount('0.00000000') },
    },
    {
      ...{ type: 'payout_reserve', postings: 12 },
      ...{ available: amount('-200.00000000'), reserved: amount('200.00000000') },
    },
  ],
  closing: { available: amount('1235367.50000001'), reserved: amount('200.00000000') },
  serviceFees: amount('10.00000000'),
  networkFees: amount('1.00000000'),
};
const HEAD = {
  ...{ owner: 'Łódź Ελλάδα Київ', accountId: 'acct_1', mode: 'live' as const },
  ...{ issuer: 'pay.example', until: null },
} as const;

test('a page has the lines of the statement to the last digit, and names in several scripts', async () => {
  const bitcoin = { ...STATEMENT, currency: 'BTC' };
  const pages = await readPdf(await statementPdf([STATEMENT, bitcoin], HEAD));
  expect(pages).toHaveLength(2);
  expect(pages[1]).toContain('acct_1 · live mode · BTC');
  expect(pages[0]).toEqual([
    'Statement 2026-10',
    'Łódź Ελλάδα Київ',
    'acct_1 · live mode · USDT',
    ...['Movement', 'Postings', 'Available', 'Reserved', 'Total'],
    ...['Opening balance', '1,234,567.00000001', '0.00000000', '1,234,567.00000001'],
    ...['Payment received', '500', '1,000.50000000', '0.00000000', '1,000.50000000'],
    ...['Funds reserved', '12', '−200.00000000', '200.00000000', '0.00000000'],
    ...['Closing balance', '1,235,367.50000001', '200.00000000', '1,235,567.50000001'],
    ...['Fees', 'Included in the amounts above.'],
    ...['Service fees', '10.00000000 USDT', 'Network fees', '1.00000000 USDT'],
    'Issued by pay.example. The month is over. All times are UTC.',
    '2026-10, page 1 of 2',
  ]);
  const running = { ...HEAD, until: new Date('2026-10-27T21:30:59Z') };
  const [page] = await readPdf(await statementPdf([STATEMENT], running));
  expect(page).toContain(
    'Issued by pay.example. The month is not over: until 2026-10-27 21:30. All times are UTC.',
  );
});

test('the same statement makes the same bytes, and another one makes others', async () => {
  const bytes = await statementPdf([STATEMENT], HEAD);
  expect((await statementPdf([STATEMENT], HEAD)).equals(bytes)).toBe(true);
  const other = { ...STATEMENT, networkFees: amount('1.00000001') };
  expect((await statementPdf([other], HEAD)).equals(bytes)).toBe(false);
});
