/**
 * Runs on a schedule: deletes expired records (decisions I3 and H8), and opens a case if the ledger check
 * is late.
 */
import { activities } from './activities';

const { cleanUpKeys, cleanUpWebhooks, noteLateLedgerCheck } = activities<
  'cleanUpKeys' | 'cleanUpWebhooks' | 'noteLateLedgerCheck'
>({
  startToCloseTimeout: '60 seconds',
  retry: { maximumAttempts: 3 },
});

interface CleanedUp {
  keys: number;
  bodies: number;
  attempts: number;
}

/** Each runs even if another fails. */
export async function cleanUpWorkflow(): Promise<CleanedUp> {
  const [keys, webhooks, late] = await Promise.allSettled([
    cleanUpKeys(),
    cleanUpWebhooks(),
    noteLateLedgerCheck(),
  ]);
  if (keys.status === 'rejected') throw keys.reason;
  if (webhooks.status === 'rejected') throw webhooks.reason;
  if (late.status === 'rejected') throw late.reason;
  return { keys: keys.value.deleted, ...webhooks.value };
}
