/** A delivery on real parts and scaled time: when it is tried, what it sends, what stays of it. */
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { readWebhookDeliveriesToStart } from '../../../src/db/webhooks/webhook-deliveries';
import { RETRY_SCHEDULE_MS } from '../../../src/domain/webhook-delivery';
import {
  deleteEndpoint,
  disableEndpoint,
  rollSecret,
} from '../../../src/features/webhooks/webhook-endpoints';
import {
  attemptsOf,
  BY,
  deliveriesOf,
  deliveryOf,
  type WebhookDeliveryWorld,
  openEndpoint,
  readDetailsOf,
  startWebhookDeliveryWorld,
  whenWebhookDelivery,
  whenOver,
  writeEvent,
} from '../../support/webhook/webhook-delivery-world';
import { faultOf, type Receiver, startReceiver } from '../../support/webhook/webhook-receiver';
import { waitFor } from '../../support/wait-for';

/** The real waits, 12,000 times as fast: from 5 ms to 7.2 s. */
const SCHEDULE = RETRY_SCHEDULE_MS.map((ms) => ms / 12_000);

let shared: WebhookDeliveryWorld;
const receivers: Receiver[] = [];

beforeAll(async () => {
  shared = await startWebhookDeliveryWorld(SCHEDULE);
});

afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await shared.stop();
});

/** For one test: an account and a receiver of its own. */
async function openAccount(answer: Receiver['answer'] = 200) {
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  return { receiver, world: { ...shared, accountId: await shared.newAccount() } };
}

async function historyOf(deliveryId: string) {
  return shared.temporal.workflow.getHandle(deliveryId).fetchHistory();
}

test.concurrent(
  'an event that is taken at once is one attempt and eleven events of history',
  async () => {
    const { world, receiver } = await openAccount();
    const endpoint = await openEndpoint(world, receiver.url);
    const event = await writeEvent(world);
    world.parts.webhookDeliveryStarter.lookFor(event.objectId);
    const { id } = await whenWebhookDelivery(
      world,
      event.id,
      'ends',
      ({ status }) => status !== 'pending',
    );
    expect(await whenOver(world, id)).toBe('succeeded');
    const [received, ...more] = receiver.of(event.id);
    expect(more).toEqual([]);
    expect(faultOf(received!, endpoint.secret)).toBeNull();
    expect(received!.body.equals(event.body)).toBe(true);
    expect((await historyOf(id)).events!.length).toBeLessThanOrEqual(11);
  },
);

test.concurrent(
  'nothing that Temporal stores of a delivery says where it goes, what it says or the secret',
  async () => {
    const { world, receiver } = await openAccount(500);
    const endpoint = await openEndpoint(world, receiver.url);
    const event = await writeEvent(world);
    world.parts.webhookDeliveryStarter.lookFor(event.objectId);
    const { id } = await deliveryOf(world, event.id);
    await whenWebhookDelivery(world, event.id, 'failed twice', ({ attempts }) => attempts >= 2);
    const description = await world.temporal.workflow.getHandle(id).describe();
    const stored = `${historyToJSON(await historyOf(id))}\n${JSON.stringify(description.raw)}`;
    const decoded = (stored.match(/"[A-Za-z0-9+/]{4,}={0,2}"/g) ?? []).map((text) =>
      Buffer.from(text, 'base64').toString('utf8'),
    );
    const everything = [stored, ...decoded].join('\n');
    expect(everything).toContain(`"deliveryId":"${id}"`);
    for (const secret of [endpoint.secret, receiver.url, new URL(receiver.url).host, event.note]) {
      expect(everything).not.toContain(secret);
    }
    receiver.answer = 200;
    await whenOver(world, id);
  },
);

test.concurrent(
  'one that always fails is tried eight times, never early, with the same bytes [limit webhook attempts]',
  async () => {
    const { world, receiver } = await openAccount(503);
    const endpoint = await openEndpoint(world, receiver.url);
    const event = await writeEvent(world);
    world.parts.webhookDeliveryStarter.lookFor(event.objectId);
    const { id } = await deliveryOf(world, event.id);
    expect(await whenOver(world, id)).toBe('failed');
    expect(await deliveryOf(world, event.id)).toMatchObject({
      status: 'failed',
      attempts: 8,
      lastError: 'http_5xx',
      nextAttemptAt: null,
    });
    const attempts = await attemptsOf(world, id);
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const waits = attempts
      .slice(1)
      .map(({ startedAt }, index) => +startedAt - +attempts[index]!.finishedAt!);
    expect(waits.filter((ms, index) => ms < Math.floor(SCHEDULE[index]!))).toEqual([]);
    const received = receiver.of(event.id);
    expect(received).toHaveLength(8);
    expect(received.filter(({ body }) => !body.equals(event.body))).toEqual([]);
    expect(received.map((one) => faultOf(one, endpoint.secret))).toEqual(Array(8).fill(null));
    const signatures = received.map(({ headers }) => headers['x-gateway-signature']);
    expect(new Set(signatures).size).toBeGreaterThan(1);
    expect((await historyOf(id)).events!.length).toBeLessThanOrEqual(90);
    expect(await readDetailsOf(world, id)).toContain('Last: attempt 8 of 8, http_5xx (HTTP 503).');
  },
);

test.concurrent('a rolled secret signs the very next attempt, and the old one none', async () => {
  const { world, receiver } = await openAccount(500);
  const endpoint = await openEndpoint(world, receiver.url);
  const event = await writeEvent(world);
  world.parts.webhookDeliveryStarter.lookFor(event.objectId);
  // From here on the waits are 1.8 s and more: time enough for what follows.
  await whenWebhookDelivery(world, event.id, 'was tried', ({ attempts }) => attempts >= 5);
  const rolled = await rollSecret.make(world.appDb, BY, { ...world.parts, id: endpoint.id }, {});
  const before = receiver.of(event.id).length;
  receiver.answer = 200;
  await whenWebhookDelivery(world, event.id, 'succeeds', ({ status }) => status === 'succeeded');
  const received = receiver.of(event.id);
  expect(received.slice(0, before - 1).map((one) => faultOf(one, endpoint.secret))).toEqual(
    Array(before - 1).fill(null),
  );
  expect(faultOf(received.at(-1)!, rolled.secret)).toBeNull();
  expect(faultOf(received.at(-1)!, endpoint.secret)).toBe('v1 is wrong');
});

test.concurrent.each([
  ['disabled', (id: string) => disableEndpoint.make(shared.appDb, BY, { id: id }, {})],
  ['deleted', (id: string) => deleteEndpoint.make(shared.appDb, BY, { id: id }, {})],
])('an endpoint that is %s gets nothing more, from the very next attempt on', async (_, end) => {
  const { world, receiver } = await openAccount(500);
  const endpoint = await openEndpoint(world, receiver.url);
  const event = await writeEvent(world);
  world.parts.webhookDeliveryStarter.lookFor(event.objectId);
  const { id } = await deliveryOf(world, event.id);
  await whenWebhookDelivery(world, event.id, 'was tried', ({ attempts }) => attempts >= 5);
  await end(endpoint.id);
  const sent = (await attemptsOf(world, id)).length;
  expect(await whenOver(world, id)).toBe('skipped');
  expect((await attemptsOf(world, id)).length).toBe(sent);
  expect(await deliveryOf(world, event.id)).toMatchObject({ lastError: 'endpoint_gone' });
  const later = await writeEvent(world);
  expect(await deliveriesOf(world, later.id)).toEqual([]);
});

test.concurrent(
  'a terminated delivery is taken up where it was: nothing early, nothing twice',
  async () => {
    const { world, receiver } = await openAccount(500);
    await openEndpoint(world, receiver.url);
    const event = await writeEvent(world);
    world.parts.webhookDeliveryStarter.lookFor(event.objectId);
    const { id } = await whenWebhookDelivery(
      world,
      event.id,
      'waits',
      ({ attempts }) => attempts === 6,
    );
    const planned = await whenWebhookDelivery(
      world,
      event.id,
      'is planned',
      ({ nextAttemptAt: at }) => at !== null && +at > Date.now() + 500,
    );
    await world.temporal.workflow.getHandle(id).terminate('by a test');
    const [start] = await readWebhookDeliveriesToStart(world.db, [id]);
    await world.parts.webhookDeliveryWorkflows.resume(start!);
    await whenWebhookDelivery(world, event.id, 'was tried again', ({ attempts }) => attempts === 7);
    const seventh = await waitFor('the seventh attempt', async () =>
      (await attemptsOf(world, id)).find(({ number }) => number === 7),
    );
    expect(+seventh.startedAt).toBeGreaterThanOrEqual(+planned.nextAttemptAt!);
    receiver.answer = 200;
    await whenWebhookDelivery(world, event.id, 'succeeds', ({ status }) => status === 'succeeded');
  },
);
