/**
 * JSON for a terminal. JSON escapes control characters below U+0020 only: DEL, U+009B and what reverses a text would
 * reach the terminal as they are. A program reads the same values.
 */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu, escape);
}

/** Each UTF-16 code unit, as JSON has it: `\u009b`. */
function escape(found: string): string {
  const units = found.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${unit}`).join('');
}
