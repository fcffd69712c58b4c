/**
 * Deletes expired idempotency records, sessions, invitations and attempts to sign in, old days of the
 * request log and of the calls to providers, old runs of schedules, and old webhook data (decisions/webhooks#retention), and stores the sums of new postings (decisions/books#statements). Safe
 * to run twice, also concurrently: locked rows are left for the next run.
 */
import { forgetEventBodies } from '../src/db/webhooks/events';
import { forgetOldSignIns } from '../src/db/people/authentication-attempts';
import { deleteEndedKeys } from '../src/db/idempotency';
import { deleteOldRuns } from '../src/db/payout-schedules/payout-schedule-runs';
import { forgetProviderCalls } from '../src/db/operations/provider-calls';
import { forgetRequestLog } from '../src/db/request-log/request-log';
import { listUnsummedBalances, storeSums } from '../src/db/books/statements';
import { deleteOldAttempts, forgetResponseBodies } from '../src/db/webhooks/webhook-attempts';
import type { Db } from '../src/db/transaction';

/**
 * After this time a step starts no other statement. The last one may take the 15 seconds of the statement
 * timeout: together at most 110 seconds for an activity, which has two minutes (workflows/clean-up.ts).
 */
const KEYS_FOR_MS = 40_000;
const SIGN_INS_FOR_MS = 10_000;
/** Each of four steps has its own time, so that a backlog of one does not delay the others. */
const WEBHOOKS_FOR_MS = 15_000;
const SUMS_FOR_MS = 20_000;

/** One batch locks its rows for a fraction of a second. */
const BATCH = 2_000;

export async function cleanUpKeys(db: Db, forMs = KEYS_FOR_MS): Promise<{ deleted: number }> {
  const deleted = await inBatches(forMs, (limit) => deleteEndedKeys(db, limit));
  await forgetRequestLog(db);
  await forgetProviderCalls(db);
  await inBatches(SIGN_INS_FOR_MS, (limit) => forgetOldSignIns(db, limit));
  return { deleted };
}

export async function cleanUpWebhooks(
  db: Db,
  forMs = WEBHOOKS_FOR_MS,
): Promise<{ bodies: number; attempts: number }> {
  const events = await inBatches(forMs, (limit) => forgetEventBodies(db, limit));
  await inBatches(forMs, (limit) => deleteOldRuns(db, limit));
  const responses = await inBatches(forMs, (limit) => forgetResponseBodies(db, limit));
  const attempts = await inBatches(forMs, (limit) => deleteOldAttempts(db, limit));
  return { bodies: events + responses, attempts };
}

/** Every balance gets its next pieces before one gets more. */
export async function sumPostings(db: Db, forMs = SUMS_FOR_MS): Promise<void> {
  const until = performance.now() + forMs;
  for (;;) {
    const balances = await listUnsummedBalances(db);
    if (balances.length === 0) return;
    for (const balance of balances) {
      await storeSums(db, balance);
      if (performance.now() >= until) return;
    }
  }
}

/**
 * Runs short batches, so that no statement locks rows for long, until a batch is not full or the time
 * is over.
 * @param work processes one batch and returns the number of rows
 * @returns the total number of rows
 */
async function inBatches(forMs: number, work: (limit: number) => Promise<number>): Promise<number> {
  const until = performance.now() + forMs;
  let done = 0;
  for (;;) {
    const count = await work(BATCH);
    done += count;
    if (count < BATCH || performance.now() >= until) return done;
  }
}
