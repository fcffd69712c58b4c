/** Forgets what webhooks sent and got once it is old enough (decision H8); run by the reconciler. */
import { forgetEventBodies } from '../../src/db/repositories/events';
import {
  deleteOldAttempts,
  forgetResponseBodies,
} from '../../src/db/repositories/webhook-attempts';
import type { Db } from '../../src/db/transaction';

/** Small enough that no statement holds its rows for long. */
const BATCH = 500;

/** So many batches of each kind in one run at most: a backlog is worked off over several runs. */
const BATCHES = 10;

/** Safe to run twice, also at the same time: a row that somebody holds is left for the next run. */
export async function cleanUpWebhooks(db: Db): Promise<{ bodies: number; attempts: number }> {
  const events = await inBatches((limit) => forgetEventBodies(db, limit));
  const responses = await inBatches((limit) => forgetResponseBodies(db, limit));
  const attempts = await inBatches((limit) => deleteOldAttempts(db, limit));
  return { bodies: events + responses, attempts };
}

async function inBatches(work: (limit: number) => Promise<number>): Promise<number> {
  let done = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    const count = await work(BATCH);
    done += count;
    if (count < BATCH) break;
  }
  return done;
}
