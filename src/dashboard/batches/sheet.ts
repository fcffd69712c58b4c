/**
 * A table of payouts as spreadsheets write it: CSV with commas, semicolons or tabs, and amounts with a
 * decimal point or a decimal comma. An amount that can be read in two ways is refused, never guessed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowFault } from '../../domain/batch-terms';
import { BATCH_ROWS_MAX } from '../../domain/payout-batch';
import { SCHEDULE_ROWS_MAX } from '../../domain/payout-schedule';
import type { Json } from '../../schemas/body';
import { readPayoutRow, readScheduledRow } from '../../schemas/payouts';
import { ApiError, type FieldError } from '../../domain/errors';
import type { PayoutOrder, SentPayoutOrder } from '../../domain/payout';
import { csvLine, readCsv, TableFault as SheetFault } from '../../lib/csv';
import { rowFault } from './fault-text';

/** The columns of any payout. The first three are required, and a destination or a recipient. */
export const SCHEDULE_COLUMNS = [
  'reference',
  'amount',
  'currency',
  'destination',
  'network',
  'memo',
  'type',
  'provider',
  'description',
  'recipient',
] as const;
const BENEFICIARY_COLUMNS = [
  'beneficiary_name',
  'beneficiary_kind',
  'beneficiary_institution',
] as const;
/** Those of a batch, in the order of the template. */
export const COLUMNS = [...SCHEDULE_COLUMNS, ...BENEFICIARY_COLUMNS] as const;
type Column = (typeof COLUMNS)[number];
/** Beside the rows of a file to correct, which can be sent again as it is. */
export const TO_CORRECT = 'what to correct';
const REQUIRED: readonly Column[] = COLUMNS.slice(0, 3);

interface SheetOf<Order> {
  /** Each row as it was written, by column. */
  lines: Record<string, string>[];
  rows: (Order | RowFault)[];
}
export type Sheet = SheetOf<SentPayoutOrder>;

export { SheetFault };

/** The rows of a batch. @throws SheetFault */
export function readSheet(text: string): Promise<Sheet> {
  const shape = { columns: COLUMNS, required: REQUIRED, rowsMax: BATCH_ROWS_MAX };
  return readTable(text, shape, readPayoutRow);
}

/** The rows of a schedule. @throws SheetFault */
export function readScheduleSheet(text: string): Promise<SheetOf<PayoutOrder>> {
  const shape = { columns: SCHEDULE_COLUMNS, required: REQUIRED, rowsMax: SCHEDULE_ROWS_MAX };
  return readTable(text, shape, readScheduledRow);
}

/** Read in one turn of the event loop, so that other requests are answered in between. */
export const ROWS_IN_A_TURN = 50;

async function readTable<Order>(
  text: string,
  shape: TableShape,
  read: (json: Json) => Order,
): Promise<SheetOf<Order>> {
  const lines = readLines(text, shape);
  const style = decimalStyleOf(lines.map(({ amount = '' }) => amount));
  const rows: (Order | RowFault)[] = [];
  for (const line of lines) {
    rows.push(readRow(line, rows.length + 1, style, read));
    if (rows.length % ROWS_IN_A_TURN === 0) await nextTurn();
  }
  return { lines, rows };
}

interface TableShape {
  columns: readonly string[];
  required: readonly string[];
  rowsMax: number;
}

/** The cells of a row, with the separators in its texts. */
const SEPARATORS_OF_ROW = 40;

/** Millions of empty cells would keep the parser busy for half a minute. @throws SheetFault */
function refuseTooManyCells(text: string, { rowsMax }: TableShape): void {
  let left = SEPARATORS_OF_ROW * (rowsMax + 100);
  for (let at = 0; at < text.length; at++) {
    if (',;\t\n\r'.includes(text.charAt(at)) && --left < 0) {
      const max = rowsMax.toLocaleString('en');
      throw new SheetFault(
        `The table has too many rows or columns. It may have at most ${max} rows.`,
      );
    }
  }
}

/** Each row by column. @throws SheetFault */
export function readLines(text: string, shape: TableShape): Record<string, string>[] {
  refuseTooManyCells(text, shape);
  const { names, rows } = readCsv(text);
  const lines = rows.map((row) =>
    Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])),
  );
  if (lines.length === 0) throw new SheetFault('The table has no rows below its headings.');
  if (lines.length > shape.rowsMax) {
    const max = shape.rowsMax.toLocaleString('en');
    throw new SheetFault(`The table has ${lines.length} rows. It may have at most ${max}.`);
  }
  checkColumns(names, shape);
  return lines;
}

function checkColumns(names: readonly string[], { columns, required }: TableShape): void {
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new SheetFault(`The first line must name the columns. Missing: ${missing.join(', ')}.`);
  }
  const known = ['', TO_CORRECT, ...columns];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new SheetFault(
      `Unknown columns: ${unknown.join(', ')}. The columns are ${columns.join(', ')}.`,
    );
  }
}

type DecimalStyle = 'point' | 'comma';

/** A comma before anything but three digits is a decimal comma, and the whole table is written so. */
export function decimalStyleOf(amounts: readonly string[]): DecimalStyle {
  const isComma = (text: string) => /^\d[\d.]*,(\d{1,2}|\d{4,8})$/.test(text);
  return amounts.some(isComma) ? 'comma' : 'point';
}

const SEPARATORS = { point: { decimal: '.', group: ',' }, comma: { decimal: ',', group: '.' } };

/** @returns plain decimal text; null when the separators can be read in two ways */
export function plainAmount(text: string, style: DecimalStyle): string | null {
  const { decimal, group } = SEPARATORS[style];
  const [whole = '', fraction, ...more] = text.replaceAll(/[\s\u00a0\u202f'’]/g, '').split(decimal);
  if (more.length > 0 || fraction?.includes(group) === true) return null;
  const groups = whole.split(group);
  const isGrouped = groups.length > 1;
  if (isGrouped && !/^\d{1,3}$/.test(groups[0] ?? '')) return null;
  if (isGrouped && !groups.slice(1).every((part) => /^\d{3}$/.test(part))) return null;
  // One separator before three digits, and nothing else: it can also be a decimal one.
  if (groups.length === 2 && fraction === undefined) return null;
  return groups.join('') + (fraction === undefined ? '' : `.${fraction}`);
}

function readRow<Order>(
  line: Record<string, string>,
  row: number,
  style: DecimalStyle,
  read: (json: Json) => Order,
): Order | RowFault {
  const reference = line['reference'] ?? null;
  const amount = plainAmount(line['amount'] ?? '', style);
  if (amount === null) {
    const message = `${line['amount'] ?? ''} is not clear. Write amounts without separators of thousands, and with one decimal separator in the whole table.`;
    return faultOf(row, reference, [{ field: 'amount', rule: 'format', message }]);
  }
  try {
    return read(requestOf(line, amount));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return rowFault(row, reference, error);
  }
}

function faultOf(row: number, reference: string | null, fields: FieldError[]): RowFault {
  return { row, reference, refusal: { code: 'validation_failed', details: { fields } } };
}

function requestOf(line: Record<string, string>, amount: string) {
  const given = (name: Column) => {
    const text = line[name] ?? '';
    return text === '' ? {} : { [name]: text };
  };
  const isToRecipient = (line['recipient'] ?? '') !== '' && (line['destination'] ?? '') === '';
  return {
    amount,
    ...given('currency'),
    ...given('reference'),
    ...given('network'),
    ...given('provider'),
    ...given('description'),
    ...given('recipient'),
    ...beneficiaryCells(line),
    ...(isToRecipient ? {} : { destination: destinationCells(line) }),
  };
}

function beneficiaryCells(line: Record<string, string>) {
  const [name = '', kind = '', institution = ''] = BENEFICIARY_COLUMNS.map((one) => line[one]);
  if (name === '' && kind === '' && institution === '') return {};
  return {
    beneficiary: {
      ...(name === '' ? {} : { name }),
      ...(kind === '' ? {} : { kind }),
      ...(institution === '' ? {} : { institution }),
    },
  };
}

/** The destination as a request has it. A memo of "none" says that the destination has none. */
export function destinationCells(line: Record<string, string>) {
  const { type = '', destination = '', memo = '' } = line;
  return {
    type: type === '' ? 'crypto_address' : type,
    value: destination,
    ...(memo === '' ? {} : { memo: memo.toLowerCase() === 'none' ? null : memo }),
  };
}

export function writeSheet(rows: readonly (readonly string[])[]): string {
  return rows.map(csvLine).join('');
}

export const TEMPLATE = writeSheet([
  COLUMNS,
  [
    'payroll-2026-11-001',
    '250.00',
    'USDT',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    'tron',
    '',
    'crypto_address',
    '',
    'Payroll, November',
    '',
    '',
    '',
    '',
  ],
]);
