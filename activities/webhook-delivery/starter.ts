/**
 * Starts the workflows of deliveries that an activity has just committed, in the background: the
 * activity neither waits for them nor fails with them. restart-missing starts what is lost here
 * half a minute later.
 */
import { AsyncResource } from 'node:async_hooks';
import type { Logger } from 'pino';
import { listUnstarted } from '../../src/db/webhooks/webhook-deliveries';
import type { Db } from '../../src/db/transaction';
import type {
  WebhookDeliveryStart,
  WebhookDeliveryWorkflows,
} from '../../src/temporal/webhook-delivery-workflows';

export interface WebhookDeliveryStarter {
  /** Starts the deliveries. Call it after the commit that inserted them. */
  start(deliveries: readonly WebhookDeliveryStart[]): void;
  /** Starts whatever was committed for the object, when that is not known. */
  lookFor(objectId: string): void;
  /** Waits for running starts; later ones are left to restart-missing. */
  drain(): Promise<void>;
}

const STARTS_AT_ONCE = 8;
/** Each look uses a database connection. */
const LOOKS_AT_ONCE = 2;
/** The limit is reached only if Temporal or the database does not respond. */
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
  const onError = (objectId: string, err: unknown): void => {
    logger.warn({ objectId, err }, 'deliveries are left to restart-missing');
  };
  const starts = createQueue<WebhookDeliveryStart>(STARTS_AT_ONCE, (delivery) =>
    webhookDeliveryWorkflows.start(delivery).catch((error: unknown) => {
      onError(delivery.objectId, error);
    }),
  );
  const looks = createQueue<string>(LOOKS_AT_ONCE, async (objectId) => {
    try {
      for (const delivery of await listUnstarted(db, objectId)) starts.add(delivery);
    } catch (error) {
      onError(objectId, error);
    }
  });
  return {
    start: (deliveries) => {
      for (const delivery of deliveries) starts.add(delivery);
    },
    lookFor: (objectId) => {
      looks.add(objectId);
    },
    drain: async () => {
      await looks.drain();
      await starts.drain();
    },
  };
}

interface Queue<T> {
  add(item: T): void;
  /** Waits for running work, and forgets the rest. */
  drain(): Promise<void>;
}

/** Works on items in their order, so many at a time. @param work handles its errors */
function createQueue<T>(atOnce: number, work: (item: T) => Promise<void>): Queue<T> {
  /** The work belongs to the trace of the activity that added the item. */
  const waiting = new Map<T, () => Promise<void>>();
  const running = new Set<Promise<void>>();
  let isDraining = false;
  const fill = (): void => {
    for (const [item, start] of waiting) {
      if (running.size >= atOnce) return;
      waiting.delete(item);
      const run = start().finally(() => {
        running.delete(run);
        fill();
      });
      running.add(run);
    }
  };
  return {
    add: (item) => {
      if (isDraining || waiting.size >= WAITING_MAX) return;
      if (!waiting.has(item)) {
        waiting.set(
          item,
          AsyncResource.bind(() => work(item)),
        );
      }
      fill();
    },
    drain: async () => {
      isDraining = true;
      waiting.clear();
      await Promise.all(running);
    },
  };
}
