/** What must be true of all events and deliveries when a test is over, whatever was killed in it. */
import type { Client } from '@temporalio/client';
import { readWebhookDeliveriesToStart } from '../../../src/db/webhooks/webhook-deliveries';
import type { Db } from '../../../src/db/transaction';
import { createWebhookDeliveryWorkflows } from '../../../src/temporal/webhook-delivery-workflows';

/**
 * @param arrived the ids of events, once for each time that the endpoint's receiver got them
 * @returns a sentence for everything that is wrong; none when every event has arrived
 */
export async function auditWebhookDeliveries(
  db: Db,
  endpointId: string,
  arrived: readonly string[],
): Promise<string[]> {
  // A row of a batch is created without a webhook (decisions/payouts#payout-batches).
  const events = await db.query<{ id: string; status: string | null; attempts: number | null }>(
    `SELECT e.id, d.status, d.attempts FROM events e
       JOIN webhook_endpoints p ON p.account_id = e.account_id AND p.mode = e.mode AND p.id = ?
       LEFT JOIN webhook_deliveries d ON d.event_id = e.id AND d.endpoint_id = p.id
      WHERE e.sequence > 1 OR NOT EXISTS
            (SELECT FROM payouts r WHERE r.id = e.object_id AND r.batch_id IS NOT NULL)`,
    [endpointId],
  );
  const known = new Set(events.map(({ id }) => id));
  const came = new Set(arrived);
  const stray = arrived.filter((id) => !known.has(id));
  return [
    ...stray.map((id) => `${id} arrived, and no such change was committed`),
    ...events.flatMap(({ id, status, attempts }) => {
      if (status === null) return [`${id} has no delivery`];
      if (status !== 'succeeded') return [`${id} is ${status} after ${attempts ?? 0} attempts`];
      return came.has(id) ? [] : [`${id} succeeded and never arrived`];
    }),
  ];
}

/** An attempt that a kill cut off is made again a minute later: no test has that long. */
export async function hurryDeliveries({
  db,
  temporal,
}: {
  db: Db;
  temporal: Client;
}): Promise<void> {
  const waiting = await db.query<{
    id: string;
  }>(`UPDATE webhook_deliveries SET next_attempt_at = clock_timestamp(), check_at = clock_timestamp()
      WHERE status = 'pending' AND attempts > 0 AND next_attempt_at > clock_timestamp() RETURNING id`);
  const workflows = createWebhookDeliveryWorkflows(temporal);
  const ids = waiting.map(({ id }) => id);
  for (const one of await readWebhookDeliveriesToStart(db, ids)) await workflows.wake(one);
}
