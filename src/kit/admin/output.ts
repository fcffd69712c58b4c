/** Formats documents for people: aligned tables for lists, names and values for one object. */

import { readable } from '../../domain/printable';

/** A list as a document. */
export interface List<T> {
  object: 'list';
  data: T[];
  has_more: boolean;
}

export function listOf<T>(data: T[], limit = Infinity): List<T> {
  return { object: 'list', data: data.slice(0, limit), has_more: data.length > limit };
}

type Cell = string | number | boolean | null | undefined | readonly string[] | object;

/** @param columns members of the rows, in the order in which they are shown */
export function showList<T extends object>(
  list: List<T>,
  columns: readonly (keyof T & string)[],
  none: string,
): string {
  if (list.data.length === 0) return `${none}\n`;
  const rows = list.data.map((row) => columns.map((column) => cell(row[column] as Cell)));
  const headings = columns.map((column) => column.toUpperCase());
  const more = list.has_more ? 'More results exist: raise --limit.\n' : '';
  return alignColumns([headings, ...rows]) + more;
}

/** Every field except `object`, which is obvious. */
export function showObject(document: object): string {
  const members = Object.entries(document).filter(([name]) => name !== 'object');
  return alignColumns(members.map(([name, value]) => [name, cell(value as Cell)]));
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.every((part) => typeof part === 'string')) {
    return value.length === 0 ? '-' : readable(value.join(', '));
  }
  return readable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** The secret last, where it is easy to find. */
export function showWithSecret({ secret, ...document }: { secret: string }): string {
  return `${showObject(document)}\n${secret}\nThe secret is shown only once.\n`;
}
