/**
 * Writes and reads tables as CSV (RFC 4180). Every table that the gateway gives out is written here, and every table
 * that a person uploads is read here, so that what one of them changes the other one changes back.
 */
import { parse } from 'csv-parse/sync';

/** A spreadsheet would run what begins like a formula; an apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r\n]/;
/** A negative amount also begins with a minus sign, and is no formula. */
const NUMBER = /^-?[0-9]+(\.[0-9]+)?$/;
/** One apostrophe is the guard; any others before a formula belong to the text. */
const GUARDED = /^'+[=+\-@\t\r\n]/;

/** The text as a cell: quoted where needed, and never a formula. */
export function csvField(text: string, separator = ','): string {
  const isFormula = FORMULA.test(text) && !NUMBER.test(text);
  const safe = isFormula || GUARDED.test(text) ? `'${text}` : text;
  // Readers remove spaces around a cell that has no quotes.
  const isQuoted = /["\r\n]/.test(safe) || safe.includes(separator) || safe.trim() !== safe;
  return isQuoted ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function unguarded(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}

/** A line of a table, with its line break. */
export function csvLine(fields: readonly string[], separator = ','): string {
  return `${fields.map((field) => csvField(field, separator)).join(separator)}\r\n`;
}

/** A problem of the table as a whole, as a sentence for the person who made it. */
export class TableFault extends Error {}

/** A table that was read. */
export interface Table {
  /** The headings in lower case, without spaces around them. Only an empty heading can occur more than once. */
  names: string[];
  rows: string[][];
  /** Between its columns: a comma, a semicolon or a tab. */
  separator: string;
}

/**
 * Reads a table with commas, semicolons or tabs, whichever its first line has most often.
 * @throws TableFault
 */
export function readCsv(text: string): Table {
  refuseLostCharacters(text);
  const [head = ''] = text.trimStart().split(/\r\n|\r|\n/, 1);
  const separator = delimiterOf(head);
  let lines: string[][];
  try {
    lines = parse(text, {
      bom: true,
      delimiter: separator,
      skip_empty_lines: true,
      trim: true,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error';
    throw new TableFault(`The table cannot be read: ${reason}.`);
  }
  const [first = [], ...rows] = lines.map((line) => line.map(unguarded));
  const names = first.map((name) => name.trim().toLowerCase());
  refuseRepeated(names);
  return { names, rows, separator };
}

/** The characters that stand for bytes in another encoding, or for half of a character. */
const LOST = /\ufffd|\p{Surrogate}/u;

function refuseLostCharacters(text: string): void {
  if (!LOST.test(text)) return;
  throw new TableFault(
    'The table has characters that were lost when it was saved or copied (\ufffd). Save it in the spreadsheet as “CSV UTF-8”, and choose that file.',
  );
}

/** The separator that the headings have most often. */
function delimiterOf(head: string): string {
  const count = (separator: string) => head.split(separator).length;
  const [most = ','] = [',', ';', '\t'].sort((a, b) => count(b) - count(a));
  return most;
}

function refuseRepeated(names: readonly string[]): void {
  const name = names.find((one, index) => one !== '' && names.indexOf(one) !== index);
  if (name === undefined) return;
  throw new TableFault(
    `More than one column is named “${name}”. Remove all but one of them. Capital letters and spaces around a name do not count.`,
  );
}
