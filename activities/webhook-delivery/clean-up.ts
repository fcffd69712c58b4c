/** Forgets what webhooks sent and got once it is old enough (decision H8); run by the reconciler. */
import { forgetEventBodies } from '../../src/db/repositories/events';
import {
  deleteOldAttempts,
  forgetResponseBodies,
} from '../../src/db/repositories/webhook-attempts';
import type { Db } from '../../src/db/transaction';
import { inBatches } from '../batches';

/** Of each kind. */
const BATCHES = { size: 500, most: 10 };

/** Safe to run twice, also at the same time: a row that somebody holds is left for the next run. */
export async function cleanUpWebhooks(db: Db): Promise<{ bodies: number; attempts: number }> {
  const events = await inBatches(BATCHES, (limit) => forgetEventBodies(db, limit));
  const responses = await inBatches(BATCHES, (limit) => forgetResponseBodies(db, limit));
  const attempts = await inBatches(BATCHES, (limit) => deleteOldAttempts(db, limit));
  return { bodies: events + responses, attempts };
}
