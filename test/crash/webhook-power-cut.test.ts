/**
 * `npm start` with webhooks: the demo merchant's test endpoint is the sandbox's inbox, a receiver on
 * this machine is admitted, and after power cuts (PostgreSQL and Temporal too) every event has
 * arrived or is still scheduled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/db/connect';
import type { Db } from '../../src/db/transaction';
import { auditWebhookDeliveries } from '../support/webhook/webhook-delivery-audit';
import { buildPayout } from '../support/merchant/merchant-client';
import { NpmGateway, type Settings } from './npm-gateway';
import { PatientClient } from '../support/merchant/patient-client';
import { whenFinal } from './payout-status';
import { scaled } from '../support/scale';
import { chooseSeed, createDice } from '../support/seeded-random';
import { faultOf, type Receiver, startReceiver } from '../support/webhook/webhook-receiver';
import { waitThroughFaults } from '../support/wait-for';

jest.setTimeout(scaled(420_000, 1_800_000));

const CUTS = scaled(1, 8);
const PAYOUTS_EACH = scaled(10, 40);
/** A delivery whose workflow was lost is looked for after two minutes. */
const TRIED_MS = scaled(240_000, 900_000);

let installation: NpmGateway;
let settings: Settings;
let receiver: Receiver;
let endpoint: { id: string; secret: string };

beforeAll(async () => {
  installation = await NpmGateway.create();
  settings = await installation.start();
  await installation.script('dev:fund', '--currency', 'USDT', '--amount', '100000');
  receiver = await startReceiver();
  const url = receiver.url.replace('127.0.0.1', 'localhost');
  const where = ['--mode', 'test', '--url', url, '--json'];
  endpoint = JSON.parse(await installation.script('admin', 'webhooks', 'create', ...where));
});

afterAll(async () => {
  await receiver.stop();
  await installation.remove();
});

async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const db = connect({ url: settings.postgres_url, size: 2, applicationName: 'test' });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function createPayouts(count: number): Promise<string[]> {
  const client = new PatientClient(settings.base_url, settings.test_key);
  const created = Array.from({ length: count }, () => client.createPayout(buildPayout()));
  return (await Promise.all(created)).map(({ id }) => id);
}

test('the inbox of the sandbox verifies and shows what the demo merchant’s endpoint gets', async () => {
  const [id] = await createPayouts(1);
  const arrived = await waitThroughFaults('the events at the inbox', async () => {
    const answer = await fetch(`${settings.sandbox_url}/inbox/events`);
    const { data } = (await answer.json()) as { data: { type: string; fault: string | null }[] };
    return data.length >= 4 ? data : undefined;
  });
  expect(arrived.map(({ fault }) => fault)).toEqual(arrived.map(() => null));
  const page = await (await fetch(`${settings.sandbox_url}/inbox`)).text();
  expect(page).toContain('payout.completed');
  expect(page).toContain('verified');
  expect(page).toContain(id!);
});

test('in live mode a receiver on this machine is refused', async () => {
  const where = ['--mode', 'live', '--url', receiver.url.replace('http:', 'https:')];
  await expect(installation.script('admin', 'webhooks', 'create', ...where)).rejects.toThrow(
    /--url/,
  );
});

test(`after ${CUTS} power cuts every event has arrived or is scheduled, and none is invented`, async () => {
  const seed = chooseSeed();
  process.stderr.write(`webhook-power-cut: TEST_SEED=${seed}\n`);
  const dice = createDice(seed);
  const ids: string[] = [];
  for (let cut = 0; cut < CUTS; cut += 1) {
    ids.push(...(await createPayouts(PAYOUTS_EACH)));
    // Somewhere between the first approval and the last delivery.
    await sleep(1_000 + dice.roll(3_000));
    await installation.cutPower(async () => undefined);
    settings = await installation.start();
  }
  await withDatabase(async (db) => {
    await Promise.all(ids.map((id) => whenFinal(db, id)));
    await waitThroughFaults(
      'every event to have been tried',
      async () => {
        const faults = await audit(db);
        const untried = faults.filter((fault) => !/ is pending after [1-7] attempts$/.test(fault));
        if (untried.length > 0) throw new Error(untried.slice(0, 20).join('; '));
        return true;
      },
      TRIED_MS,
    );
    const [counts] = await db.query<{ changes: number; events: number }>(
      `SELECT (SELECT sum(sequence)::int FROM payouts) AS changes,
              (SELECT count(*)::int FROM events) AS events`,
    );
    expect(counts!.events).toBe(counts!.changes);
  });
  expect(receiver.received.map((one) => faultOf(one, endpoint.secret))).toEqual(
    receiver.received.map(() => null),
  );
});

/** What was committed before the endpoint was made is none of its business. */
async function audit(db: Db): Promise<string[]> {
  const arrived = receiver.received.map(({ event }) => event.id as string);
  return auditWebhookDeliveries(db, endpoint.id, arrived);
}
