/** What people do to a delivery: signals typed by hand, retries, recovery and replay. */
import { Client } from '@temporalio/client';
import { restartWebhookDeliveries } from '../../../activities/restart-missing';
import { abandonDelivery, retryDelivery } from '../../../src/features/webhooks/webhook-deliveries';
import {
  recoverWebhookDeliveries,
  replayMissing,
} from '../../../src/features/webhooks/webhook-recovery';
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
} from '../../../src/features/webhooks/webhook-endpoints';
import { createWebhookDeliveryWorkflows } from '../../../src/temporal/webhook-delivery-workflows';
import { TASK_QUEUES } from '../../../workflows/names';
import {
  attemptsOf,
  BY,
  deliveriesOf,
  deliveryOf,
  openEndpoint,
  readDetailsOf,
  startWebhookDeliveryWorld,
  whenWebhookDelivery,
  whenOver,
  type WrittenEvent,
  writeEvent,
} from '../../support/webhook/webhook-delivery-world';
import { type Receiver, startReceiver } from '../../support/webhook/webhook-receiver';
import { waitFor } from '../../support/wait-for';
import { started } from '../../support/started';

/** After the first failure nothing happens by itself while a test looks. */
const SCHEDULE = [3_600_000, 3_600_000];

const world = started(() => startWebhookDeliveryWorld(SCHEDULE));
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver(500);
  world.accountId = await world.newAccount();
});

afterEach(async () => {
  await receiver.stop();
});

/** A delivery whose first attempt failed, and which waits an hour for the second. */
async function failedOnce(): Promise<{ event: WrittenEvent; id: string; endpointId: string }> {
  const endpoint = await openEndpoint(world, receiver.url);
  const event = await writeEvent(world);
  world.parts.webhookDeliveryStarter.lookFor(event.objectId);
  const { id } = await whenWebhookDelivery(
    world,
    event.id,
    'failed once',
    (one) => one.lastError !== null,
  );
  await whenDetails(id, /Next: attempt 2 of 3/);
  return { event, id, endpointId: endpoint.id };
}

const handleOf = (id: string) => world.temporal.workflow.getHandle(id);

async function whenDetails(id: string, wanted: RegExp): Promise<void> {
  await waitFor(`${String(wanted)} on the page of ${id}`, async () =>
    wanted.test(await readDetailsOf(world, id)),
  );
}

async function whenAttempts(id: string, count: number): Promise<void> {
  await waitFor(`${count} attempts of ${id}`, async () => {
    const attempts = await attemptsOf(world, id);
    return attempts.filter(({ outcome }) => outcome !== null).length === count;
  });
}

test('retryNow makes one attempt at once; a failure leaves the schedule, a success ends it', async () => {
  const { event, id } = await failedOnce();
  const planned = (await deliveryOf(world, event.id)).nextAttemptAt;
  await handleOf(id).signal('retryNow');
  await whenAttempts(id, 2);
  expect(await deliveryOf(world, event.id)).toMatchObject({
    status: 'pending',
    attempts: 1,
    nextAttemptAt: planned,
  });
  receiver.answer = 204;
  await handleOf(id).signal('retryNow', { by: 'alice' });
  expect(await whenOver(world, id)).toBe('succeeded');
  const attempts = await attemptsOf(world, id);
  expect(attempts.map(({ manual, outcome }) => [manual, outcome])).toEqual([
    [false, 'failed'],
    [true, 'failed'],
    [true, 'succeeded'],
  ]);
  expect(receiver.of(event.id)).toHaveLength(3);
});

test('abandon ends the schedule, and a retry by hand can still deliver it', async () => {
  const { event, id } = await failedOnce();
  await handleOf(id).signal('abandon', { by: 'alice' });
  expect(await whenOver(world, id)).toBe('abandoned');
  expect(receiver.of(event.id)).toHaveLength(1);
  receiver.answer = 200;
  await retryDelivery.make(
    world.appDb,
    BY,
    { id: id, webhookDeliveryWorkflows: world.parts.webhookDeliveryWorkflows },
    {},
  );
  await whenWebhookDelivery(world, event.id, 'succeeds', ({ status }) => status === 'succeeded');
  expect(receiver.of(event.id)).toHaveLength(2);
});

test.each<[string, string, unknown[], RegExp]>([
  [
    'an input that is no object',
    'abandon',
    ['alice'],
    /`abandon` was ignored.*must be a JSON object/,
  ],
  ['two inputs', 'abandon', [{}, {}], /expected one input, received 2/],
  ['a name that is a number', 'retryNow', [{ by: 42 }], /"by" must be a name/],
  ['an unknown name', 'retrynow', [], /`retrynow` was ignored/],
  ['a reserved name', '__temporal_x', [], /reserved name/],
])('a signal with %s changes nothing and is told on the page', async (_, name, args, wanted) => {
  const { event, id } = await failedOnce();
  await handleOf(id).signal(name, ...args);
  // A second signal makes a workflow look that waits for nothing of the kind.
  await handleOf(id).signal('retryNow', 'no');
  await whenDetails(id, wanted);
  expect(await deliveryOf(world, event.id)).toMatchObject({ status: 'pending', attempts: 1 });
  expect(receiver.of(event.id)).toHaveLength(1);
  const { events } = await handleOf(id).fetchHistory();
  expect(events!.filter((one) => one.workflowTaskFailedEventAttributes != null)).toEqual([]);
  await handleOf(id).signal('abandon');
  expect(await whenOver(world, id)).toBe('abandoned');
});

test('a requested cancellation is a remark', async () => {
  const { id } = await failedOnce();
  await handleOf(id).cancel();
  await whenDetails(id, /A cancellation request was ignored/);
  await handleOf(id).signal('abandon');
  expect(await whenOver(world, id)).toBe('abandoned');
});

test('a retry by the admin command is one attempt, while the workflow runs and after it ended', async () => {
  const { event, id } = await failedOnce();
  const { webhookDeliveryWorkflows } = world.parts;
  await retryDelivery.make(
    world.appDb,
    BY,
    { id: id, webhookDeliveryWorkflows: webhookDeliveryWorkflows },
    {},
  );
  await whenAttempts(id, 2);
  await abandonDelivery.make(
    world.appDb,
    BY,
    { id: id, webhookDeliveryWorkflows: webhookDeliveryWorkflows },
    {},
  );
  expect(await whenOver(world, id)).toBe('abandoned');
  await retryDelivery.make(
    world.appDb,
    BY,
    { id: id, webhookDeliveryWorkflows: webhookDeliveryWorkflows },
    {},
  );
  await whenAttempts(id, 3);
  expect(await whenOver(world, id)).toBe('abandoned');
  expect(receiver.of(event.id)).toHaveLength(3);
  // A person waits for it; restart-missing may start many.
  expect(await firstQueueOf(id)).toBe('local');
  await retryDelivery.make(world.appDb, BY, { id: id, webhookDeliveryWorkflows: null }, {});
  expect(await world.restartWebhookDeliveries()).toEqual({ ensured: 1 });
  await whenAttempts(id, 4);
  expect(await whenOver(world, id)).toBe('abandoned');
  expect(await firstQueueOf(id)).toBe(TASK_QUEUES.webhooksRetry);
});

/** Where the first attempt of the newest run waited, or `local`: it did not wait. */
async function firstQueueOf(id: string): Promise<string | null | undefined> {
  const { events } = await handleOf(id).fetchHistory();
  const [first] = events!.flatMap((one) =>
    one.markerRecordedEventAttributes == null
      ? (one.activityTaskScheduledEventAttributes?.taskQueue?.name ?? [])
      : 'local',
  );
  return first;
}

test.each([
  ['that runs', async () => undefined],
  ['that is gone', async (id: string) => handleOf(id).terminate('by a test')],
])('without Temporal a retry waits for restart-missing: a workflow %s', async (_, before) => {
  const { event, id } = await failedOnce();
  await before(id);
  await retryDelivery.make(world.appDb, BY, { id: id, webhookDeliveryWorkflows: null }, {});
  expect(await world.restartWebhookDeliveries()).toEqual({ ensured: 1 });
  await whenAttempts(id, 2);
  expect(await world.restartWebhookDeliveries()).toEqual({ ensured: 0 });
  expect(receiver.of(event.id)).toHaveLength(2);
});

/** Runs restart-missing for it now. @returns the time until its next check */
async function restartNow(id: string, restart: () => Promise<unknown>): Promise<number> {
  await world.sql(`UPDATE webhook_deliveries SET check_at = now() WHERE id = '${id}'`);
  await restart();
  const [look] = await world.db.query<{ seconds: number }>(
    'SELECT extract(epoch FROM check_at - now())::int AS seconds FROM webhook_deliveries WHERE id = ?',
    [id],
  );
  return look!.seconds;
}

test('what has a workflow is looked at in five minutes, what could not get one in half a minute', async () => {
  const { id } = await failedOnce();
  expect(await restartNow(id, world.restartWebhookDeliveries)).toBeGreaterThan(240);
  const { connection } = world.temporal;
  const webhookDeliveryWorkflows = createWebhookDeliveryWorkflows(
    new Client({ connection, namespace: 'gone' }),
  );
  const seconds = await restartNow(id, async () => {
    const failing = restartWebhookDeliveries({ db: world.appDb, webhookDeliveryWorkflows });
    await expect(failing).rejects.toThrow(/gone/);
  });
  expect(seconds).toBeLessThanOrEqual(30);
  await handleOf(id).signal('abandon');
  expect(await whenOver(world, id)).toBe('abandoned');
});

test('what was skipped while disabled is recovered, with the attempts that were left', async () => {
  const { event, id, endpointId } = await failedOnce();
  await disableEndpoint.make(world.appDb, BY, { id: endpointId }, {});
  await handleOf(id).signal('retryNow');
  expect(await whenOver(world, id)).toBe('skipped');
  await enableEndpoint.make(world.appDb, BY, { id: endpointId }, {});
  const since = new Date(Date.now() - 60_000);
  const { webhookDeliveryWorkflows } = world.parts;
  expect(
    await recoverWebhookDeliveries(world.appDb, BY, webhookDeliveryWorkflows, {
      endpointId,
      since,
    }),
  ).toMatchObject({ retried: 0, resumed: 1 });
  await whenAttempts(id, 2);
  expect(await deliveryOf(world, event.id)).toMatchObject({ status: 'pending', attempts: 2 });
  receiver.answer = 200;
  await handleOf(id).signal('retryNow');
  expect(await whenOver(world, id)).toBe('succeeded');
});

test('what failed since a time gets one more attempt each, once for each time it is asked', async () => {
  const { event, id, endpointId } = await failedOnce();
  await world.sql(`UPDATE webhook_deliveries SET attempts = 3 WHERE id = '${id}'`);
  await handleOf(id).signal('wake');
  expect(await whenOver(world, id)).toBe('failed');
  const since = new Date(Date.now() - 60_000);
  const { webhookDeliveryWorkflows } = world.parts;
  const recover = () =>
    recoverWebhookDeliveries(world.appDb, BY, webhookDeliveryWorkflows, { endpointId, since });
  expect(await recover()).toMatchObject({ retried: 1, resumed: 0 });
  await whenAttempts(id, 2);
  expect((await deliveryOf(world, event.id)).status).toBe('failed');
  receiver.answer = 200;
  expect(await recover()).toMatchObject({ retried: 1 });
  await whenWebhookDelivery(world, event.id, 'succeeds', ({ status }) => status === 'succeeded');
  expect(await recover()).toMatchObject({ retried: 0, resumed: 0 });
  expect(receiver.of(event.id)).toHaveLength(3);
});

test('events from before an endpoint was made are replayed to it once', async () => {
  const early = [await writeEvent(world), await writeEvent(world, { type: 'payout.failed' })];
  const endpoint = await openEndpoint(world, receiver.url, { events: ['payout.completed'] });
  receiver.answer = 200;
  const since = new Date(Date.now() - 60_000);
  const { webhookDeliveryWorkflows } = world.parts;
  const replay = () =>
    replayMissing(world.appDb, BY, webhookDeliveryWorkflows, { endpointId: endpoint.id, since });
  expect(await replay()).toMatchObject({ created: 1 });
  await whenWebhookDelivery(
    world,
    early[0]!.id,
    'succeeds',
    ({ status }) => status === 'succeeded',
  );
  expect(await replay()).toMatchObject({ created: 0 });
  expect(await deliveriesOf(world, early[1]!.id)).toEqual([]);
});

test('a deleted endpoint takes no retry', async () => {
  const { id, endpointId } = await failedOnce();
  await deleteEndpoint.make(world.appDb, BY, { id: endpointId }, {});
  await expect(
    retryDelivery.make(
      world.appDb,
      BY,
      { id: id, webhookDeliveryWorkflows: world.parts.webhookDeliveryWorkflows },
      {},
    ),
  ).rejects.toMatchObject({ refusal: { code: 'endpoint_deleted' } });
  await handleOf(id).signal('retryNow');
  expect(await whenOver(world, id)).toBe('skipped');
});
