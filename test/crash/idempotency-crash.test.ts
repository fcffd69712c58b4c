/** Idempotency keys when a process dies or stands still in the middle of a request (decisions/api#idempotency). */
import { setTimeout as wait } from 'node:timers/promises';
import { ChildProgram } from '../support/servers/child-program';
import { allowConnections } from '../support/servers/database';
import { findFreePort } from '../../src/dev/ports';
import { brokenInvariants, startGateway } from '../support/servers/gateway';
import { startLink } from '../support/chaos/link';
import { buildPayout, MerchantClient } from '../support/merchant/merchant-client';
import {
  balanceOf,
  countPayouts,
  keyStates,
  openMerchant,
  sendUntilAnswered,
} from '../support/payout/payout-steps';
import { waitFor } from '../support/wait-for';
import { started } from '../support/started';

const gateway = started(startGateway);

afterEach(async () => {
  expect(await brokenInvariants(gateway)).toEqual([]);
});

/** The id that the running claim of an account holds. */
async function claimedId(accountId: string): Promise<string> {
  return waitFor('a claim', async () => {
    const [claim] = await gateway.db.query<{ objectId: string }>(
      `SELECT object_id FROM idempotency_keys WHERE account_id = ? AND state = 'running'`,
      [accountId],
    );
    return claim?.objectId;
  });
}

async function whenWorkflowStarted(id: string): Promise<void> {
  await waitFor(`the workflow of ${id}`, async () => {
    const started = await gateway.temporal.workflow
      .getHandle(id)
      .describe()
      .catch(() => undefined);
    return started?.status.name;
  });
}

/** Ends the leases of an account's claims, or makes them outlast a slow start of a process. */
async function setLease(accountId: string, until: 'over' | 'long'): Promise<void> {
  await gateway.db.query(
    'UPDATE idempotency_keys SET lease_until = now() + ?::interval WHERE account_id = ?',
    [until === 'over' ? '-1 second' : '10 minutes', accountId],
  );
}

/** Which error a broken connection makes is the client's matter. */
function sendToDyingApi(client: MerchantClient, body: unknown, key: string): Promise<string> {
  return client.createPayout(body, key).then(
    () => 'answered',
    () => 'lost',
  );
}

test('without a worker nothing is reserved, nothing comes later by itself, and the key is free', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const body = buildPayout();
  await gateway.worker.stop();
  const sending = client.createPayout(body, 'key-1');
  const abandoned = await claimedId(accountId);
  const answer = await sending;
  expect(answer).toMatchObject({
    status: 503,
    json: {
      error: {
        code: 'service_unavailable',
        details: { reason: 'workflow_engine_unavailable' },
      },
    },
  });
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await keyStates(gateway, accountId)).toEqual({});
  expect(await balanceOf(client)).toMatchObject({ reserved: '0.00000000' });

  await gateway.worker.start();
  // The late reservation runs now and finds its claim gone.
  expect(await gateway.temporal.workflow.getHandle(abandoned).result()).toBe('abandoned');
  expect(await countPayouts(gateway, accountId)).toBe(0);
  expect(await balanceOf(client)).toMatchObject({ reserved: '0.00000000' });

  expect(await client.createPayout(body, 'key-1')).toMatchObject({ status: 201 });
  expect(await countPayouts(gateway, accountId)).toBe(1);
});

test('a claim that could not be ended without the database is ended when it is back', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const body = buildPayout();
  await gateway.worker.stop();
  const sending = client.createPayout(body, 'key-1');
  await claimedId(accountId);
  await setLease(accountId, 'long');
  await allowConnections(gateway, false);
  expect((await sending).status).toBe(503);
  await allowConnections(gateway, true);
  await waitFor('the end of the claim', async () => {
    const states = await keyStates(gateway, accountId);
    return !('key-1' in states);
  });
  await gateway.worker.start();
  expect(await sendUntilAnswered(() => client.createPayout(body, 'key-1'))).toMatchObject({
    status: 201,
  });
  expect(await countPayouts(gateway, accountId)).toBe(1);
});

test('an API killed before it asked for the reservation leaves a key that works after the lease', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const body = buildPayout();
  // It never reaches Temporal, which it asks after the claim.
  const silent = await startLink();
  silent.set({ kind: 'black_hole' });
  const port = await findFreePort();
  const dying = new ChildProgram('api', {
    ...gateway.env,
    PORT: String(port),
    TEMPORAL_ADDRESS: `127.0.0.1:${silent.port}`,
  });
  await dying.start();
  const toDying = new MerchantClient(`http://127.0.0.1:${port}/api/v1`, client.apiKey);
  const sending = sendToDyingApi(toDying, body, 'key-1');
  const abandoned = await claimedId(accountId);
  await setLease(accountId, 'long');
  await dying.kill();
  expect(await sending).toBe('lost');
  await silent.stop();

  const early = await client.createPayout(body, 'key-1');
  expect(early).toMatchObject({ status: 409, json: { error: { code: 'request_in_progress' } } });
  expect(early.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  const other = await client.createPayout({ ...body, amount: '11' }, 'key-1');
  expect(other).toMatchObject({ status: 422, json: { error: { code: 'idempotency_key_reused' } } });
  await setLease(accountId, 'over');
  const answer = await client.createPayout(body, 'key-1');
  expect(answer.status).toBe(201);
  expect(answer.json.data.id).not.toBe(abandoned);
  expect(await countPayouts(gateway, accountId)).toBe(1);
});

test('an API killed after it asked for the reservation: the retry gets the payout that was made', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const body = buildPayout();
  await gateway.worker.stop();
  const sending = sendToDyingApi(client, body, 'key-1');
  const id = await claimedId(accountId);
  await setLease(accountId, 'long');
  await whenWorkflowStarted(id);
  await gateway.api.kill();
  expect(await sending).toBe('lost');
  await Promise.all([gateway.worker.start(), gateway.api.start()]);

  const answer = await sendUntilAnswered(() => client.createPayout(body, 'key-1'));
  expect(answer).toMatchObject({ status: 201, json: { data: { id } } });
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
  expect(await countPayouts(gateway, accountId)).toBe(1);
  expect(await balanceOf(client)).toMatchObject({ reserved: '11.10000000' });
});

test('a reservation that comes after its lease finds that the retry has taken over', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const body = buildPayout();
  await gateway.worker.stop();
  const sending = sendToDyingApi(client, body, 'key-1');
  const abandoned = await claimedId(accountId);
  await whenWorkflowStarted(abandoned);
  await gateway.api.kill();
  expect(await sending).toBe('lost');
  await gateway.api.start();
  await setLease(accountId, 'over');

  // Both reservations wait for the worker; only one of them has a claim.
  const retry = sendUntilAnswered(() => client.createPayout(body, 'key-1'));
  await waitFor('the takeover', async () => (await claimedId(accountId)) !== abandoned);
  await gateway.worker.start();
  const answer = await retry;
  expect(answer.status).toBe(201);
  expect(answer.json.data.id).not.toBe(abandoned);
  expect(await gateway.temporal.workflow.getHandle(abandoned).result()).toBe('abandoned');
  expect(await countPayouts(gateway, accountId)).toBe(1);
  expect(await balanceOf(client)).toMatchObject({ reserved: '11.10000000' });
});

test('a worker killed in the middle of many requests loses and doubles none', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const requests = Array.from({ length: 12 }, (_, index) => ({
    body: buildPayout(),
    key: `key-${index}`,
  }));
  const sending = Promise.all(
    requests.map(({ body, key }) => sendUntilAnswered(() => client.createPayout(body, key))),
  );
  await waitFor('the first payouts', async () => (await countPayouts(gateway, accountId)) > 2);
  await gateway.worker.kill();
  await gateway.worker.start();
  const answers = await sending;
  expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 201));
  expect(new Set(answers.map(({ json }) => json.data.id)).size).toBe(12);
  expect(await countPayouts(gateway, accountId)).toBe(12);
});

test('with connections to the database cut again and again no payout is lost or doubled', async () => {
  const { accountId, client } = await openMerchant(gateway);
  const requests = Array.from({ length: 30 }, (_, index) => ({
    body: buildPayout(),
    key: `key-${index}`,
  }));
  const send = ({ body, key }: (typeof requests)[number]) => client.createPayout(body, key);
  const sending = Promise.all(requests.map(send));
  for (let cut = 0; cut < 8; cut++) {
    await gateway.db.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'gateway-%'`,
    );
    await wait(100);
  }
  const first = await sending;
  // Where not even the claim could be given back, its lease ends it.
  await setLease(accountId, 'over');
  const second = await Promise.all(
    requests.map((request) => sendUntilAnswered(() => send(request))),
  );
  expect(second.map(({ status }) => status)).toEqual(requests.map(() => 201));
  const created = first.filter(({ status }) => status === 201);
  expect(second.map(({ text }) => text)).toEqual(
    expect.arrayContaining(created.map(({ text }) => text)),
  );
  expect(await countPayouts(gateway, accountId)).toBe(requests.length);
  expect(await balanceOf(client)).toMatchObject({ reserved: '333.00000000' });
});
