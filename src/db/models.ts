/**
 * Objection models of the tables that are read and written as objects: each names its table, the columns that are read
 * and the type of a row once. Values are in camel case; columns named in SQL are the table's own. Money, guarded
 * changes and claims are SQL.
 */
import knex from 'knex';
import { Model, type ModelClass, raw, type RawBuilder } from 'objection';
import type { Payment } from '../domain/payment';
import type { Payout } from '../domain/payout';
import { COLUMN_NAMES, columnOf } from './column-names';
import type { Reader } from './transaction';

/** Composes queries and has no connection: `Queries.query` sends them. */
class Composer extends Model {
  static override columnNameMappers = COLUMN_NAMES;
}
Composer.knex(knex({ client: 'pg' }));

/** A model, with the columns that are read of a row. */
export type Rows<Row> = ModelClass<Model & Row> & ReadRows<Row> & { written: ReadonlySet<string> };

/** What SELECT reads. */
export interface ReadRows<Row> {
  tableName: string;
  read: string;
  /** Has no value: for the type. */
  row?: Row;
}

/**
 * @param read the columns as SQL
 * @param writes the columns that an insert or a change may write; it refuses a row with another field
 * @param json the fields that are jsonb; the driver would write an array as an array of PostgreSQL
 */
export function rowsOf<Row>(
  table: string,
  {
    read = '*',
    writes = '',
    json = [],
  }: { read?: string; writes?: string; json?: readonly (keyof Row & string)[] },
): Rows<Row> {
  const model = class extends Composer {
    static override tableName = table;
    static override jsonAttributes = [...json];
    static read = read;
    static written = new Set(writes.split(/,\s*/));
  };
  return model as unknown as Rows<Row>;
}

export const Payouts = rowsOf<Payout & { wakeAfter: Date | null }>('payouts', {
  json: ['feeTerms', 'metadata'],
});
export const Payments = rowsOf<Payment>('payments', {
  json: ['feeTerms', 'metadata', 'transfers'],
});

/** For a time that is written: PostgreSQL's. */
export const now = raw('clock_timestamp()');

// A question mark is an operator there, and no place of a value.
const returned = ({ read }: { read: string }) => raw(read.replaceAll('?', '\\?'));

// A field that is left out without a word would be lost, and one that is not listed may come from a request.
function written(rows: { tableName: string; written: ReadonlySet<string> }, row: object): never {
  const unlisted = Object.keys(row).filter((field) => !rows.written.has(columnOf(field)));
  if (unlisted.length > 0) {
    throw new Error(`${rows.tableName} does not list as written: ${unlisted.join(', ')}`);
  }
  return row as never;
}

/** @returns the new row */
export function insertRow<Row>(db: Reader, rows: Rows<Row>, row: object): Promise<Row> {
  const inserted = rows.query().insert(written(rows, row));
  return one(db.query<Row>(inserted.returning(returned(rows)).toKnexQuery()));
}

/** @returns null, and nothing is written, when another row has these values */
export async function insertNewRow<Row>(
  db: Reader,
  rows: Rows<Row>,
  unique: string[] | RawBuilder,
  row: object,
): Promise<Row | null> {
  const inserted = rows.query().insert(written(rows, row));
  const query = inserted
    .onConflict(unique as string[])
    .ignore()
    .returning(returned(rows));
  const [found] = await db.query<Row>(query.toKnexQuery());
  return found ?? null;
}

/** Changes one row, which exists. A value can be SQL, such as `now`. @returns the row after the change */
export function changeRow<Row>(
  db: Reader,
  rows: Rows<Row>,
  id: string,
  change: object,
): Promise<Row> {
  const changed = rows.query().findById(id).patch(written(rows, change));
  return one(db.query<Row>(changed.returning(returned(rows)).toKnexQuery()));
}

/** @param lock until the transaction ends: SQL */
export async function findRow<Row>(
  db: Reader,
  rows: ReadRows<Row>,
  where: Record<string, string | null>,
  lock: '' | 'FOR NO KEY UPDATE' = '',
): Promise<Row | null> {
  const asked = Object.entries(where).map(([field, value]) => {
    return `${columnOf(field)} ${value === null ? 'IS NULL' : '= ?'}`;
  });
  const [row] = await db.query<Row>(
    `SELECT ${rows.read} FROM ${rows.tableName} WHERE ${asked.join(' AND ')} ${lock}`,
    Object.values(where).filter((value) => value !== null),
  );
  return row ?? null;
}

/** The row of a statement that has one. */
export async function one<Row>(found: Promise<Row[]>): Promise<Row> {
  const [row] = await found;
  if (row === undefined) throw new Error('the statement returned no row');
  return row;
}
