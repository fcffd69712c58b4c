/**
 * Starts the workflows of deliveries that an activity has just committed, in the background: the
 * activity neither waits for them nor fails with them. restart-missing starts what is lost here
 * half a minute later.
 */
import { AsyncResource } from 'node:async_hooks';
import type { Logger } from 'pino';
import { listUnstarted } from '../../src/db/repositories/webhook-deliveries';
import type { Db } from '../../src/db/transaction';
import type { WebhookDeliveryWorkflows } from '../../src/temporal/webhook-delivery-workflows';

export interface WebhookDeliveryStarter {
  /** Call it after a commit that may have appended events of the object. */
  announce(objectId: string): void;
  /** Waits for running starts; later ones are left to restart-missing. */
  drain(): Promise<void>;
}

/** Objects processed concurrently; each uses a database connection briefly. */
const LOOKS = 4;
/** More objects wait only if Temporal or the database does not respond. */
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
  /** Each look belongs to the trace of the activity that announced it. */
  const waiting = new Map<string, () => Promise<void>>();
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
    for (const [objectId, start] of waiting) {
      if (looks.size >= LOOKS) return;
      waiting.delete(objectId);
      const running = start().finally(() => {
        looks.delete(running);
        fill();
      });
      looks.add(running);
    }
  };
  return {
    announce: (objectId) => {
      if (draining || waiting.size >= WAITING_MAX) return;
      if (!waiting.has(objectId)) {
        waiting.set(
          objectId,
          AsyncResource.bind(() => look(objectId)),
        );
      }
      fill();
    },
    drain: async () => {
      draining = true;
      waiting.clear();
      await Promise.all(looks);
    },
  };
}
