/**
 * One transaction, READ COMMITTED: the guarded UPDATEs and unique keys decide races, not the
 * isolation level. Nothing inside may wait for a network other than the database's.
 */
import type { Knex } from 'knex';
import { AccountDb } from './account-db';
import { columnOf, named } from './column-names';
import { ANSWER_GRACE_MS } from './silence';
import { allowTime, defer, execute, stopPreparing } from './pipelined-client';
import { type Binding, isPreparationFailure } from './prepared';
import { ShortStatements } from './short-statements';

export type Db = Knex;
export type Tx = Knex.Transaction;
/** What a single statement is sent to. */
export type Reader = Db | Tx | ShortStatements | AccountDb;

/** @param work writes nothing but the database: it may run twice, the first time without effect */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T> | T): Promise<T> {
  // knex commits at the end of a promise only.
  const asPromise = async (tx: Tx): Promise<T> => work(tx);
  try {
    return await db.transaction(asPromise);
  } catch (error) {
    if (!isPreparationFailure(error)) throw error;
    stopPreparing();
    return db.transaction(asPromise);
  }
}

/** The row of an existing object is gone: the database was restored to an earlier time. */
export class MissingRow extends Error {
  constructor(readonly objectId: string) {
    super(`${objectId} does not exist`);
  }
}

/** Rows of one raw statement, their columns in camel case. */
export async function rows<T>(
  db: Reader,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<T[]> {
  if (db instanceof ShortStatements) return (await db.run(sql, bindings)) as T[];
  if (db instanceof AccountDb) return named(await db.run(sql, bindings));
  return named(await execute(db, sql, bindings, false));
}

/**
 * The same for a statement that is executed often: it is prepared, so PostgreSQL can plan it once for all
 * values. Its plan must not depend on them.
 */
export async function preparedRows<T>(
  db: Reader,
  sql: string,
  bindings: readonly Knex.RawBinding[],
): Promise<T[]> {
  // PostgreSQL would plan it again whenever another role executes it.
  if (db instanceof ShortStatements || db instanceof AccountDb) return rows<T>(db, sql, bindings);
  return named(await execute(db, sql, bindings, true));
}

/** Sends a statement with the transaction's next one, or with COMMIT, which then fails as well. */
export function deferStatement(tx: Tx, sql: string, bindings: readonly Knex.RawBinding[]): void {
  void deferredRows(tx, sql, bindings);
}

/**
 * The same with a result.
 * @returns its rows; wait for them only after the next statement, or after the commit
 */
export function deferredRows<T>(
  tx: Tx,
  sql: string,
  bindings: readonly Knex.RawBinding[],
): Promise<T[]> {
  const found = defer(tx, sql, [...bindings]).then((result) => named<T>(result));
  // The statement that it is sent with fails with the same error.
  found.catch(() => undefined);
  return found;
}

/** `a = ?, b = ?` for the fields of a change, in the order of their values. */
export function assignments(change: object): string {
  return Object.keys(change)
    .map((field) => `${columnOf(field)} = ?`)
    .join(', ');
}

/** False: a statement of this login may run, and hold its connection, for ever. */
export async function hasStatementTimeout(db: Db): Promise<boolean> {
  const [setting] = await rows<{ statementTimeout: string }>(db, 'SHOW statement_timeout');
  return setting?.statementTimeout !== '0';
}

/** A list for `IN (…)` from a list of the domain; never of what somebody sent. */
export function sqlList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}

/** Waits for other changes of the same thing; held until the transaction ends. */
export async function lockByName(tx: Tx, ...name: (string | null)[]): Promise<void> {
  await rows(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [JSON.stringify(name)]);
}

/** Waits for the changes of a thing, but not for others that share it. */
export async function shareLockByName(tx: Tx, ...name: (string | null)[]): Promise<void> {
  const lock = 'SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))';
  await rows(tx, lock, [JSON.stringify(name)]);
}

/** For the `snapshot` of other connections, while this transaction is open. */
export async function exportSnapshot(tx: Tx): Promise<string> {
  const [exported] = await rows<{ name: string }>(tx, 'SELECT pg_export_snapshot() AS name');
  if (exported === undefined) throw new Error('pg_export_snapshot returned nothing');
  return exported.name;
}

interface SnapshotOptions {
  timeoutMs?: number;
  readOnly?: boolean;
  /** Of another open transaction; a new one by default. */
  snapshot?: string;
}

/** A full proof reads every entry, so it needs longer than a request may take. */
const SNAPSHOT_TIMEOUT_MS = 30 * 60_000;

/**
 * One snapshot for all of it: two queries must not see two different moments. PostgreSQL cancels a
 * statement that is still running after `timeoutMs`, or whose client is gone. Large sorts and hashes
 * stay in memory, and parallel workers share the reading.
 */
export async function onOneSnapshot<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  { timeoutMs = SNAPSHOT_TIMEOUT_MS, readOnly = true, snapshot }: SnapshotOptions = {},
): Promise<T> {
  return db.transaction(
    async (tx) => {
      // Before any query. A name is a literal here, not a parameter.
      if (snapshot !== undefined) await rows(tx, `SET TRANSACTION SNAPSHOT '${snapshot}'`);
      await rows(
        tx,
        `SELECT set_config(name, value, true)
           FROM (VALUES ('statement_timeout', '${timeoutMs}'), ('work_mem', '256MB'),
                        ('max_parallel_workers_per_gather', '2'), ('jit', 'off'),
                        ('client_connection_check_interval', '2s')) AS setting(name, value)`,
      );
      const endTime = allowTime(tx, timeoutMs + ANSWER_GRACE_MS);
      try {
        return await work(tx);
      } finally {
        endTime();
      }
    },
    { isolationLevel: 'repeatable read', readOnly },
  );
}
