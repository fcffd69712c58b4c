/**
 * Deliveries with everything real around them: database, Temporal namespace, receivers over HTTP.
 * The worker runs inside the test, with a schedule of the test's own. Events are written as a
 * status change writes them.
 */
import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createActivities } from '../../../activities';
import type { EventType } from '../../../src/domain/events';
import { connect } from '../../../src/db/connect';
import { appendEvent, withEvents } from '../../../src/db/webhooks/events';
import type { Db } from '../../../src/db/transaction';
import type { RetryScheduleMs } from '../../../src/domain/webhook-delivery';
import type { Mode } from '../../../src/domain/mode';
import { newId } from '../../../src/platform/lib/new-id';
import { presentEvent } from '../../../src/kit/service/envelope';
import { createEndpoint } from '../../../src/features/webhooks/webhook-endpoints';
import { PAYLOAD_CONVERTER_PATH } from '../../../src/temporal/worker';
import { TASK_QUEUES } from '../../../workflows/names';
import { type FaultPlan, withFaults } from '../chaos/activity-faults';
import { createTestDatabase } from '../servers/database';
import { createMerchant } from '../merchant/merchant';
import { createWebhookParts } from './webhook-parts';
import { ignoreStillInUse, quietRuntime } from '../servers/workflow-world';
import { waitThroughFaults } from '../wait-for';
import { createNamespace } from '../servers/gateway';
import { readPage } from '../workflow-page';

export type WebhookParts = ReturnType<typeof createWebhookParts>;

export interface WebhookDeliveryWorld {
  /** With the owner's rights. */
  db: Db;
  /** With the application's. */
  appDb: Db;
  temporal: Client;
  parts: WebhookParts;
  /** The account of these endpoints and events; a test may take a new one. */
  accountId: string;
  newAccount(): Promise<string>;
  planFaults(deliveryId: string, plan: FaultPlan): void;
  /** What restart-missing calls. */
  restartWebhookDeliveries(): Promise<{ ensured: number }>;
  sql(statement: string): Promise<unknown>;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  stop(): Promise<void>;
}

export const BY = { actor: 'test', reason: null };

export async function startWebhookDeliveryWorld(
  schedule?: RetryScheduleMs,
  deadlineMs?: number,
): Promise<WebhookDeliveryWorld> {
  quietRuntime();
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const database = await createTestDatabase();
  const connection = await createNamespace(address, namespace);
  const db = connect({ url: database.ownerUrl, size: 4, applicationName: 'test' });
  const appDb = connect({ url: database.appUrl, size: 20, applicationName: 'gateway-test' });
  const temporal = new Client({ connection, namespace });
  const parts = createWebhookParts(appDb, temporal, schedule, deadlineMs);
  const plans = new Map<string, FaultPlan>();
  // Only deliveries run here: nobody asks a provider.
  const deps = { db: appDb, ...parts } as unknown as Parameters<typeof createActivities>[0];
  const activities = withFaults(createActivities(deps), (id) => plans.get(id));
  const native = await NativeConnection.connect({ address });
  const worker = workersOf(native, namespace, activities);
  await worker.start();
  const newAccount = async () =>
    (await createMerchant(db, randomBytes(32).toString('hex'))).accountId;
  return {
    db,
    appDb,
    temporal,
    parts,
    accountId: await newAccount(),
    newAccount,
    restartWebhookDeliveries: () => activities.restartWebhookDeliveries(),
    sql: (statement) => db.query(statement),
    planFaults: (deliveryId, plan) => void plans.set(deliveryId, plan),
    startWorker: worker.start,
    stopWorker: worker.stop,
    stop: async () => {
      await worker.stop();
      await parts.webhookDeliveryStarter.drain();
      await parts.webhookSender.close();
      await Promise.all([native.close(), connection.close(), db.destroy(), appDb.destroy()]);
      await database.drop();
    },
  };
}

function workersOf(connection: NativeConnection, namespace: string, activities: object) {
  let running: { worker: Worker; ended: Promise<void> }[] = [];
  const create = (taskQueue: string) =>
    Worker.create({
      connection,
      namespace,
      taskQueue,
      workflowBundle: { codePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' },
      activities,
      dataConverter: { payloadConverterPath: PAYLOAD_CONVERTER_PATH },
      shutdownGraceTime: '1500 ms',
      shutdownForceTime: '2 seconds',
    });
  return {
    start: async () => {
      const queues = [TASK_QUEUES.webhooks, TASK_QUEUES.webhooksRetry];
      const workers = await Promise.all(queues.map(create));
      running = workers.map((worker) => ({ worker, ended: worker.run().catch(ignoreStillInUse) }));
    },
    stop: async () => {
      const all = running;
      running = [];
      for (const { worker } of all) worker.shutdown();
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

export function openEndpoint(
  { appDb, parts, accountId }: WebhookDeliveryWorld,
  url: string,
  {
    events = ['all'],
    ...owner
  }: { mode?: Mode; events?: (EventType | 'all')[]; accountId?: string } = {},
) {
  const subject = { ...parts, accountId, mode: 'test' as const, ...owner };
  return createEndpoint.make(appDb, BY, subject, { url, events });
}

export interface WrittenEvent {
  id: string;
  objectId: string;
  body: Buffer;
  /** Stands in the body and nowhere else. */
  note: string;
}

/** Writes what a status change of a payout writes. */
export async function writeEvent(
  { appDb, accountId }: WebhookDeliveryWorld,
  overrides: { type?: EventType; mode?: Mode; objectId?: string; sequence?: number } = {},
): Promise<WrittenEvent> {
  const { type = 'payout.completed', mode = 'test', sequence = 1 } = overrides;
  const objectId = overrides.objectId ?? newId('payout');
  const event = { id: newId('event'), type, mode, sequence, createdAt: new Date() };
  const note = `ünïcode ${randomBytes(8).toString('hex')}`;
  const body = presentEvent(event, {
    id: objectId,
    object: 'payout',
    description: note,
  });
  await appDb.transaction((tx) => {
    appendEvent(withEvents(tx), { ...event, accountId, objectId, body });
  });
  return { id: event.id, objectId, body, note };
}

export interface WebhookDeliveryRow {
  id: string;
  endpointId: string;
  status: string;
  attempts: number;
  lastError: string | null;
  nextAttemptAt: Date | null;
}

export async function deliveriesOf(
  { db }: WebhookDeliveryWorld,
  eventId: string,
): Promise<WebhookDeliveryRow[]> {
  return db.query<WebhookDeliveryRow>(
    `SELECT id, endpoint_id, status, attempts, last_error, next_attempt_at FROM webhook_deliveries
      WHERE event_id = ? ORDER BY id`,
    [eventId],
  );
}

export async function deliveryOf(
  world: WebhookDeliveryWorld,
  eventId: string,
): Promise<WebhookDeliveryRow> {
  const [delivery, ...more] = await deliveriesOf(world, eventId);
  if (delivery === undefined || more.length > 0) throw new Error(`not one delivery of ${eventId}`);
  return delivery;
}

/** The event's only delivery, once it is as wanted. */
export function whenWebhookDelivery(
  world: WebhookDeliveryWorld,
  eventId: string,
  what: string,
  isSo: (delivery: WebhookDeliveryRow) => boolean,
): Promise<WebhookDeliveryRow> {
  return waitThroughFaults(`the delivery of ${eventId} ${what}`, async () => {
    const delivery = await deliveryOf(world, eventId);
    return isSo(delivery) ? delivery : undefined;
  });
}

export interface AttemptRow {
  number: number;
  manual: boolean;
  outcome: string | null;
  errorCode: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}

export async function attemptsOf(
  { db }: WebhookDeliveryWorld,
  deliveryId: string,
): Promise<AttemptRow[]> {
  return db.query<AttemptRow>(
    `SELECT number, manual, outcome, error_code, started_at, finished_at FROM webhook_attempts
      WHERE delivery_id = ? ORDER BY number`,
    [deliveryId],
  );
}

/** Waits for the run that is there now to end, and says how. */
export async function whenOver(world: WebhookDeliveryWorld, deliveryId: string): Promise<unknown> {
  await waitThroughFaults(`the workflow of ${deliveryId}`, () =>
    world.temporal.workflow.getHandle(deliveryId).describe(),
  );
  return world.temporal.workflow.getHandle(deliveryId).result();
}

/** What an operator reads on the workflow's page. */
export function readDetailsOf(world: WebhookDeliveryWorld, deliveryId: string): Promise<string> {
  return readPage(world.temporal.workflow.getHandle(deliveryId));
}
