/**
 * An upgrade: two API processes behind a load balancer and two workers are restarted one after the
 * other while a merchant works. No request fails; one whose workflow task was with a worker that stops may
 * be answered with 503, and its retry with the same key succeeds. Nothing is lost.
 */
import { findFreePort } from '../../src/dev/ports';
import { rows } from '../../src/db/transaction';
import { type Balancer, startBalancer } from '../support/balancer';
import { ChildProgram } from '../support/child-program';
import { type OwnGateway, startGateway } from '../support/gateway';
import { fund } from '../support/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant-client';
import { waitLong } from '../support/patience';
import { isUnavailable, retry } from '../support/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout-audit';
import { whenFinal } from '../support/payout-status';
import { scaled } from '../support/scale';

const ROUNDS = scaled(1, 5);
const CLIENTS = 4;
const FUNDS = '100000.00000000';

let gateway: OwnGateway;
let balancer: Balancer;
/** Both of each. */
let programs: ChildProgram[];

beforeAll(async () => {
  gateway = await startGateway({ env: { API_DRAIN_MS: '1500', WORKER_GRACE_MS: '15000' } });
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
  await waitLong('both API processes to be ready', () =>
    Promise.resolve(balancer.ready() === 2 ? true : undefined),
  );
}

test('every process is restarted under load: no request fails', async () => {
  const { testKey, accountId } = gateway.merchant;
  const client = new MerchantClient(`${balancer.url}/api/v1`, testKey);
  const refused: string[] = [];
  const created: string[] = [];
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
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const program of programs) {
      await program.stop();
      await program.start();
      await bothReady();
    }
  }
  isOver = true;
  await merchants;

  expect(refused).toEqual([]);
  await Promise.all(created.map((id) => whenFinal(gateway.db, id)));
  const stored = await rows<{ id: string }>(gateway.db, 'SELECT id FROM payouts');
  expect(stored.map(({ id }) => id).sort()).toEqual(created.sort());
  expect(await auditPayouts(gateway)).toEqual([]);
  const { available } = await expectedBalance(gateway.db, accountId, FUNDS);
  const { json } = await client.get('/balance');
  expect(json.balances[0].available).toBe(available);
});
