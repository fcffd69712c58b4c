/**
 * An upgrade while merchants work: two API processes behind a load balancer and two workers are restarted
 * one after the other, and the schema is migrated. No request fails; one whose workflow task was with a worker
 * that stops may be answered with 503, and its retry with the same key succeeds. Nothing is lost.
 */
import { migrate } from '../../src/db/migrate';
import { MIGRATIONS } from '../../src/db/migrations';
import type { Migration } from '../../src/platform/postgres/migrate';
import { findFreePort } from '../../src/dev/ports';
import { type Balancer, startBalancer } from './balancer';
import { ChildProgram } from '../support/servers/child-program';
import { type OwnGateway, startGateway } from '../support/servers/gateway';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { isUnavailable, retry } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { whenFinal } from './payout-status';
import { scaled } from '../support/scale';
import { waitThroughFaults } from '../support/wait-for';

const ROUNDS = scaled(1, 5);
const PAYOUTS_AROUND_MIGRATION = scaled(20, 200);
const CLIENTS = 4;

/** The tables that every payout writes. */
const BUSY = ['payouts', 'events', 'ledger_transactions', 'ledger_entries', 'idempotency_keys'];

/** What a later version may do to them. */
const LATER: readonly Migration[] = [
  ...BUSY.map((table) => ({
    name: `9000-column-${table}`,
    sql: `ALTER TABLE ${table} ADD COLUMN note text;
          ALTER TABLE ${table} ADD CONSTRAINT short_note CHECK (length(note) < 100) NOT VALID`,
  })),
  {
    name: '9001-checked',
    concurrent: BUSY.map((table) => `ALTER TABLE ${table} VALIDATE CONSTRAINT short_note`),
  },
  {
    name: '9002-indexes',
    concurrent: BUSY.map(
      (table) => `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${table}_by_note ON ${table} (note)`,
    ),
  },
];

let gateway: OwnGateway;
let balancer: Balancer;
/** Both of each. */
let programs: ChildProgram[];

beforeAll(async () => {
  // A process that stops must outlast the balancer's look at it, on a busy machine too.
  gateway = await startGateway({ env: { API_DRAIN_MS: '5000', WORKER_GRACE_MS: '15000' } });
  const port = String(await findFreePort());
  const second = [
    new ChildProgram('api', { ...gateway.env, PORT: port }),
    new ChildProgram('worker', gateway.env),
  ];
  await Promise.all(second.map((program) => program.start()));
  programs = [gateway.api, gateway.worker, ...second];
  balancer = await startBalancer([new URL(gateway.baseUrl).origin, `http://127.0.0.1:${port}`]);
  await bothReady();
  await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', FUNDS);
});

afterAll(async () => {
  await balancer.stop();
  await Promise.all(programs.slice(2).map((program) => program.stop()));
  await gateway.stop();
});

async function bothReady(): Promise<void> {
  await waitThroughFaults('both API processes to be ready', () => balancer.ready() === 2);
}

interface Merchants {
  /** @returns the payouts that were accepted, and the answers that a retry does not heal */
  end(): Promise<{ created: string[]; refused: string[] }>;
}

function startMerchants(baseUrl: string): Merchants {
  const client = new MerchantClient(baseUrl, gateway.merchant.testKey);
  const [created, refused]: [string[], string[]] = [[], []];
  let isOver = false;
  const merchant = async (): Promise<void> => {
    while (!isOver) {
      const [body, key] = [buildPayout(), randomKey()];
      const payout = await retry(() => client.createPayout(body, key), isUnavailable);
      if (payout.status === 201) created.push(payout.json.data.id as string);
      else refused.push(payout.text);
      const balance = await client.get('/balance');
      if (balance.status !== 200) refused.push(balance.text);
    }
  };
  const merchants = Promise.all(Array.from({ length: CLIENTS }, merchant));
  return {
    end: async () => {
      isOver = true;
      await merchants;
      return { created, refused };
    },
  };
}

/** @param before payouts of an earlier test */
async function nothingIsLost(created: string[], before: string[]): Promise<void> {
  await Promise.all(created.map((id) => whenFinal(gateway.db, id)));
  expect((await payoutIds()).sort()).toEqual([...before, ...created].sort());
  expect(await auditPayouts(gateway)).toEqual([]);
  const { accountId, testKey } = gateway.merchant;
  const { available } = await expectedBalance(gateway.db, accountId, FUNDS);
  const { json } = await new MerchantClient(gateway.baseUrl, testKey).get('/balance');
  expect(json.balances[0].available).toBe(available);
}

async function payoutIds(): Promise<string[]> {
  return (await gateway.db.query<{ id: string }>('SELECT id FROM payouts')).map(({ id }) => id);
}

test('every process is restarted under load: no request fails', async () => {
  const merchants = startMerchants(`${balancer.url}/api/v1`);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const program of programs) {
      await program.stop();
      await program.start();
      await bothReady();
    }
  }
  const { created, refused } = await merchants.end();
  expect(refused).toEqual([]);
  await nothingIsLost(created, []);
  console.log(`${ROUNDS * programs.length} restarts, ${created.length} payouts meanwhile`);
});

test('the schema is migrated under load: no request fails', async () => {
  const before = await payoutIds();
  const merchants = startMerchants(gateway.baseUrl);
  const accepted = async (count: number): Promise<void> => {
    const wanted = (await payoutIds()).length + count;
    await waitThroughFaults(
      `${count} more payouts`,
      async () => (await payoutIds()).length >= wanted,
    );
  };
  await accepted(PAYOUTS_AROUND_MIGRATION);
  const applied = await migrate(gateway.database.ownerUrl, [...MIGRATIONS, ...LATER]);
  expect(applied).toEqual(LATER.map(({ name }) => name));
  await accepted(PAYOUTS_AROUND_MIGRATION);
  const { created, refused } = await merchants.end();
  expect(refused).toEqual([]);
  await nothingIsLost(created, before);
  console.log(`${applied.length} migrations, ${created.length} payouts meanwhile`);
});
