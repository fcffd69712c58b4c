/**
 * All migrations, in the order of their numbers. Until the first release, the schema is one baseline, in sections; a
 * later change is a file of this folder with the next number, from 0121 on, and what is on main is never changed. The
 * file exports `sql` for a transaction, `concurrent` for statements outside of one, or both; those outside follow.
 */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parse } from 'node:path';
import type { Migration } from '../../platform/postgres/migrate';
import { baseline } from './baseline';

interface Changes {
  sql?: string;
  concurrent?: readonly string[];
}

const load = createRequire(__filename);
const NUMBERED = /^\d{4}-[a-z0-9-]+\.[jt]s$/;

function migrationsOf(file: string): Migration[] {
  const { name } = parse(file);
  const { sql, concurrent } = load(`./${file}`) as Changes;
  if (concurrent === undefined) {
    if (sql === undefined) throw new Error(`${file} exports neither sql nor concurrent.`);
    return [{ name, sql }];
  }
  return sql === undefined
    ? [{ name, concurrent }]
    : [
        { name, sql },
        { name: `${name}-indexes`, concurrent },
      ];
}

export const MIGRATIONS: readonly Migration[] = [
  { name: '0120-baseline', sql: baseline },
  ...readdirSync(__dirname)
    .filter((file) => NUMBERED.test(file))
    .sort()
    .flatMap(migrationsOf),
];
