/** Tables of payouts, as spreadsheets write them. */
import type { RowFault } from '../../../src/domain/batch-terms';
import { faultText } from '../../../src/kit/pages/fault-text';
import {
  readScheduleSheet,
  readSheet,
  TEMPLATE,
} from '../../../src/features/payout-batches/dashboard/sheet';
import { plainAmount, SheetFault, takeCorrections } from '../../../src/kit/pages/sheet';

const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const head = 'reference,amount,currency,destination,network';

async function amountsOf(text: string): Promise<(string | null)[]> {
  return (await readSheet(text)).rows.map((row) => ('refusal' in row ? null : row.amount));
}

test('a corrected cell keeps the separators of the table, and others stay as they were', () => {
  const row = (amount: string) => `a;${amount};USDT;"x;y"`;
  const table = ['Reference;Amount;Currency;Note', row('0'), row('1,5')].join('\r\n');
  const form = new URLSearchParams({ table, 'cell-1-amount': ' 10,25 ', 'cell-2-amount': '1,5' });
  form.set('cell-2-network', 'tron');
  expect(takeCorrections(form)).toBe(true);
  expect(form.get('table')).toBe(
    `reference;amount;currency;note;network\r\n${row('10,25')};\r\n${row('1,5')};tron\r\n`,
  );
  expect([...form.keys()]).toEqual(['table']);
  expect(takeCorrections(form)).toBe(false);
  expect(takeCorrections(new URLSearchParams({ table: '"', 'cell-1-amount': '1' }))).toBe(false);
});

test('the template is a table of one payout', async () => {
  const { rows } = await readSheet(TEMPLATE);
  expect(rows).toMatchObject([
    { reference: 'payroll-2026-11-001', amount: '250.00000000', currency: 'USDT', network: 'tron' },
  ]);
});

test.each([
  ['1234', 'point', '1234'],
  ['1234.5', 'point', '1234.5'],
  ['1,234.50', 'point', '1234.50'],
  ['1,234,567', 'point', '1234567'],
  ['1 234.5', 'point', '1234.5'],
  ["1'234.5", 'point', '1234.5'],
  ['1,234', 'point', null],
  ['12,34.5', 'point', null],
  ['1.2.3', 'point', null],
  ['1234,5', 'comma', '1234.5'],
  ['1.234,50', 'comma', '1234.50'],
  ['1.234', 'comma', null],
  ['0.5', 'comma', null],
] as const)('%s in a table with a decimal %s is %s', (text, style, expected) => {
  expect(plainAmount(text, style)).toBe(expected);
});

test('semicolons, a byte order mark and decimal commas are read', async () => {
  const text = `\ufeff${head.replaceAll(',', ';')}\r\na;12,5;USDT;${ADDRESS};tron\r\nb;1.000,25;USDT;${ADDRESS};tron\r\n`;
  expect(await amountsOf(text)).toEqual(['12.50000000', '1000.25000000']);
});

test('tabs, quotes and columns in another order are read', async () => {
  const text = `Currency\tReference\tDestination\tAmount\tDescription\nUSDT\ta\t${ADDRESS}\t1\t"one\ttwo"\n`;
  expect((await readSheet(text)).rows).toMatchObject([{ reference: 'a', description: 'one\ttwo' }]);
});

test('an amount that can be read in two ways is a fault of its row', async () => {
  const { rows } = await readSheet(
    `${head}\na,"1,234",USDT,${ADDRESS},tron\nb,5,USDT,${ADDRESS},tron\n`,
  );
  expect(rows).toMatchObject([
    { row: 1, reference: 'a', refusal: { code: 'validation_failed' } },
    { reference: 'b', amount: '5.00000000' },
  ]);
});

test.each([
  ['', 'no rows'],
  [head, 'no rows'],
  ['reference,amount\na,1', 'Missing: currency'],
  [`${head},colour\na,1,USDT,x,tron,red`, 'Unknown columns: colour'],
  [`${head},amount\na,2.50,USDT,x,tron,250`, 'named “amount”'],
  [`${head},Destination \na,1,USDT,x,tron,y`, 'named “destination”'],
  [`${head}\nZ\ufffdrich,1,USDT,x,tron`, 'CSV UTF-8'],
  [`${head}\na,"1`, 'cannot be read'],
  [`${head}\na,1`, 'cannot be read'],
  [`${head}\n${'a,1,USDT,x,tron\n'.repeat(10_001)}`, 'at most 10,000'],
])('%# a table as a whole is refused with a sentence', async (text, sentence) => {
  await expect(readSheet(text)).rejects.toThrow(SheetFault);
  await expect(readSheet(text)).rejects.toThrow(sentence);
});

test.each([
  ['amount', 'twelve', 'Amount: write a number above zero with at most 8 decimals, such as 12.50.'],
  ['amount', '', 'Amount: write a number above zero with at most 8 decimals, such as 12.50.'],
  ['amount', '1.123456789', 'Amount: write a number above zero with at most 8 decimals'],
  ['reference', 'no spaces', 'Reference: write 1 to 64 letters, digits, “_” or “-”.'],
  ['currency', 'usdt', 'Currency: write a currency code such as USDT.'],
  ['destination', '', 'Destination: write the address, account ID or email address'],
  ['destination', 'with a space', 'Destination: write the address'],
  ['type', 'wallet', 'Type: write one of crypto_address, exchange_id, email, or leave it empty.'],
  ['memo', 'm'.repeat(65), 'Memo: write at most 64 characters'],
  ['provider', 'nobody', 'Provider: write one of '],
  ['description', 'd'.repeat(256), 'Description: write at most 255 characters.'],
  ['recipient', 'rcp_1', 'Recipient: write the ID of a recipient'],
])('a faulty %s, %s, is corrected in the words of the table', async (column, value, sentence) => {
  const sound = { reference: 'a', amount: '5', currency: 'USDT', destination: ADDRESS };
  const row: Record<string, string> = { ...sound, [column]: value };
  const text = [Object.keys(row), Object.values(row)].map((cells) => cells.join(',')).join('\n');
  const [fault] = (await readSheet(text)).rows;
  expect(fault).toHaveProperty('refusal');
  expect(faultText(fault as RowFault)).toContain(sentence);
});

test('a row may name its beneficiary; half of one is refused with its field', async () => {
  const headings =
    'reference,amount,currency,destination,network,beneficiary_name,beneficiary_kind';
  const row = (id: string, rest: string) => `${id},5,USDT,${ADDRESS},tron,${rest}\n`;
  const { rows } = await readSheet(
    `${headings}\n${row('a', 'Ada Lovelace,individual')}${row('b', ',')}${row('c', 'Ada Lovelace,')}`,
  );
  expect(rows[0]).toMatchObject({
    beneficiary: { name: 'Ada Lovelace', kind: 'individual', institution: null },
  });
  expect(rows[1]).not.toHaveProperty('beneficiary');
  expect(rows[2]).toMatchObject({
    refusal: { details: { fields: [{ field: 'beneficiary_kind', rule: 'required' }] } },
  });
  await expect(
    readScheduleSheet(`${headings}\n${row('a', 'Ada Lovelace,individual')}`),
  ).rejects.toThrow(/Unknown columns: beneficiary_name, beneficiary_kind/);
});

test.each([
  ['cells', ','.repeat(500_000)],
  ['cells in a row', `${head}\n${','.repeat(500_000)}`],
  ['lines', `${head}\n${'1\n'.repeat(500_000)}`],
  ['empty lines', `${head}\n${'\n'.repeat(500_000)}`],
])('a table of very many %s is refused before it is parsed', async (_what, text) => {
  await expect(readSheet(text)).rejects.toThrow('too many rows or columns');
});
