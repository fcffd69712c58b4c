/**
 * A merchant creates payouts and follows the retry guidance, while the worker and the API are
 * killed again and again: what was accepted exists once and ends once. `TEST_SEED` repeats a run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SCENARIOS, type ScenarioName } from '../../src/rails/sandbox/transfers/scenarios';
import { startGateway } from '../support/servers/gateway';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, randomKey } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { whenFinal } from './payout-status';
import { scaled } from '../support/scale';
import { chooseSeed, createDice, type Dice } from '../support/seeded-random';
import { started } from '../support/started';

jest.setTimeout(scaled(300_000, 300_000));

const PAYOUTS = scaled(30, 300);
const KILLS = scaled(4, 30);
const MERCHANT_THREADS = scaled(6, 12);
/** A killed program stays away for up to this long, and comes back before the next one is killed. */
const AWAY_MS = 1_500;

const PLAYED: ScenarioName[] = [
  ...Array<ScenarioName>(4).fill('sends'),
  ...(['refuses', 'fails_later', 'slow', 'error_5xx', 'timeout_after_accept'] as const),
  ...(['connection_reset', 'callback_lost', 'callback_twice'] as const),
];

const gateway = started(() => startGateway({ providerTimeoutMs: 1_000 }));
let client: PatientClient;

beforeAll(async () => {
  await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', FUNDS);
  client = new PatientClient(gateway.baseUrl, gateway.merchant.testKey);
});

test(
  `${PAYOUTS} payouts with ${KILLS} kills: each exists once and ends once`,
  async () => {
    const seed = chooseSeed();
    process.stderr.write(`kill-rolling: TEST_SEED=${seed}\n`);
    const dice = createDice(seed);
    const bodies = Array.from({ length: PAYOUTS }, (_, index) =>
      buildPayout({
        amount: `10.0000${SCENARIOS[dice.pick(PLAYED)].code}`,
        reference: `rolling-${index}-${randomKey()}`,
      }),
    );
    const [created] = await Promise.all([createAll(bodies), killAgainAndAgain(dice)]);
    await Promise.all(created.map(({ id }) => whenFinal(gateway.db, id)));

    // The kills met requests.
    expect(client.repeated).toBeGreaterThan(0);

    const stored = await gateway.db.query<{ id: string; reference: string }>(
      'SELECT id, reference FROM payouts ORDER BY reference',
    );
    const accepted = created.map(({ id, reference }) => ({ id, reference }));
    expect(stored).toEqual(accepted.sort((a, b) => (a.reference < b.reference ? -1 : 1)));
    expect(await auditPayouts(gateway)).toEqual([]);
    const balance = await client.balance();
    expect(balance).toEqual(await expectedBalance(gateway.db, gateway.merchant.accountId, FUNDS));
    expect(balance.reserved).toBe('0.00000000');
  },
  scaled(300_000, 1_200_000),
);

/** Several threads of the merchant's server take the orders one after another. */
async function createAll(
  bodies: Record<string, unknown>[],
): Promise<{ id: string; reference: string }[]> {
  const waiting = [...bodies];
  const created: { id: string; reference: string }[] = [];
  const thread = async (): Promise<void> => {
    for (let body = waiting.shift(); body !== undefined; body = waiting.shift()) {
      const { id } = await client.createPayout(body);
      created.push({ id, reference: String(body['reference']) });
    }
  };
  await Promise.all(Array.from({ length: MERCHANT_THREADS }, thread));
  return created;
}

async function killAgainAndAgain(dice: Dice): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const victims = dice.pick([[gateway.worker], [gateway.api], [gateway.worker, gateway.api]]);
    await sleep(200 + dice.roll(1_500));
    await Promise.all(victims.map((program) => program.kill()));
    await sleep(dice.roll(AWAY_MS));
    await Promise.all(victims.map((program) => program.start()));
  }
}
