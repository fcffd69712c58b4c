/** A worker is killed in two runs of schedules: each time of a schedule is one batch, none is lost, none is paid twice. */
import { startGateway } from '../support/servers/gateway';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { auditPayouts } from '../support/payout/payout-audit';
import { started } from '../support/started';
import { waitThroughFaults } from '../support/wait-for';

const EVERY_S = 5;

const gateway = started(startGateway);
let client: MerchantClient;

beforeAll(async () => {
  await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', FUNDS);
  client = new MerchantClient(gateway.baseUrl, gateway.merchant.testKey);
});

async function createSchedule(): Promise<string> {
  const body = {
    reference: randomKey().slice(0, 30),
    interval_seconds: EVERY_S,
    payouts: [buildPayout({ reference: 'row' + randomKey().slice(0, 20) })],
  };
  const { status, text, json } = await client.create('/payout_schedules', body);
  if (status !== 201) throw new Error(`POST /payout_schedules: ${status} ${text}`);
  return json.data.id as string;
}

interface Run {
  status: string;
  scheduledFor: Date;
  batches: number;
}

const runsOf = (id: string): Promise<Run[]> =>
  gateway.db.query<Run>(
    `SELECT r.status, r.scheduled_for, count(b.id)::int AS batches
       FROM payout_schedule_runs r LEFT JOIN payout_batches b ON b.id = r.batch_id
      WHERE r.schedule_id = ? GROUP BY r.id ORDER BY r.scheduled_for`,
    [id],
  );

test('a worker is killed while one run is opened and the batch of another is reserved', async () => {
  const [opening, reserving] = [await createSchedule(), await createSchedule()];
  // The locks hold each run at its step until the worker is gone.
  await gateway.db.transaction(async (tx) => {
    await tx.query('SELECT FROM payout_schedules WHERE id = ? FOR UPDATE', [opening]);
    await tx.query('LOCK TABLE payout_batches IN EXCLUSIVE MODE');
    const held = await runsOf(opening);
    await waitThroughFaults('the runs to be under way', async () => {
      const pending = (await runsOf(reserving)).some(({ status }) => status === 'pending');
      const waiting = await gateway.db.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND query LIKE '%payout_schedules%'`,
      );
      return pending && waiting.length > 0;
    });
    await gateway.worker.kill();
    expect(await runsOf(opening)).toEqual(held);
  });
  await gateway.worker.start();

  for (const id of [opening, reserving]) {
    await waitThroughFaults(`the runs of ${id}`, async () => {
      const runs = await runsOf(id);
      return runs.length > 2 && runs.every(({ status }) => status === 'created');
    });
    await client.post(`/payout_schedules/${id}/end`);
    const runs = await waitThroughFaults(`every run of ${id} to end`, async () => {
      const now = await runsOf(id);
      return now.every(({ status }) => status !== 'pending') ? now : undefined;
    });
    const made = runs.filter(({ status }) => status === 'created');
    expect(made.map(({ batches }) => batches)).toEqual(made.map(() => 1));
    const [first] = made;
    expect(made.map(({ scheduledFor }) => scheduledFor.getTime())).toEqual(
      made.map((_, index) => first!.scheduledFor.getTime() + index * EVERY_S * 1_000),
    );
  }
  await waitThroughFaults('every batch to be closed', async () => {
    const open = await gateway.db.query('SELECT FROM payout_batches WHERE closed_at IS NULL');
    return open.length === 0;
  });
  expect(await auditPayouts(gateway)).toEqual([]);
});
