/**
 * Starts the workflows of deliveries that an activity has just committed, in the background: the
 * activity waits for nothing and fails with nothing of this. restart-missing finds what is lost
 * here half a minute later.
 */
import type { Logger } from 'pino';
import { listUnstarted } from '../../src/db/repositories/webhook-deliveries';
import type { Db } from '../../src/db/transaction';
import type { WebhookDeliveryWorkflows } from '../../src/temporal/webhook-delivery-workflows';

export interface WebhookDeliveryStarter {
  /** Called after a commit by whoever may have appended events of the object. */
  announce(objectId: string): void;
  /** Waits for what is under way; what comes later is left to restart-missing. */
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
      logger.warn({ objectId, err: error }, 'deliveries are left to restart-missing');
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
    announce: (objectId) => {
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
