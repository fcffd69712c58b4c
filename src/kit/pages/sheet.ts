/**
 * A table that a merchant uploads, as spreadsheets write it: CSV with commas, semicolons or tabs, and amounts
 * with a decimal point or a decimal comma. An amount that can be read in two ways is refused, never guessed.
 */
import { csvLine, readCsv, TableFault as SheetFault } from '../../platform/lib/csv';

export { SheetFault };

/** The column beside the rows of a file to correct. A table may still have it when it is sent again. */
export const TO_CORRECT = 'what to correct';

/** Read in one turn of the event loop, so that other requests are answered in between. */
export const ROWS_IN_A_TURN = 50;

export interface TableShape {
  columns: readonly string[];
  required: readonly string[];
  rowsMax: number;
  /** Whether other columns are ignored. Without it, a table that has one is refused. */
  ignoresOthers?: boolean;
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

function checkColumns(
  names: readonly string[],
  { columns, required, ignoresOthers = false }: TableShape,
): void {
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new SheetFault(`The first line must name the columns. Missing: ${missing.join(', ')}.`);
  }
  if (ignoresOthers) return;
  const known = ['', TO_CORRECT, ...columns];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new SheetFault(
      `Unknown columns: ${unknown.join(', ')}. The columns are ${columns.join(', ')}.`,
    );
  }
}

export type DecimalStyle = 'point' | 'comma';

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

/** The destination as a request has it. A memo of "none" says that the destination has none. */
export function destinationCells(line: Record<string, string>) {
  const { type = '', destination = '', memo = '' } = line;
  return {
    type: type === '' ? 'crypto_address' : type,
    value: destination,
    ...(memo === '' ? {} : { memo: memo.toLowerCase() === 'none' ? null : memo }),
  };
}

/** @param separator of the columns: that of the table which a person sent, where there is one */
export function writeSheet(rows: readonly (readonly string[])[], separator = ','): string {
  return rows.map((row) => csvLine(row, separator)).join('');
}

/** @returns the separator of the columns. @throws SheetFault */
export function separatorOf(text: string): string {
  return readCsv(text).separator;
}

/** The name of the field that corrects a cell. @param row counted from 1 */
export function cellName(row: number, column: string): string {
  return `cell-${row}-${column}`;
}

const CELL = /^cell-([1-9]\d{0,5})-([a-z_]{1,40})$/;

/**
 * Puts the cells that a person has corrected into the table of the form, which keeps its separators.
 * @returns whether the table has changed
 */
export function takeCorrections(form: URLSearchParams): boolean {
  const cells = [...form].flatMap(([name, text]) => {
    const [, row, column] = CELL.exec(name) ?? [];
    return row === undefined || column === undefined
      ? []
      : [{ name, row: Number(row), column, text: text.trim() }];
  });
  for (const { name } of cells) form.delete(name);
  const table = tableOf(form);
  if (table === null) return false;
  const { names, rows, separator } = table;
  let hasChanged = false;
  for (const { row, column, text } of cells) {
    const line = rows[row - 1];
    if (line === undefined) continue;
    let at = names.indexOf(column);
    if ((at === -1 ? '' : (line[at] ?? '')) === text) continue;
    if (at === -1) at = names.push(column) - 1;
    line[at] = text;
    hasChanged = true;
  }
  if (hasChanged) {
    const whole = rows.map((line) => names.map((_, index) => line[index] ?? ''));
    form.set('table', writeSheet([names, ...whole], separator));
  }
  return hasChanged;
}

/** Null if it cannot be read; who reads it next says why. */
function tableOf(form: URLSearchParams) {
  try {
    return readCsv(form.get('table') ?? '');
  } catch (error) {
    if (error instanceof SheetFault) return null;
    throw error;
  }
}
