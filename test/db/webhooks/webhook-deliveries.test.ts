/** Deliveries in the database: written with the change, tried on the real schedule, forgotten. */
import { sentStatements } from '../sent-statements';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../../clients/typescript/src/webhooks';
import { attemptWebhookDelivery } from '../../../activities/webhook-delivery/attempt';
import { cleanUpWebhooks } from '../../../activities/clean-up';
import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import { appendEvent, withEvents } from '../../../src/db/webhooks/events';
import type { Db, Tx } from '../../../src/db/transaction';
import type { EventType } from '../../../src/domain/events';
import { OPEN_DELIVERIES_MAX } from '../../../src/domain/webhook-delivery';
import { RETRY_SCHEDULE_MS } from '../../../src/domain/webhook-delivery';
import { EndpointSlots, SLOTS_PER_ENDPOINT } from '../../../src/domain/webhook-delivery-slots';
import { newId } from '../../../src/platform/lib/new-id';
import { createSecretBox } from '../../../src/platform/lib/secret-box';
import { retryDelivery } from '../../../src/features/webhooks/webhook-deliveries';
import { recoverWebhookDeliveries } from '../../../src/features/webhooks/webhook-recovery';
import { createEndpoint, rollSecret } from '../../../src/features/webhooks/webhook-endpoints';
import { createWebhookSender } from '../../../src/adapters/webhooks/sender';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { createMerchant } from '../../support/merchant/merchant';
import { whenWaiting } from '../lock-waits';
import {
  type Received,
  type Receiver,
  startReceiver,
} from '../../support/webhook/webhook-receiver';
import { waitFor } from '../../support/wait-for';
import { describeWithProgram, pythonWith } from '../../support/optional-program';

const BY = { actor: 'test', reason: null };

let database: TestDatabase;
let db: Db;
/** With the application's rights, as the worker has them. */
let appDb: Db;
let accountId: string;
let receiver: Receiver;
const secretBox = createSecretBox(randomBytes(32).toString('hex'), []);
const webhookSender = createWebhookSender({
  allowCidrs: ['127.0.0.0/8'],
  denyCidrs: [],
  ownHosts: [],
});

beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ url: database.ownerUrl, size: 4, applicationName: 'test' });
  appDb = connect({ url: database.appUrl, size: 10, applicationName: 'test' });
  receiver = await startReceiver();
});

beforeEach(async () => {
  ({ accountId } = await createMerchant(db, 'a pepper of no use'));
  receiver.answer = 200;
});

afterAll(async () => {
  await webhookSender.close();
  await receiver.stop();
  await Promise.all([db.destroy(), appDb.destroy()]);
  await database.drop();
});

const open = () =>
  createEndpoint.make(
    appDb,
    BY,
    { webhookSender, secretBox, accountId, mode: 'test' },
    { url: receiver.url, events: ['all'] },
  );

function writeEvent(tx: Tx, type: EventType = 'payout.completed'): string {
  const event = { id: newId('event'), type, mode: 'test' as const };
  const body = Buffer.from(JSON.stringify(event));
  const rest = { accountId, objectId: newId('payout'), sequence: 1, createdAt: new Date() };
  appendEvent(withEvents(tx), { ...event, ...rest, body });
  return event.id;
}

interface WebhookDeliveryRow {
  id: string;
  status: string;
  attempts: number;
  lastError: string | null;
  /** From the end of the last attempt to the next one, in seconds. */
  wait: number | null;
}

async function deliveryOf(eventId: string): Promise<WebhookDeliveryRow> {
  const [delivery] = await db.query<WebhookDeliveryRow>(
    `SELECT d.id, d.status, d.attempts, d.last_error,
            round(extract(epoch FROM d.next_attempt_at - (
              SELECT max(finished_at) FROM webhook_attempts WHERE delivery_id = d.id)))::int AS wait
       FROM webhook_deliveries d WHERE event_id = ?`,
    [eventId],
  );
  return delivery!;
}

const slots = new EndpointSlots();
let orders = 0;

const attempt = (
  deliveryId: string,
  endpointId: string,
  manual = false,
  endpointSlots: EndpointSlots = slots,
) =>
  attemptWebhookDelivery(
    { db: appDb, webhookSender, secretBox, endpointSlots },
    { deliveryId, endpointId, schedule: RETRY_SCHEDULE_MS, manual, key: `test:${(orders += 1)}` },
  );

test('a change that is rolled back leaves neither event nor delivery', async () => {
  await open();
  let eventId = '';
  const failing = appDb.transaction(async (tx) => {
    eventId = writeEvent(tx);
    throw new Error('the ledger said no');
  });
  await expect(failing).rejects.toThrow('the ledger said no');
  expect(await db.query('SELECT id FROM events WHERE id = ?', [eventId])).toEqual([]);
  expect(await deliveryOf(eventId)).toBeUndefined();
});

test('an event goes to the endpoints of its account and mode', async () => {
  const { id: own } = await open();
  const stranger = await createMerchant(db, 'a pepper of no use');
  const insert = (account: string, mode: string, enabled: boolean, deletedAt: Date | null) =>
    db.query(
      `INSERT INTO webhook_endpoints
              (id, account_id, mode, url, secret_sealed, secret_key_id, enabled, deleted_at)
       VALUES (?, ?, ?, 'https://example.com', '', '', ?, ?)`,
      [newId('webhookEndpoint'), account, mode, enabled, deletedAt],
    );
  await insert(stranger.accountId, 'test', true, null);
  await insert(accountId, 'live', true, null);
  await insert(accountId, 'test', false, null);
  await insert(accountId, 'test', true, new Date());
  const eventId = await appDb.transaction(writeEvent);
  const sql = 'SELECT endpoint_id AS id FROM webhook_deliveries WHERE event_id = ?';
  expect(await db.query(sql, [eventId])).toEqual([{ id: own }]);
});

test('payment.received goes to an endpoint that names it, not to one for all events', async () => {
  await open();
  const named = await createEndpoint.make(
    appDb,
    BY,
    { webhookSender, secretBox, accountId, mode: 'test' },
    { url: receiver.url, events: ['payment.received'] },
  );
  const eventId = await appDb.transaction((tx) => writeEvent(tx, 'payment.received'));
  const sql = 'SELECT endpoint_id AS id FROM webhook_deliveries WHERE event_id = ?';
  expect(await db.query(sql, [eventId])).toEqual([{ id: named.id }]);
});

describe('the headers of Standard Webhooks', () => {
  const openStandard = () =>
    createEndpoint.make(
      appDb,
      BY,
      { webhookSender, secretBox, accountId, mode: 'test' },
      { url: receiver.url, events: ['all'], signature: 'standard_webhooks' },
    );
  const receive = async (endpointId: string) => {
    const eventId = await appDb.transaction((tx) => writeEvent(tx));
    await attempt((await deliveryOf(eventId)).id, endpointId);
    const [{ headers, body }] = receiver.of(eventId) as [Received];
    return { headers: headers as Record<string, string>, body: body.toString(), eventId };
  };

  test('its library verifies what an endpoint gets that asks for them, and a rolled secret at once', async () => {
    const { id, secret } = await openStandard();
    const { headers, body, eventId } = await receive(id);
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: eventId });
    expect(verifyWebhook(body, headers, secret)).toMatchObject({ id: eventId });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
    const rolled = await rollSecret.make(appDb, BY, { id, secretBox }, {});
    const again = await receive(id);
    expect(new Webhook(rolled.secret).verify(again.body, again.headers)).toBeTruthy();
    expect(() => new Webhook(secret).verify(again.body, again.headers)).toThrow(
      'No matching signature',
    );
  });

  test('another endpoint does not get them', async () => {
    const { headers } = await receive((await open()).id);
    expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([]);
  });

  describeWithProgram(
    pythonWith('standardwebhooks'),
    'Install standardwebhooks 1.1.0 for Python, as .ci/run does.',
    'in Python',
    () => {
      test('its library verifies them too', async () => {
        const { id, secret } = await openStandard();
        const { headers, body } = await receive(id);
        const script =
          'import json, sys; from standardwebhooks import Webhook; secret, body, headers = json.load(sys.stdin); ' +
          'print(Webhook(secret).verify(body, headers)["id"])';
        const verify = (text: string) =>
          spawnSync(pythonWith('standardwebhooks')!, ['-c', script], {
            input: JSON.stringify([secret, text, headers]),
            encoding: 'utf8',
          });
        expect(verify(body).stdout.trim()).toBe(headers['webhook-id']);
        expect(verify(`${body} `).stderr).toContain('No matching signature found');
      });
    },
  );
});

test('on the real schedule each wait is exact to the second, and nothing goes out before its time', async () => {
  const endpoint = await open();
  receiver.answer = 500;
  const eventId = await appDb.transaction(writeEvent);
  const { id } = await deliveryOf(eventId);
  const waits: (number | null)[] = [];
  for (let number = 1; number <= 8; number += 1) {
    await attempt(id, endpoint.id);
    const { wait, attempts } = await deliveryOf(eventId);
    expect(attempts).toBe(number);
    waits.push(wait);
    // Called again at once, it sends nothing.
    await attempt(id, endpoint.id);
    await db.query(
      `UPDATE webhook_deliveries SET next_attempt_at = clock_timestamp()
        WHERE id = ? AND next_attempt_at IS NOT NULL`,
      [id],
    );
  }
  expect(waits).toEqual([60, 300, 1_800, 7_200, 21_600, 43_200, 86_400, null]);
  expect(await deliveryOf(eventId)).toMatchObject({ status: 'failed', attempts: 8 });
  await attempt(id, endpoint.id);
  expect(receiver.of(eventId)).toHaveLength(8);
});

test('a success ends it, and a failure by hand moves nothing', async () => {
  const endpoint = await open();
  receiver.answer = 500;
  const eventId = await appDb.transaction(writeEvent);
  const { id } = await deliveryOf(eventId);
  await attempt(id, endpoint.id);
  const before = await db.query('SELECT next_attempt_at FROM webhook_deliveries WHERE id = ?', [
    id,
  ]);
  await attempt(id, endpoint.id, true);
  expect(
    await db.query('SELECT next_attempt_at FROM webhook_deliveries WHERE id = ?', [id]),
  ).toEqual(before);
  receiver.answer = 200;
  await attempt(id, endpoint.id, true);
  expect(await deliveryOf(eventId)).toMatchObject({ status: 'succeeded', attempts: 1 });
  await attempt(id, endpoint.id);
  expect(receiver.of(eventId)).toHaveLength(3);
});

test('the slots of an endpoint hold over all workers, and it makes only itself wait', async () => {
  const workers = [new EndpointSlots(), new EndpointSlots()] as const;
  const [dead, healthy] = [await open(), await open()];
  const held: (() => void)[] = [];
  receiver.answer = (_request, response) => held.push(() => response.writeHead(500).end());
  const ids: { id: string; endpointId: string }[][] = [];
  for (let count = 0; count <= SLOTS_PER_ENDPOINT; count += 1) {
    const eventId = await appDb.transaction(writeEvent);
    const found = await db.query<{ id: string; endpointId: string }>(
      'SELECT id, endpoint_id FROM webhook_deliveries WHERE event_id = ?',
      [eventId],
    );
    ids.push(found);
  }
  const of = (endpointId: string, index: number) =>
    ids[index]!.find((one) => one.endpointId === endpointId)!.id;
  const running = Array.from({ length: SLOTS_PER_ENDPOINT }, (_, index) =>
    attempt(of(dead.id, index), dead.id, false, workers[index % 2]),
  );
  await waitFor('all attempts at the dead endpoint', () => held.length === SLOTS_PER_ENDPOINT);
  for (const worker of workers) {
    const over = attempt(of(dead.id, SLOTS_PER_ENDPOINT), dead.id, false, worker);
    await expect(over).rejects.toMatchObject({ type: 'EndpointBusy' });
  }
  const [row] = await db.query<{ attempts: number }>(
    'SELECT attempts FROM webhook_deliveries WHERE id = ?',
    [of(dead.id, SLOTS_PER_ENDPOINT)],
  );
  expect(row!.attempts).toBe(0);
  const other = attempt(of(healthy.id, 0), healthy.id);
  await waitFor('the other attempt', () => held.length === SLOTS_PER_ENDPOINT + 1);
  for (const answer of held) answer();
  await Promise.all([...running, other]);

  // This one belongs to a worker that died; the others are free again.
  await db.query(
    `UPDATE webhook_slots SET holder = 'dead:' || slot,
            taken_at = clock_timestamp() - CASE slot WHEN 1 THEN interval '31 s' ELSE '15 s' END
      WHERE endpoint_id = ? AND holder IS NULL`,
    [dead.id],
  );
  const last = of(dead.id, SLOTS_PER_ENDPOINT);
  receiver.answer = 200;
  await attempt(last, dead.id);
  expect(
    await db.query(`SELECT slot FROM webhook_slots WHERE endpoint_id = ? AND holder IS NULL`, [
      dead.id,
    ]),
  ).toEqual([{ slot: 1 }]);
});

/** Free slots of the endpoint. */
async function countFree(endpointId: string): Promise<number> {
  const sql = 'SELECT 1 FROM webhook_slots WHERE endpoint_id = ? AND holder IS NULL';
  return (await db.query(sql, [endpointId])).length;
}

test('the slot of an attempt whose worker died is free as soon as the attempt is counted', async () => {
  const endpoint = await open();
  const { id } = await deliveryOf(await appDb.transaction(writeEvent));
  const held: (() => void)[] = [];
  receiver.answer = (_request, response) => held.push(() => response.writeHead(200).end());
  const dead = attempt(id, endpoint.id);
  await waitFor('the request', () => held[0]);
  expect(await countFree(endpoint.id)).toBe(SLOTS_PER_ENDPOINT - 1);
  await attempt(id, endpoint.id);
  expect(await countFree(endpoint.id)).toBe(SLOTS_PER_ENDPOINT);
  held[0]?.();
  await dead;
  receiver.answer = 200;
});

test('a call that makes no attempt keeps no slot', async () => {
  const endpoint = await open();
  const { id: waiting } = await deliveryOf(await appDb.transaction(writeEvent));
  const { id: skipped } = await deliveryOf(await appDb.transaction(writeEvent));
  receiver.answer = 500;
  await attempt(waiting, endpoint.id);
  await attempt(waiting, endpoint.id);
  expect(await countFree(endpoint.id)).toBe(SLOTS_PER_ENDPOINT);
  await db.query('UPDATE webhook_endpoints SET enabled = false WHERE id = ?', [endpoint.id]);
  expect(await attempt(skipped, endpoint.id)).toMatchObject({ status: 'skipped' });
  expect(await countFree(endpoint.id)).toBe(SLOTS_PER_ENDPOINT);
});

test('lost attempts that took over the slots of each other are counted at the same time', async () => {
  const endpoint = await open();
  const ids = await Promise.all(
    ['lost-1', 'lost-2'].map(async (orderKey) => {
      const { id } = await deliveryOf(await appDb.transaction(writeEvent));
      await db.query(
        `INSERT INTO webhook_attempts (delivery_id, number, manual, url, order_key)
         VALUES (?, 1, false, 'http://127.0.0.1', ?)`,
        [id, orderKey],
      );
      await db.query('UPDATE webhook_deliveries SET attempts = 1 WHERE id = ?', [id]);
      return id;
    }),
  );
  // Slots 1 and 2 are taken over in this order; nobody takes the others.
  await db.query(
    `UPDATE webhook_slots
        SET holder = CASE slot WHEN 1 THEN 'lost-2' WHEN 2 THEN 'lost-1' ELSE 'other' END,
            taken_at = clock_timestamp() - CASE WHEN slot < 3 THEN interval '31 s' ELSE '0 s' END
      WHERE endpoint_id = ?`,
    [endpoint.id],
  );
  const counting: Promise<unknown>[] = [];
  await db.transaction(async (tx) => {
    // They have their slots and wait here.
    await tx.query('SELECT FROM webhook_attempts WHERE delivery_id = ANY (?::text[]) FOR UPDATE', [
      ids,
    ]);
    for (const [index, id] of ids.entries()) {
      counting.push(attempt(id, endpoint.id));
      await whenWaiting(db, index + 1);
    }
  });
  expect(await Promise.allSettled(counting)).toMatchObject([
    { status: 'fulfilled', value: { attempts: 1, lastError: 'worker_lost' } },
    { status: 'fulfilled', value: { attempts: 1, lastError: 'worker_lost' } },
  ]);
});

test('what is over the bound of open deliveries is skipped, and can be recovered', async () => {
  const endpoint = await open();
  await db.query(
    `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, check_at)
     SELECT 'whd_fill' || n, 'evt_fill' || n, ?, now() + interval '1 day', now() + interval '1 day'
       FROM generate_series(1, ${OPEN_DELIVERIES_MAX - 1}) n`,
    [endpoint.id],
  );
  const last = await appDb.transaction(writeEvent);
  const over = await appDb.transaction(writeEvent);
  expect((await deliveryOf(last)).status).toBe('pending');
  expect(await deliveryOf(over)).toMatchObject({
    status: 'skipped',
    attempts: 0,
    lastError: 'too_many_open',
  });
  await db.query(`DELETE FROM webhook_deliveries WHERE id LIKE 'whd_fill%'`);
  const since = new Date(Date.now() - 60_000);
  await recoverWebhookDeliveries(appDb, BY, null, { endpointId: endpoint.id, since });
  expect(await deliveryOf(over)).toMatchObject({ status: 'pending', attempts: 0 });
});

test('a retry in the moment in which an attempt ends: both come through', async () => {
  const endpoint = await open();
  // The end of the attempt then has to write to the endpoint as well.
  await db.query('UPDATE webhook_endpoints SET timeouts_in_a_row = 1 WHERE id = ?', [endpoint.id]);
  const eventId = await appDb.transaction(writeEvent);
  const { id } = await deliveryOf(eventId);
  let answer = (): unknown => undefined;
  receiver.answer = (_request, response) => (answer = () => response.writeHead(200).end());
  const ending = attempt(id, endpoint.id);
  await waitFor('the request', () => receiver.of(eventId)[0]);
  let retrying: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await tx.query('SELECT FROM webhook_attempts WHERE delivery_id = ? FOR UPDATE', [id]);
    answer();
    await whenWaiting(db, 1);
    retrying = retryDelivery.make(appDb, BY, { id: id, webhookDeliveryWorkflows: null }, {});
    await whenWaiting(db, 2);
  });
  expect((await Promise.allSettled([ending, retrying])).map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
  ]);
  expect(await deliveryOf(eventId)).toMatchObject({ status: 'succeeded' });
});

test('the bound is looked up once for each endpoint', async () => {
  await open();
  const sent = await sentStatements(() => appDb.transaction(writeEvent));
  const { sql, bindings } = sent.find((one) => one.sql.includes('INSERT INTO webhook_deliveries'))!;
  const plan = await withClient(database.appUrl, async (client) => {
    const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN ${sql}`,
      bindings,
    );
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  });
  expect(plan.match(/(Scan|Index) .*webhook_deliveries/g)).toHaveLength(1);
});

test('the application cannot change the bytes of an event', async () => {
  const eventId = await appDb.transaction(writeEvent);
  await expect(
    appDb.query(`UPDATE events SET body = '{}' WHERE id = ?`, [eventId]),
  ).rejects.toThrow(/permission denied/);
});

async function age(eventId: string, days: number): Promise<void> {
  const by = `now() - ${days} * interval '1 day'`;
  await db.query(`UPDATE events SET created_at = ${by} WHERE id = ?`, [eventId]);
  await db.query(
    `UPDATE webhook_attempts SET started_at = ${by}
      WHERE delivery_id IN (SELECT id FROM webhook_deliveries WHERE event_id = ?)`,
    [eventId],
  );
}

async function kept(eventId: string) {
  const [row] = await db.query<{ body: boolean; attempts: number; answers: number }>(
    `SELECT e.body IS NOT NULL AS body, count(a.number)::int AS attempts,
            count(a.response_body)::int AS answers
       FROM events e JOIN webhook_deliveries d ON d.event_id = e.id
       LEFT JOIN webhook_attempts a ON a.delivery_id = d.id WHERE e.id = ? GROUP BY e.id`,
    [eventId],
  );
  return row;
}

test('bodies are forgotten after 30 days and attempts after 90, without waiting for a lock', async () => {
  const endpoint = await open();
  const deliver = async (): Promise<string> => {
    const eventId = await appDb.transaction(writeEvent);
    await attempt((await deliveryOf(eventId)).id, endpoint.id);
    return eventId;
  };
  const [young, month, quarter, locked] = [
    await deliver(),
    await deliver(),
    await deliver(),
    await deliver(),
  ];
  await age(young, 29);
  await age(month, 31);
  await age(quarter, 91);
  await age(locked, 91);
  await db.transaction(async (tx) => {
    await tx.query('SELECT FROM events WHERE id = ? FOR UPDATE', [locked]);
    expect((await cleanUpWebhooks(appDb)).attempts).toBe(2);
  });
  expect(await kept(young)).toEqual({ body: true, attempts: 1, answers: 1 });
  expect(await kept(month)).toEqual({ body: false, attempts: 1, answers: 0 });
  expect(await kept(quarter)).toEqual({ body: false, attempts: 0, answers: 0 });
  expect(await kept(locked)).toEqual({ body: true, attempts: 0, answers: 0 });
  await cleanUpWebhooks(appDb);
  expect(await kept(locked)).toEqual({ body: false, attempts: 0, answers: 0 });
});
