/**
 * Runs on a schedule: deletes expired records (decisions/api#idempotency and decisions/webhooks#retention), stores the
 * sums of new postings (decisions/books#statements), and opens a case if the ledger check is late.
 */
import { activities } from './activities';

const { cleanUpKeys, cleanUpWebhooks, noteLateLedgerCheck, sumPostings } = activities<
  'cleanUpKeys' | 'cleanUpWebhooks' | 'noteLateLedgerCheck' | 'sumPostings'
>({
  // A step ends by itself (activities/clean-up.ts). It takes longer than this only when its worker is
  // gone.
  startToCloseTimeout: '2 minutes',
  retry: { maximumAttempts: 3 },
});

interface CleanedUp {
  keys: number;
  bodies: number;
  attempts: number;
}

/** Each step runs even if another fails. */
export async function cleanUpWorkflow(): Promise<CleanedUp> {
  const [keys, webhooks, ...others] = await Promise.allSettled([
    cleanUpKeys(),
    cleanUpWebhooks(),
    noteLateLedgerCheck(),
    sumPostings(),
  ]);
  if (keys.status === 'rejected') throw keys.reason;
  if (webhooks.status === 'rejected') throw webhooks.reason;
  for (const other of others) if (other.status === 'rejected') throw other.reason;
  return { keys: keys.value.deleted, ...webhooks.value };
}
