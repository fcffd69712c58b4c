/**
 * Programs die while payouts change and webhooks are on their way: every event arrives at least
 * once, none of a change that was rolled back, and the count of attempts is right. `TEST_SEED`
 * repeats a run. Attempts that a kill cut off are retried by hand at the end, as the schedule
 * would a minute later.
 */
import { readWebhookDeliveriesToStart } from '../../src/db/webhooks/webhook-deliveries';
import { appendEvent, withEvents } from '../../src/db/webhooks/events';
import { newId } from '../../src/platform/lib/new-id';
import { presentEvent } from '../../src/kit/service/envelope';
import { createWebhookDeliveryWorkflows } from '../../src/temporal/webhook-delivery-workflows';
import { auditWebhookDeliveries, hurryDeliveries } from '../support/webhook/webhook-delivery-audit';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import { runAdmin } from '../support/servers/gateway-admin';
import { fund } from '../support/merchant/merchant';
import { killAgainAndAgain } from './kills';
import { type MortalServers, startMortalServers } from '../support/chaos/mortal-servers';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { whenFinal } from './payout-status';
import { scaled } from '../support/scale';
import { chooseSeed, createDice } from '../support/seeded-random';
import { type Receiver, startReceiver } from '../support/webhook/webhook-receiver';
import { waitThroughFaults } from '../support/wait-for';

jest.setTimeout(scaled(300_000, 1_800_000));

/** Four status changes each. */
const PAYOUTS = scaled(25, 500);
const KILLS = scaled(6, 40);
const THREADS = scaled(5, 12);

let servers: MortalServers;
let gateway: OwnGateway;

beforeAll(async () => {
  servers = await startMortalServers();
  gateway = await startGateway({ env: { WORKER_GRACE_MS: '15000' } });
  await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', '1000000');
});

afterAll(async () => {
  await gateway.stop();
  await servers.stop();
});

/** The account's only one: those of earlier tests have no receiver any more. */
async function openEndpoint(receiver: Receiver): Promise<string> {
  const { accountId } = gateway.merchant;
  await gateway.db.query('UPDATE webhook_endpoints SET deleted_at = now()');
  const where = ['--account', accountId, '--mode', 'test', '--url', receiver.url];
  return (await runAdmin(gateway, 'webhooks', 'create', ...where)).id;
}

test('every event arrives while worker, API, Temporal, PostgreSQL and its connections are killed', async () => {
  const seed = chooseSeed();
  process.stderr.write(`webhook-kill: TEST_SEED=${seed}\n`);
  const dice = createDice(seed);
  const receiver = await startReceiver();
  const endpointId = await openEndpoint(receiver);
  const client = new PatientClient(gateway.baseUrl, gateway.merchant.testKey);
  const [ids] = await Promise.all([
    createAll(client),
    killAgainAndAgain(gateway, servers, dice, { kills: KILLS }),
  ]);
  await Promise.all(ids.map((id) => whenFinal(gateway.db, id)));
  await waitThroughFaults('every event to be delivered', async () => {
    await hurryDeliveries(gateway);
    const arrived = receiver.received.map(({ event }) => event.id);
    const faults = await auditWebhookDeliveries(gateway.db, endpointId, arrived);
    return faults.length === 0;
  });
  const bodies = new Map<string, Buffer>();
  const changed = receiver.received.filter(({ event, body }) => {
    const first = bodies.get(event.id) ?? body;
    bodies.set(event.id, first);
    return !first.equals(body);
  });
  expect(changed).toEqual([]);
  await receiver.stop();
});

async function createAll(client: PatientClient): Promise<string[]> {
  let left = PAYOUTS;
  const ids: string[] = [];
  const thread = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      ids.push((await client.createPayout(buildPayout())).id);
    }
  };
  await Promise.all(Array.from({ length: THREADS }, thread));
  return ids;
}

/** Waits that a test can wait for, eight attempts as in the real one. */
const SCHEDULE = [500, 5_000, 500, 500, 500, 500, 500];

/** An event whose workflow the test starts itself, with a schedule of its own. */
async function startOne(receiver: Receiver): Promise<string> {
  const endpointId = await openEndpoint(receiver);
  const { accountId } = gateway.merchant;
  const event = { id: newId('event'), type: 'payout.completed' as const, mode: 'test' as const };
  const objectId = newId('payout');
  const head = { ...event, sequence: 1, createdAt: new Date() };
  const body = presentEvent(head, { id: objectId });
  await gateway.db.transaction((tx) => {
    appendEvent(withEvents(tx), { ...head, accountId, objectId, body });
  });
  const [delivery] = await gateway.db.query<{ id: string }>(
    'SELECT id FROM webhook_deliveries WHERE event_id = ? AND endpoint_id = ?',
    [event.id, endpointId],
  );
  const [start] = await readWebhookDeliveriesToStart(gateway.db, [delivery!.id]);
  await createWebhookDeliveryWorkflows(gateway.temporal, { schedule: SCHEDULE }).start(start!);
  return delivery!.id;
}

interface Attempt {
  number: number;
  errorCode: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}

const attemptsOf = (id: string) =>
  gateway.db.query<Attempt>(
    `SELECT number, error_code, started_at, finished_at FROM webhook_attempts
      WHERE delivery_id = ? ORDER BY number`,
    [id],
  );

/** Every wait was kept, and the attempts are numbered without a gap. */
function expectSchedule(attempts: Attempt[]): void {
  expect(attempts.map(({ number }) => number)).toEqual(attempts.map((_, index) => index + 1));
  const early = attempts.slice(1).filter(({ startedAt }, index) => {
    return +startedAt - +attempts[index]!.finishedAt! < SCHEDULE[index]!;
  });
  expect(early).toEqual([]);
}

test('a worker that is killed between attempts: the next one comes in time, and eight are all', async () => {
  const receiver = await startReceiver(500);
  const id = await startOne(receiver);
  await waitThroughFaults(
    'two attempts',
    async () => (await attemptsOf(id)).filter(({ finishedAt }) => finishedAt !== null).length === 2,
  );
  await gateway.worker.kill();
  await gateway.worker.start();
  expect(await gateway.temporal.workflow.getHandle(id).result()).toBe('failed');
  const attempts = await attemptsOf(id);
  expect(attempts.map(({ errorCode }) => errorCode)).toEqual(Array(8).fill('http_5xx'));
  expectSchedule(attempts);
  await receiver.stop();
});

test('a worker that is killed in the middle of an attempt: it counts as lost, and eight are all', async () => {
  let silent = true;
  const receiver = await startReceiver((_request, response) => {
    if (!silent) response.writeHead(500).end();
  });
  const id = await startOne(receiver);
  await waitThroughFaults('the first attempt to arrive', async () =>
    receiver.received.some(({ event }) => event.data.id !== undefined),
  );
  await gateway.worker.kill();
  silent = false;
  await gateway.worker.start();
  expect(await gateway.temporal.workflow.getHandle(id).result()).toBe('failed');
  const attempts = await attemptsOf(id);
  expect(attempts.map(({ errorCode }) => errorCode)).toEqual([
    'worker_lost',
    ...Array<string>(7).fill('http_5xx'),
  ]);
  expectSchedule(attempts);
  await receiver.stop();
});

test('a worker that is stopped in the middle of an attempt finishes it first', async () => {
  const receiver = await startReceiver((_request, response) => {
    setTimeout(() => response.writeHead(200).end(), 3_000);
  });
  const id = await startOne(receiver);
  await waitThroughFaults('the attempt to arrive', async () => receiver.received.length > 0);
  await gateway.worker.stop();
  await gateway.worker.start();
  expect(await gateway.temporal.workflow.getHandle(id).result()).toBe('succeeded');
  expect((await attemptsOf(id)).map(({ errorCode }) => errorCode)).toEqual([null]);
  await receiver.stop();
});
