/** Forgets idempotency records that nobody can ask for any more; run by the reconciler. */
import { deleteEndedKeys } from '../src/db/repositories/idempotency';
import type { Db } from '../src/db/transaction';

/** Small enough that no statement holds its rows for long. */
const BATCH = 1_000;

/** So many batches in one run at most: a backlog is worked off over several runs. */
const BATCHES = 20;

/** Safe to run twice, also at the same time: a row that somebody holds is left for the next run. */
export async function cleanUpKeys(db: Db): Promise<{ deleted: number }> {
  let deleted = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    const count = await deleteEndedKeys(db, BATCH);
    deleted += count;
    if (count < BATCH) break;
  }
  return { deleted };
}
