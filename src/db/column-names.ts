/** `created_at` is `createdAt` in the program; what is inside a jsonb value stays. */
import { snakeCaseMappers } from 'objection';

/** For the models. */
export const COLUMN_NAMES = snakeCaseMappers();

const fields = new Map<string, string>();
const columns = new Map<string, string>();

export function fieldOf(column: string): string {
  let field = fields.get(column);
  if (field === undefined) {
    field = Object.keys(COLUMN_NAMES.parse({ [column]: null }))[0] ?? column;
    fields.set(column, field);
  }
  return field;
}

export function columnOf(field: string): string {
  let column = columns.get(field);
  if (column === undefined) {
    column = Object.keys(COLUMN_NAMES.format({ [field]: null }))[0] ?? field;
    columns.set(field, column);
  }
  return column;
}
