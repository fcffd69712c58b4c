/** `created_at` is `createdAt` in the program; what is inside a jsonb value stays. */
import { type ColumnNameMappers, snakeCaseMappers } from 'objection';

const objection = snakeCaseMappers();
const fields = new Map<string, string>();
const columns = new Map<string, string>();

export function fieldOf(column: string): string {
  let field = fields.get(column);
  if (field === undefined) {
    field = Object.keys(objection.parse({ [column]: null }))[0] ?? column;
    fields.set(column, field);
  }
  return field;
}

/** Each capital begins a word: `runsADay` is `runs_a_day`, for which objection has `runs_aday`. */
export function columnOf(field: string): string {
  let column = columns.get(field);
  if (column === undefined) {
    column = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columns.set(field, column);
  }
  return column;
}

/** For the models. */
export const COLUMN_NAMES: ColumnNameMappers = {
  parse: (row) => objection.parse(row),
  format: (row) =>
    Object.fromEntries(Object.entries(row).map(([field, value]) => [columnOf(field), value])),
};
