/**
 * What the command prints: objects as aligned lines, lists as tables, or JSON. Texts of customers are in
 * the objects, so no control character reaches the terminal.
 */

/** A column of a table: its title and the path of the member, such as `data.id`. */
export type Columns = Readonly<Record<string, string>>;

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Notes and questions are no part of the output that a program reads. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function printOne(object: object, asJson: boolean): void {
  print(asJson ? printableJson(object, 2) : rows(object).join('\n'));
}

export function printMany(objects: readonly object[], columns: Columns, asJson: boolean): void {
  print(asJson ? printableJson(objects, 2) : table(objects, columns));
}

/** Control characters as escapes: `\u001b`. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

/** JSON escapes control characters below U+0020 only. A program reads the same values. */
export function printableJson(value: object, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

/** Each UTF-16 code unit, as JSON has it. */
function escaped(found: string): string {
  const units = found.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${unit}`).join('');
}

/** The members, nested ones with the path as name. Null and absent members have no line. */
export function rows(object: object): string[] {
  const found = flatten(object);
  const width = Math.max(...found.map(([name]) => name.length));
  return found.map(([name, text]) => `${name.padEnd(width)}  ${text}`);
}

function flatten(object: object, prefix = ''): [string, string][] {
  return Object.entries(object).flatMap(([key, value]: [string, unknown]): [string, string][] => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'object') return flatten(value, `${prefix}${printable(key)}.`);
    return [[prefix + printable(key), textOfValue(value)]];
  });
}

function table(objects: readonly object[], columns: Columns): string {
  if (objects.length === 0) return 'Nothing found.';
  const lines = [
    Object.keys(columns),
    ...objects.map((object) => Object.values(columns).map((path) => cell(object, path))),
  ];
  const widths = Object.keys(columns).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const aligned = lines.map((line) =>
    line.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '),
  );
  return aligned.map((line) => line.trimEnd()).join('\n');
}

function cell(object: object, path: string): string {
  let value: unknown = object;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | null)?.[name];
  return value === null || value === undefined ? '-' : textOfValue(value);
}

function textOfValue(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}
