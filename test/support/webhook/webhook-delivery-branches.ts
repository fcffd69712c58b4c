/** The ways that a delivery can go, as data: what its receiver answers, what people do, how it ends. */
import { readWebhookDeliveriesToStart } from '../../../src/db/webhooks/webhook-deliveries';
import { disableEndpoint } from '../../../src/features/webhooks/webhook-endpoints';
import type { FaultPlan } from '../chaos/activity-faults';
import {
  BY,
  deliveryOf,
  type WebhookDeliveryWorld,
  openEndpoint,
  whenWebhookDelivery,
  writeEvent,
} from './webhook-delivery-world';
import { type Receiver, startReceiver } from './webhook-receiver';

/** Short, except where a branch waits for a person: after the third attempt. */
export const BRANCH_SCHEDULE = [40, 40, 3_600_000, 40, 40, 40, 40];

export interface WebhookDeliveryCase {
  deliveryId: string;
  eventId: string;
  receiver: Receiver;
}

export interface WebhookDeliveryBranch {
  /** Also the name of its history. */
  name: string;
  /** The answers, one after the other; the last one again and again. */
  answers: number[];
  act?: (delivery: WebhookDeliveryCase, world: WebhookDeliveryWorld) => Promise<void>;
  end: string;
  /** Attempts of the schedule, and requests that the receiver gets. */
  attempts: number;
  requests: number;
}

/** Once the hour-long wait has begun. */
async function whenWaiting(
  { eventId }: WebhookDeliveryCase,
  world: WebhookDeliveryWorld,
): Promise<void> {
  await whenWebhookDelivery(
    world,
    eventId,
    'waits for a person',
    ({ attempts, nextAttemptAt: at }) => attempts === 3 && at !== null && +at > Date.now() + 60_000,
  );
}

const signal =
  (name: string, ...input: unknown[]) =>
  async (delivery: WebhookDeliveryCase, world: WebhookDeliveryWorld): Promise<void> => {
    await whenWaiting(delivery, world);
    await world.temporal.workflow.getHandle(delivery.deliveryId).signal(name, ...input);
  };

export const DELIVERY_BRANCHES: readonly WebhookDeliveryBranch[] = [
  { name: 'taken-at-once', answers: [200], end: 'succeeded', attempts: 1, requests: 1 },
  { name: 'taken-later', answers: [500, 302, 204], end: 'succeeded', attempts: 3, requests: 3 },
  {
    name: 'never-taken',
    answers: [503],
    // A person's retry leaves the schedule as it is; here it is brought forward too.
    act: async (delivery, world) => {
      await whenWaiting(delivery, world);
      await world.sql(
        `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = '${delivery.deliveryId}'`,
      );
      await world.temporal.workflow.getHandle(delivery.deliveryId).signal('wake');
    },
    end: 'failed',
    attempts: 8,
    requests: 8,
  },
  {
    name: 'retried-by-hand',
    answers: [500, 500, 500, 200],
    act: signal('retryNow', { by: 'alice' }),
    end: 'succeeded',
    attempts: 3,
    requests: 4,
  },
  {
    name: 'abandoned',
    answers: [500],
    act: signal('abandon', { by: 'alice' }),
    end: 'abandoned',
    attempts: 3,
    requests: 3,
  },
  {
    name: 'endpoint-disabled',
    answers: [500],
    act: async (delivery, world) => {
      await whenWaiting(delivery, world);
      const { endpointId } = await deliveryOf(world, delivery.eventId);
      await disableEndpoint.make(world.appDb, BY, { id: endpointId }, {});
      await world.temporal.workflow.getHandle(delivery.deliveryId).signal('wake');
    },
    end: 'skipped',
    attempts: 3,
    requests: 3,
  },
];

/** Starts the delivery and does what its branch has people do. The receiver is the caller's to stop. */
export async function startWebhookDeliveryBranch(
  world: WebhookDeliveryWorld,
  { answers, act }: WebhookDeliveryBranch,
  plan?: FaultPlan,
): Promise<WebhookDeliveryCase> {
  let answered = 0;
  const receiver = await startReceiver((_request, response) => {
    response.writeHead(answers[Math.min(answered, answers.length - 1)]!).end();
    answered += 1;
  });
  const of = { ...world, accountId: await world.newAccount() };
  await openEndpoint(of, receiver.url);
  const event = await writeEvent(of);
  const { id: deliveryId } = await deliveryOf(world, event.id);
  if (plan !== undefined) world.planFaults(deliveryId, plan);
  const [start] = await readWebhookDeliveriesToStart(world.db, [deliveryId]);
  await world.parts.webhookDeliveryWorkflows.start(start!);
  const delivery = { deliveryId, eventId: event.id, receiver };
  await act?.(delivery, world);
  return delivery;
}
