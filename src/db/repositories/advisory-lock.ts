/** Changes of one thing go one after the other, also while there is no row of it to lock. */
import { rows, type Tx } from '../transaction';

/** Waits for the others; held until the transaction ends. */
export async function lockByName(tx: Tx, ...name: (string | null)[]): Promise<void> {
  await rows(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [JSON.stringify(name)]);
}
