/** Runs on a schedule: deletes what may no longer be asked for (decisions I3 and H8). */
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

/** Both run, whatever becomes of the other. */
export async function cleanUpWorkflow(): Promise<CleanedUp> {
  const [keys, webhooks] = await Promise.allSettled([cleanUpKeys(), cleanUpWebhooks()]);
  if (keys.status === 'rejected') throw keys.reason;
  if (webhooks.status === 'rejected') throw webhooks.reason;
  return { keys: keys.value.deleted, ...webhooks.value };
}
