/** Statements that PostgreSQL parses once for each connection, and plans once if that is no worse. */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { DatabaseError } from 'pg';

/** The driver writes an array as an array of PostgreSQL, also one of arrays. */
export type Binding = Knex.RawBinding | readonly Binding[];

const names = new Map<string, string>();

/** The name follows from the text, because connections behind a pooler share prepared statements. */
export function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `gateway_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}

/**
 * A pooler in front of PostgreSQL does not support prepared statements, or a migration changed the columns.
 * Nothing was executed. From then on statements are not prepared; a migration comes with a restart.
 */
const NOT_PREPARED = ['26000', '42P05', '0A000'];

export function isPreparationFailure(error: unknown): boolean {
  return error instanceof DatabaseError && NOT_PREPARED.includes(error.code ?? '');
}
