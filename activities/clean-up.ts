/**
 * Deletes expired idempotency records and old webhook data (decision H8). Safe to run twice, also
 * concurrently: locked rows are left for the next run.
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
 * Runs short batches, so that no statement locks rows for long, until a batch is not full.
 * @param batches at most `max` in one run: a backlog takes several runs
 * @param work processes one batch and returns the number of rows
 * @returns the total number of rows
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
