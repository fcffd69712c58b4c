/** Writes CSV as RFC 4180 describes it. */

/** A spreadsheet would run what begins like a formula; an apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r\n]/;
/** A negative amount is no formula. */
const NUMBER = /^-?[0-9]+(\.[0-9]+)?$/;

export function csvField(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}
