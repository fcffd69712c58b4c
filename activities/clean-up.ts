/**
 * Deletes idempotency records that nobody can ask for any more, and what webhooks sent and received
 * once it is old enough (decision H8). Safe to run twice, also at the same time: a row that somebody
 * holds is left for the next run.
 */
import { forgetEventBodies } from '../src/db/repositories/events';
import { deleteEndedKeys } from '../src/db/repositories/idempotency';
import { deleteOldAttempts, forgetResponseBodies } from '../src/db/repositories/webhook-attempts';
import type { Db } from '../src/db/transaction';

export async function cleanUpKeys(db: Db): Promise<{ deleted: number }> {
  const batches = { size: 1_000, max: 20 };
  return { deleted: await inBatches(batches, (limit) => deleteEndedKeys(db, limit)) };
}

export async function cleanUpWebhooks(db: Db): Promise<{ bodies: number; attempts: number }> {
  const batches = { size: 500, max: 40 };
  const events = await inBatches(batches, (limit) => forgetEventBodies(db, limit));
  const responses = await inBatches(batches, (limit) => forgetResponseBodies(db, limit));
  const attempts = await inBatches(batches, (limit) => deleteOldAttempts(db, limit));
  return { bodies: events + responses, attempts };
}

/**
 * Many rows in short statements, so that none holds its rows for long, until a batch is not full.
 * @param batches at most `max` in one run: a backlog is worked off over several runs
 * @param work does one batch and says how many rows it took
 * @returns how many rows all of them took
 */
async function inBatches(
  { size, max }: { size: number; max: number },
  work: (limit: number) => Promise<number>,
): Promise<number> {
  let done = 0;
  for (let batch = 0; batch < max; batch++) {
    const count = await work(size);
    done += count;
    if (count < size) break;
  }
  return done;
}
