/** Batches delay neither the single payouts of others nor each other (decisions/api#fair-share). */
import { ChildProgram } from '../../support/servers/child-program';
import { isSound, startGateway } from '../../support/servers/gateway';
import { createMerchant, fund } from '../../support/merchant/merchant';
import { buildBatch, buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { started } from '../../support/started';
import { waitFor, waitThroughFaults } from '../../support/wait-for';

const gateway = started(
  () => startGateway({ workerEnv: { WORKER_QUEUES: 'payouts,providers' } }),
  isSound,
);
/** Takes the queue of rows, which the worker of the gateway leaves alone. */
let rowWorker: ChildProgram;

beforeEach(() => {
  rowWorker = new ChildProgram('worker', { ...gateway.env, WORKER_QUEUES: 'batches,providers' });
});

afterEach(() => rowWorker.stop());

async function createClient(): Promise<MerchantClient & { accountId: string }> {
  const { accountId, testKey } = await createMerchant(gateway.db, gateway.pepper);
  await fund(gateway.db, accountId, 'test', 'USDT', '100000');
  return Object.assign(new MerchantClient(gateway.baseUrl, testKey), { accountId });
}

/** @returns its id, when its rows may be released */
async function createBatch(client: MerchantClient, rows: number): Promise<string> {
  const { status, json } = await client.create('/payout_batches', buildBatch(rows));
  expect(status).toBe(201);
  const { id } = json.data;
  await waitFor(`${id} to be processing`, async () => {
    const { data } = (await client.get(`/payout_batches/${id}`)).json;
    return data.status === 'processing';
  });
  return id;
}

const whenClosed = (client: MerchantClient, id: string): Promise<string> =>
  waitFor(`${id} to be closed`, async () => {
    const { data } = (await client.get(`/payout_batches/${id}`)).json;
    return data.closed_at as string | null;
  });

/** The rows that were released and that the provider has not accepted. */
async function countReleased(id: string): Promise<number> {
  const [found] = await gateway.db.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM payouts
      WHERE batch_id = ? AND NOT awaits_batch AND status = 'approved'`,
    [id],
  );
  return found?.count ?? 0;
}

test('a single payout overtakes the rows of another merchant that wait for a worker', async () => {
  const [many, one] = [await createClient(), await createClient()];
  const batch = await createBatch(many, 12);
  const { json } = await one.createPayout(buildPayout());
  await waitFor('the single payout to be sent', async () => {
    const { data } = (await one.get(`/payouts/${json.data.id}`)).json;
    return data.status === 'completed';
  });
  expect((await many.get(`/payout_batches/${batch}`)).json.data.rows.sent).toBe(0);

  const { json: page } = await many.get(`/payouts?batch=${batch}`);
  const ids = (page.data as { id: string }[]).map(({ id }) => id);
  const queueOf = async (id: string) =>
    (await gateway.temporal.workflow.getHandle(id).describe()).taskQueue;
  expect(await queueOf(json.data.id)).toBe('payouts');
  await rowWorker.start();
  const queues = ids.map((id) => waitThroughFaults(`the workflow of ${id}`, () => queueOf(id)));
  expect(await Promise.all(queues)).toEqual(ids.map(() => 'batches'));
  await whenClosed(many, batch);
});

test('the batches of a merchant share the places of rows, so that another merchant has as many', async () => {
  const [many, one] = [await createClient(), await createClient()];
  const batches = await Promise.all([
    ...[many, many, many].map((client) => createBatch(client, 12)),
    createBatch(one, 33),
  ]);
  // Rows that are released wait for the end of the pause, so they can be counted.
  for (const { accountId } of [many, one]) {
    await gateway.db.query(
      `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'a test')`,
      [accountId],
    );
  }
  await rowWorker.start();
  const released = batches.map((id) =>
    waitFor('rows to be released', async () => (await countReleased(id)) || null),
  );
  expect(await Promise.all(released)).toEqual([11, 11, 11, 32]);
});
