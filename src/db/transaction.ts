/** Transactions, and the SQL that they share. */
import { ANSWER_GRACE_MS } from '../platform/postgres/connection';
import type { Database } from '../platform/postgres/database';
import type { Queries } from '../platform/postgres/queries';
import type { SentWithNext, Transaction } from '../platform/postgres/transaction';
import { columnOf } from './column-names';

/** The row of an existing object is gone: the database was restored to an earlier time. */
export class MissingRow extends Error {
  constructor(readonly objectId: string) {
    super(`${objectId} does not exist`);
  }
}

export type Db = Database;
export type Tx = Transaction;
export type Reader = Queries;
export type { SentWithNext };

/** `a = ?, b = ?` for the fields of a change, in the order of their values. */
export function assignments(change: object): string {
  return Object.keys(change)
    .map((field) => `${columnOf(field)} = ?`)
    .join(', ');
}

/** False if a statement of this login may run, and hold its connection, for ever. */
export async function hasStatementTimeout(db: Db): Promise<boolean> {
  const [setting] = await db.query<{ statementTimeout: string }>('SHOW statement_timeout');
  return setting?.statementTimeout !== '0';
}

/** A list for `IN (…)` from a list of the domain; never of what somebody sent. */
export function sqlList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}

/** Waits for other changes of the same thing; held until the transaction ends. */
export async function lockByName(tx: Tx, ...name: (string | null)[]): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [JSON.stringify(name)]);
}

/** Waits for the changes of a thing, but not for others that share it. */
export async function shareLockByName(tx: Tx, ...name: (string | null)[]): Promise<void> {
  const lock = 'SELECT pg_advisory_xact_lock_shared(hashtextextended(?, 0))';
  await tx.query(lock, [JSON.stringify(name)]);
}

/** For the `snapshot` of other connections, while this transaction is open. */
export async function exportSnapshot(tx: Tx): Promise<string> {
  const [exported] = await tx.query<{ name: string }>('SELECT pg_export_snapshot() AS name');
  if (exported === undefined) throw new Error('pg_export_snapshot returned nothing');
  return exported.name;
}

interface SnapshotOptions {
  timeoutMs?: number;
  readOnly?: boolean;
  /** The snapshot of another open transaction; a new one by default. */
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
      if (snapshot !== undefined) await tx.query(`SET TRANSACTION SNAPSHOT '${snapshot}'`);
      tx.allowTime(timeoutMs + ANSWER_GRACE_MS);
      await tx.query(
        `SELECT set_config(name, value, true)
           FROM (VALUES ('statement_timeout', '${timeoutMs}'), ('work_mem', '256MB'),
                        ('max_parallel_workers_per_gather', '2'), ('jit', 'off'),
                        ('client_connection_check_interval', '2s')) AS setting(name, value)`,
      );
      return work(tx);
    },
    { isRepeatable: true, isReadOnly: readOnly },
  );
}
