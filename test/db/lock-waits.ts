/** For tests that hold a lock on purpose. */
import type { Db } from '../../src/db/transaction';
import { waitFor } from '../support/wait-for';

/** Sessions of the database that wait for a lock. */
export async function countWaiting(db: Db): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row!.n;
}

/** Until so many of them wait. */
export async function whenWaiting(db: Db, count: number): Promise<void> {
  await waitFor(`${count} sessions that wait`, async () => (await countWaiting(db)) >= count);
}
