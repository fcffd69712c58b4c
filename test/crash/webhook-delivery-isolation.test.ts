/**
 * A dead endpoint and one that drips beside healthy ones: those get every event while the bad ones
 * still hold what they can. The long scale also says how much later the healthy ones hear of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SLOW_AFTER_TIMEOUTS } from '../../src/domain/webhook-delivery';
import { SLOTS_PER_ENDPOINT } from '../../src/domain/webhook-delivery-slots';
import { TASK_QUEUES } from '../../workflows/names';
import {
  deliveryOf,
  type WebhookDeliveryWorld,
  openEndpoint,
  startWebhookDeliveryWorld,
  whenWebhookDelivery,
  writeEvent,
} from '../support/webhook/webhook-delivery-world';
import { scaled } from '../support/scale';
import { type Receiver, startReceiver } from '../support/webhook/webhook-receiver';
import { waitThroughFaults } from '../support/wait-for';

jest.setTimeout(scaled(300_000, 900_000));

const HEALTHY = scaled(8, 98);
const EVENTS_EACH = scaled(4, 10);
/** Before the healthy ones come: more than the bad ones can take at once. */
const BAD_EVENTS = scaled(60, SLOTS_PER_ENDPOINT + 1);
/** The long scale measures with about as many events for each endpoint, bad or not. */
const BAD_EVENTS_EACH_ROUND = scaled(0, 1);
/** Slow enough for two cores to keep up: else the queue before them is what is measured. */
const PACE_MS = scaled(5, 100);
/** Stands for the real ten seconds, which a test cannot wait for so often. */
const DEADLINE_MS = scaled(1_500, 10_000);

let world: WebhookDeliveryWorld;
const receivers: Receiver[] = [];

beforeAll(async () => {
  world = await startWebhookDeliveryWorld([3_600_000], DEADLINE_MS);
});

afterAll(async () => {
  await world.parts.webhookSender.close();
  await world.stop();
  await Promise.all(receivers.map((receiver) => receiver.stop()));
});

/** A merchant of its own with one endpoint. */
async function openMerchant(answer: Receiver['answer']) {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  const merchant = { ...world, accountId: await world.newAccount() };
  const endpoint = await openEndpoint(merchant, receiver.url);
  return { merchant, receiver, endpointId: endpoint.id };
}

type Merchant = Awaited<ReturnType<typeof openMerchant>>;

const openHealthy = () => Promise.all(Array.from({ length: HEALTHY }, () => openMerchant(200)));

async function send({ merchant }: Merchant): Promise<void> {
  const { objectId } = await writeEvent(merchant);
  world.parts.webhookDeliveryStarter.lookFor(objectId);
}

async function sendToAll(healthy: Merchant[], bad: Merchant[] = []): Promise<void> {
  for (let round = 0; round < EVENTS_EACH; round += 1) {
    for (let count = 0; count < BAD_EVENTS_EACH_ROUND; count += 1) await Promise.all(bad.map(send));
    for (const merchant of healthy) {
      await send(merchant);
      await sleep(PACE_MS);
    }
  }
  await waitThroughFaults('every healthy endpoint to have its events', async () =>
    healthy.every(({ receiver }) => receiver.received.length === EVENTS_EACH),
  );
}

/** From the commit to the request, the time below which 99 of 100 lie. */
function p99(healthy: Merchant[]): number {
  const delays = healthy
    .flatMap(({ receiver }) => receiver.received)
    .map(({ at, event }) => at - Date.parse(event.created_at))
    .sort((a, b) => a - b);
  return delays[Math.floor(delays.length * 0.99)]!;
}

async function pendingOf({ endpointId }: Merchant): Promise<number> {
  const [row] = await world.db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM webhook_deliveries
      WHERE endpoint_id = ? AND status = 'pending' AND attempts = 0`,
    [endpointId],
  );
  return row!.n;
}

test('healthy endpoints get every event while a dead and a dripping one hold what they can', async () => {
  const before = await openHealthy();
  await sendToAll(before);
  const open = { now: 0, most: 0 };
  const dead = await openMerchant((request) => {
    open.most = Math.max(open.most, (open.now += 1));
    request.socket.once('close', () => (open.now -= 1));
  });
  const dripping = await openMerchant((request) => {
    const drip = setInterval(() => request.socket.write('H'), 100);
    request.socket.once('close', () => clearInterval(drip));
  });
  for (let count = 0; count < BAD_EVENTS; count += 1) await Promise.all([dead, dripping].map(send));
  await waitThroughFaults('the dead endpoint to hold its slots', async () => open.most > 0);
  const healthy = await openHealthy();
  expect(await pendingOf(dead)).toBeGreaterThan(0);
  await sendToAll(healthy, [dead, dripping]);
  expect(open.most).toBeLessThanOrEqual(SLOTS_PER_ENDPOINT);
  process.stderr.write(
    `delivery-isolation: p99 ${p99(before)} ms alone, ${p99(healthy)} ms beside bad ones\n`,
  );
});

test('after five time-outs in a row first attempts stand with the retries, until one is answered', async () => {
  let silent = true;
  const slow = await openMerchant((_request, response) => {
    if (!silent) response.writeHead(200).end();
  });
  for (let count = 0; count < SLOW_AFTER_TIMEOUTS; count += 1) {
    const { id, objectId } = await writeEvent(slow.merchant);
    world.parts.webhookDeliveryStarter.lookFor(objectId);
    await whenWebhookDelivery(
      slow.merchant,
      id,
      'ran out of time',
      (one) => one.lastError === 'timeout',
    );
  }
  expect(await firstQueue(slow)).toBe(TASK_QUEUES.webhooksRetry);
  silent = false;
  const { id, objectId } = await writeEvent(slow.merchant);
  world.parts.webhookDeliveryStarter.lookFor(objectId);
  await whenWebhookDelivery(slow.merchant, id, 'succeeds', ({ status }) => status === 'succeeded');
  expect(await firstQueue(slow)).toBe('local');
});

/** Where the first attempt of a new delivery goes; `local`: it is made at once. */
async function firstQueue({ merchant }: Merchant): Promise<string> {
  const { id, objectId } = await writeEvent(merchant);
  world.parts.webhookDeliveryStarter.lookFor(objectId);
  const delivery = await deliveryOf(merchant, id);
  return waitThroughFaults('the first attempt to be ordered', async () => {
    const { events } = await world.temporal.workflow.getHandle(delivery.id).fetchHistory();
    const [first] = events!.flatMap((one) =>
      one.markerRecordedEventAttributes == null
        ? (one.activityTaskScheduledEventAttributes?.taskQueue?.name ?? [])
        : 'local',
    );
    return first;
  });
}
