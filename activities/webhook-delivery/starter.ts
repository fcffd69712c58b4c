/**
 * Starts the workflows of deliveries that an activity has just committed, in the background: the
 * activity waits for nothing and fails with nothing of this. What is lost here the reconciler
 * finds, half a minute later.
 */
import type { Logger } from 'pino';
import { listUnstarted } from '../../src/db/repositories/webhook-deliveries';
import type { Db } from '../../src/db/transaction';
import type { WebhookDeliveryWorkflows } from '../../src/temporal/webhook-delivery-workflows';

export interface WebhookDeliveryStarter {
  /** The object may have new events. */
  notice(objectId: string): void;
  /** Waits for what is under way; what comes later is left to the reconciler. */
  drain(): Promise<void>;
}

/** Objects that are looked at at once; each takes a connection for a moment. */
const LOOKS = 4;
/** More than this wait only when Temporal or the database hangs. */
const WAITING_MAX = 2_000;

export function createWebhookDeliveryStarter({
  db,
  webhookDeliveryWorkflows,
  logger,
}: {
  db: Db;
  webhookDeliveryWorkflows: WebhookDeliveryWorkflows;
  logger: Pick<Logger, 'warn'>;
}): WebhookDeliveryStarter {
  const waiting = new Set<string>();
  const looks = new Set<Promise<void>>();
  let draining = false;

  const look = async (objectId: string): Promise<void> => {
    try {
      for (const delivery of await listUnstarted(db, objectId)) {
        if (draining) return;
        await webhookDeliveryWorkflows.start(delivery);
      }
    } catch (error) {
      logger.warn({ objectId, err: error }, 'deliveries are left to the reconciler');
    }
  };
  const fill = (): void => {
    for (const objectId of waiting) {
      if (looks.size >= LOOKS) return;
      waiting.delete(objectId);
      const running = look(objectId).finally(() => {
        looks.delete(running);
        fill();
      });
      looks.add(running);
    }
  };
  return {
    notice: (objectId) => {
      if (draining || waiting.size >= WAITING_MAX) return;
      waiting.add(objectId);
      fill();
    },
    drain: async () => {
      draining = true;
      waiting.clear();
      await Promise.all(looks);
    },
  };
}
