/**
 * A batch is paid while the worker, the API and the connections to PostgreSQL are killed again and
 * again: every row is sent once or returned, and the proof agrees with the ledger. `TEST_SEED` repeats
 * a run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '../../src/db/provision';
import { SCENARIOS, type ScenarioName } from '../../src/sandbox/transfers/scenarios';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { PatientClient, retry } from '../support/merchant/patient-client';
import { auditMoney, auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { scaled } from '../support/scale';
import { chooseSeed, createDice, type Dice } from '../support/seeded-random';
import { startGateway } from '../support/servers/gateway';
import { started } from '../support/started';
import { waitThroughFaults } from '../support/wait-for';

const ROWS = scaled(120, 10_000);
const KILLS = scaled(4, 40);
const END_WITHIN_MS = scaled(180_000, 2_400_000);

/** Some rows fail at the provider, and some answers are lost. */
const PLAYED: ScenarioName[] = [
  ...Array<ScenarioName>(20).fill('sends'),
  ...(['refuses', 'fails_later', 'error_5xx', 'timeout_after_accept', 'callback_lost'] as const),
];

const gateway = started(() => startGateway({ providerTimeoutMs: 1_000 }));
let client: MerchantClient;
let patient: PatientClient;

beforeAll(async () => {
  await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', FUNDS);
  client = new MerchantClient(gateway.baseUrl, gateway.merchant.testKey);
  patient = new PatientClient(gateway.baseUrl, gateway.merchant.testKey);
});

interface Batch {
  id: string;
  closed_at: string | null;
  status: string;
  rows: { total: number; waiting: number; sent: number; failed: number; returned: number };
}

async function createBatch(dice: Dice): Promise<Batch> {
  const payouts = Array.from({ length: ROWS }, () =>
    buildPayout({ amount: `1.0000${SCENARIOS[dice.pick(PLAYED)].code}` }),
  );
  const key = randomKey();
  const body = { reference: randomKey(), payouts };
  const { json } = await retry(() =>
    client.post('/payout_batches', body, { 'idempotency-key': key }),
  );
  return json.data as Batch;
}

async function read(id: string): Promise<Batch> {
  const { status, json } = await client.get(`/payout_batches/${id}`);
  if (status !== 200) throw new Error(`${id}: ${status}`);
  return json.data as Batch;
}

async function whenClosed(id: string): Promise<Batch> {
  return waitThroughFaults(
    `${id} to be closed`,
    async () => {
      const batch = await read(id);
      return batch.closed_at === null ? undefined : batch;
    },
    END_WITHIN_MS,
  );
}

async function killAgainAndAgain(dice: Dice): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(500 + dice.roll(2_000));
    const victims = dice.pick([[gateway.worker], [gateway.api], [gateway.worker, gateway.api]]);
    await Promise.all(victims.map((program) => program.kill()));
    await endConnections();
    await sleep(dice.roll(1_500));
    await Promise.all(victims.map((program) => program.start()));
  }
}

/** As a failover of PostgreSQL ends them. */
function endConnections(): Promise<void> {
  return withClient(gateway.database.ownerUrl, async (owner) => {
    await owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'gateway-%'`,
    );
  });
}

async function expectSound(batch: Batch): Promise<void> {
  const { sent, failed, returned, total } = batch.rows;
  expect(sent + failed + returned).toBe(total);
  const { json } = await client.get(`/payout_batches/${batch.id}/proof`);
  expect(json.data.balanced).toBe(true);
  // A row that was returned without having been released has no workflow.
  expect(await auditMoney(gateway)).toEqual([]);
  const balance = await patient.balance();
  expect(balance).toEqual(await expectedBalance(gateway.db, gateway.merchant.accountId, FUNDS));
  expect(balance.reserved).toBe('0.00000000');
}

test(
  `${ROWS} rows with ${KILLS} kills: each is sent once or returned, and the proof agrees`,
  async () => {
    const seed = chooseSeed();
    process.stderr.write(`batch-kill: TEST_SEED=${seed}\n`);
    const dice = createDice(seed);
    const { id } = await createBatch(dice);
    await killAgainAndAgain(dice);
    const batch = await whenClosed(id);
    expect(batch.status).toBe('partially_completed');
    expect(batch.rows.returned).toBe(0);
    await expectSound(batch);
    expect(await auditPayouts(gateway)).toEqual([]);
  },
  END_WITHIN_MS,
);

test(
  'a batch that is stopped at half, with kills, is sent or returned to the last row',
  async () => {
    const dice = createDice(chooseSeed());
    const { id } = await createBatch(dice);
    await waitThroughFaults(
      'half of the rows to be released',
      async () => (await read(id)).rows.waiting <= ROWS / 2,
      END_WITHIN_MS,
    );
    const kills = killAgainAndAgain(dice);
    await waitThroughFaults('the stop', async () => {
      const { status } = await client.post(`/payout_batches/${id}/stop`);
      return status === 200 ? true : undefined;
    });
    await kills;
    const batch = await whenClosed(id);
    expect(batch.status).toBe('stopped');
    expect(batch.rows.returned).toBeGreaterThan(0);
    await expectSound(batch);
  },
  END_WITHIN_MS,
);
