/** Tables: what the gateway writes it reads back, and what can be read in two ways is refused. */
import { csvLine, readCsv, TableFault } from '../../../src/platform/lib/csv';
import { scaled } from '../../support/scale';
import { chooseSeed, createDice, type Dice } from '../../support/seeded-random';

const PIECES = [
  ...[
    '=',
    '+',
    '-',
    '@',
    "'",
    "''",
    '"',
    '""',
    ',',
    ';',
    '\t',
    '\r',
    '\n',
    '\r\n',
    ' ',
    '\0',
    '\u200f',
    '\u202e',
  ],
  ...[
    '\ufeff',
    '\u00a0',
    '\u2028',
    '\\',
    '😀',
    'é',
    'e\u0301',
    'Ж',
    '1',
    '-5',
    '1.5',
    '=1+1',
    'Ada',
    '#',
    '|',
  ],
];

function cellOf({ roll, pick }: Dice): string {
  return Array.from({ length: roll(6) }, () => pick(PIECES)).join('');
}

const TABLES = scaled(20, 200);

test(`the cells of ${TABLES} tables come back as they were written`, () => {
  const seed = chooseSeed();
  const dice = createDice(seed);
  for (let table = 0; table < TABLES; table += 1) {
    const width = 2 + dice.roll(8);
    const names = Array.from({ length: width }, (_, index) => `column ${index}`);
    const rows = Array.from({ length: Math.ceil(100 / width) }, () =>
      names.map(() => cellOf(dice)),
    );
    const separator = [',', ';', '\t'][dice.roll(3)]!;
    const text = [names, ...rows].map((row) => csvLine(row, separator)).join('');
    // What a browser sends: UTF-8.
    const sent = Buffer.from(text, 'utf8').toString('utf8');
    expect({ seed, ...readCsv(sent) }).toEqual({ seed, names, rows, separator });
    // A spreadsheet runs no cell of it.
    for (const cell of rows.flat()) expect(csvLine([cell])).not.toMatch(/^"?[=+@]/);
  }
});

test.each([
  ["'=2+3", '=2+3'],
  ["'@Ada", '@Ada'],
  ["'+49 30 1", '+49 30 1'],
  ["''=c", "'=c"],
  ['-5', '-5'],
  ["'", "'"],
  ["'Ada", "'Ada"],
])('the cell %s is %s', (cell, text) => {
  expect(readCsv(`name,other\n${cell},x\n`).rows).toEqual([[text, 'x']]);
  expect(csvLine([text, 'x'])).toBe(`${cell},x\r\n`);
});

test.each(['\n', '\r\n', '\r'])('lines that end with %j are read', (end) => {
  expect(readCsv(`a;b${end}1;2${end}`)).toEqual({
    ...{ names: ['a', 'b'], rows: [['1', '2']], separator: ';' },
  });
});

test.each([
  ['amount,amount\n1,2', 'named “amount”'],
  ['Amount,reference, amount \n1,2,3', 'named “amount”'],
  ['name\nZ\ufffdrich', 'CSV UTF-8'],
  ['name\n\ud83d', 'CSV UTF-8'],
])('%j is refused with a sentence', (text, sentence) => {
  expect(() => readCsv(text)).toThrow(TableFault);
  expect(() => readCsv(text)).toThrow(sentence);
});
