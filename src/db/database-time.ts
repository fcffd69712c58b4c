/**
 * The time of PostgreSQL, for decisions that depend on time. The clock of the machine that runs a
 * process may be wrong, and may jump.
 */
import type { Db, Tx } from './transaction';

/**
 * How often the time is read. In between, the process's monotonic timer counts on, which a change of the
 * clock does not move.
 */
const READ_EVERY_MS = 60_000;

/** One for the process, because all its connections lead to one server. `atMs` by performance.now(). */
let known: { atMs: number; unixMs: number } | null = null;

/** The time of PostgreSQL, late by as much as its answer took and never early. */
export async function databaseTime(db: Db | Tx): Promise<Date> {
  if (known === null || performance.now() - known.atMs > READ_EVERY_MS) {
    known = { unixMs: await readUnixMs(db), atMs: performance.now() };
  }
  return new Date(known.unixMs + performance.now() - known.atMs);
}

async function readUnixMs(db: Db | Tx): Promise<number> {
  const [clock] = await db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  if (clock === undefined) throw new Error('PostgreSQL returned no time');
  return clock.now.getTime();
}
