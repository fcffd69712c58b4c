/**
 * A batch is paid while the worker, the API, the Temporal server, PostgreSQL and its connections are
 * killed again and again: every row is sent once or returned, and the proof agrees with the ledger.
 * `TEST_SEED` repeats a run.
 */
import { SCENARIOS, type ScenarioName } from '../../src/rails/sandbox/transfers/scenarios';
import { killAgainAndAgain } from './kills';
import { startMortalServers } from '../support/chaos/mortal-servers';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { PatientClient, retry } from '../support/merchant/patient-client';
import { add, type Amount } from '../../src/domain/money';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { scaled } from '../support/scale';
import { chooseSeed, createDice, type Dice } from '../support/seeded-random';
import { startGateway } from '../support/servers/gateway';
import { readBook } from '../support/servers/sandbox';
import { started } from '../support/started';
import { waitThroughFaults } from '../support/wait-for';

const ROWS = scaled(120, 10_000);
const KILLS = scaled(4, 60);
const END_WITHIN_MS = scaled(300_000, 10_800_000);

/** Some rows fail at the provider, and some answers are lost. The first rows play each of them. */
const PLAYED: ScenarioName[] = [
  ...(['refuses', 'fails_later', 'error_5xx', 'timeout_after_accept', 'callback_lost'] as const),
  ...Array<ScenarioName>(20).fill('sends'),
];

const OTHER_ADDRESS = 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7';

const servers = started(startMortalServers);
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
  const payouts = Array.from({ length: ROWS }, (_, n) =>
    buildPayout({ amount: `1.0000${SCENARIOS[PLAYED[n] ?? dice.pick(PLAYED)].code}` }),
  );
  const key = randomKey();
  const body = { reference: randomKey(), payouts };
  const { status, text, json } = await retry(() => client.create('/payout_batches', body, key));
  if (status !== 201) throw new Error(`POST /payout_batches: ${status} ${text}`);
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

async function whenWaiting(id: string, most: number): Promise<void> {
  const isDown = async () => (await read(id)).rows.waiting <= most;
  await waitThroughFaults(`at most ${most} rows to wait`, isDown, END_WITHIN_MS);
}

interface Proof {
  balanced: boolean;
  totals: Record<string, Amount>[];
  rows: { id: string; status: string; amount: string }[];
}

async function expectSound(batch: Batch): Promise<void> {
  const { sent, failed, returned, total } = batch.rows;
  expect(sent + failed + returned).toBe(total);
  const { json } = await patient.get(`/payout_batches/${batch.id}/proof`);
  const { balanced, totals, rows } = json.data as Proof;
  expect(balanced).toBe(true);
  for (const sums of totals) {
    const back = add(sums['failed']!, sums['returned']!);
    expect(add(sums['sent']!, back)).toBe(sums['manifest']);
    expect([sums['ledger_settled'], sums['ledger_released']]).toEqual([sums['sent'], back]);
    expect(sums['ledger_reserved']).toBe(sums['manifest']);
  }
  const known = new Map(rows.map((row) => [row.id, row]));
  const { transfers } = await readBook(gateway.sandbox.url);
  const sentByProvider = transfers
    .filter((transfer) => known.has(transfer.client_reference) && transfer.times_sent > 0)
    .map((transfer) => [transfer.client_reference, transfer.times_sent, transfer.amount]);
  const sentRows = rows
    .filter(({ status }) => status === 'completed')
    .map(({ id, amount }) => [id, 1, amount]);
  expect(sentRows).toHaveLength(sent);
  expect(sentByProvider.sort()).toEqual(sentRows.sort());
  // Also: the provider was not asked about a row that was returned, and the ledger is verified.
  expect(await auditPayouts(gateway)).toEqual([]);
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
    const kills = killAgainAndAgain(gateway, servers, dice, { kills: KILLS });
    const [{ id }] = await Promise.all([createBatch(dice), kills]);
    const batch = await whenClosed(id);
    expect(batch.status).toBe('partially_completed');
    expect(batch.rows.returned).toBe(0);
    await expectSound(batch);
  },
  END_WITHIN_MS,
);

test(
  'a batch that is stopped at half, with kills, is sent or returned to the last row',
  async () => {
    const dice = createDice(chooseSeed());
    const { id } = await createBatch(dice);
    await whenWaiting(id, ROWS / 2);
    const kills = killAgainAndAgain(gateway, servers, dice, { kills: KILLS / 2 });
    await waitThroughFaults('the stop', async () => {
      const { status } = await client.post(`/payout_batches/${id}/stop`);
      return status === 200 ? true : undefined;
    });
    await kills;
    const batch = await whenClosed(id);
    expect(batch.status).toBe('stopped');
    expect(batch.rows.sent).toBeGreaterThan(0);
    expect(batch.rows.returned).toBeGreaterThan(0);
    await expectSound(batch);
  },
  END_WITHIN_MS,
);

test(
  'a row that is changed after the approval, while no worker runs, is refused by its hash',
  async () => {
    const { id } = await createBatch(createDice(chooseSeed()));
    await whenWaiting(id, ROWS - 1);
    await gateway.worker.kill();
    const changed = await gateway.db.query<{ id: string }>(
      `UPDATE payouts SET destination_value = ?
        WHERE batch_id = ? AND batch_row = ? AND awaits_batch RETURNING id`,
      [OTHER_ADDRESS, id, ROWS],
    );
    await gateway.worker.start();
    const batch = await whenClosed(id);
    expect(batch.status).toBe('stopped');
    const [row] = await gateway.db.query<{ status: string }>(
      'SELECT status FROM payouts WHERE id = ?',
      [changed[0]?.id ?? ''],
    );
    expect(row?.status).toBe('cancelled');
  },
  END_WITHIN_MS,
);
