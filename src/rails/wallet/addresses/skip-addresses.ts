/**
 * Keeps a restored database from giving out an address twice. Which addresses were given out after the
 * backup cannot be known: most of them have received nothing yet. So the first start on a database that
 * may be a restored one leaves a gap that is larger than what can have been given out since the database
 * was last written.
 */
import type { Database, Db } from '../db/database';
import type { DatabaseIdentity } from '../db/identity';
import type { WalletMode } from '../networks';

/** An installation opens fewer checkouts in a second, on average. */
const GAP_PER_SECOND = 10;
/** A copy of the database may be some seconds behind. */
const GAP_MIN = 100;
/** More is no restore that this could make safe; the numbers end at 2,147,483,647. */
const SECONDS_MAX = 30 * 86_400;
/** One statement stays below the database's time limit. */
const NUMBERS_AT_ONCE = 1_000_000;

/** A copy in the place of the same database takes longer than a restart. */
const RESTART_SECONDS_MAX = 120;

/** Before the first address is given out. Nothing happens when the same database was just in use. */
export async function skipAfterRestore(
  db: Database,
  modes: readonly WalletMode[],
  { now, before }: DatabaseIdentity,
): Promise<void> {
  const isSame = now !== null && now === before;
  for (const mode of modes) {
    const seconds = await readAge(db, mode);
    if (seconds === null || (isSame && seconds <= RESTART_SECONDS_MAX)) continue;
    await skipAddresses(db, mode, seconds);
  }
}

/** Seconds since the database was written. Null before the first checkout of the mode. */
async function readAge(db: Db, mode: WalletMode): Promise<number | null> {
  const [state] = await db.query<{ seconds: number | null }>(
    `SELECT ceil(extract(epoch FROM clock_timestamp() - max(updated_at)))::int AS seconds
     FROM wallet.followed_chain
     WHERE mode = $1 AND EXISTS (SELECT 1 FROM wallet.checkout WHERE mode = $1)`,
    [mode],
  );
  return state?.seconds ?? null;
}

async function skipAddresses(db: Db, mode: WalletMode, seconds: number): Promise<void> {
  let left = GAP_MIN + GAP_PER_SECOND * Math.min(Math.max(seconds, 0), SECONDS_MAX);
  while (left > 0) {
    const numbers = Math.min(left, NUMBERS_AT_ONCE);
    await db.query('SELECT count(nextval($1::regclass)) FROM generate_series(1, $2)', [
      `wallet.address_index_${mode}_evm`,
      numbers,
    ]);
    left -= numbers;
  }
}
