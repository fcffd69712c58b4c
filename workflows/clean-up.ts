/** Runs on a schedule: deletes expired records (decisions I3 and H8). */
import { activities } from './activities';

const { cleanUpKeys, cleanUpWebhooks } = activities<'cleanUpKeys' | 'cleanUpWebhooks'>({
  startToCloseTimeout: '60 seconds',
  retry: { maximumAttempts: 3 },
});

interface CleanedUp {
  keys: number;
  bodies: number;
  attempts: number;
}

/** Each runs even if the other fails. */
export async function cleanUpWorkflow(): Promise<CleanedUp> {
  const [keys, webhooks] = await Promise.allSettled([cleanUpKeys(), cleanUpWebhooks()]);
  if (keys.status === 'rejected') throw keys.reason;
  if (webhooks.status === 'rejected') throw webhooks.reason;
  return { keys: keys.value.deleted, ...webhooks.value };
}
