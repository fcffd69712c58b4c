/** Forgets idempotency records that nobody can ask for any more; run by the reconciler. */
import { deleteEndedKeys } from '../src/db/repositories/idempotency';
import type { Db } from '../src/db/transaction';
import { inBatches } from './batches';

const BATCHES = { size: 1_000, most: 20 };

/** Safe to run twice, also at the same time: a row that somebody holds is left for the next run. */
export async function cleanUpKeys(db: Db): Promise<{ deleted: number }> {
  return { deleted: await inBatches(BATCHES, (limit) => deleteEndedKeys(db, limit)) };
}
