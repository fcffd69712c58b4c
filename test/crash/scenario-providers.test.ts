/**
 * Every scenario of the sandbox, over every way to call it: each payout ends in the right status,
 * with matching records on both sides.
 */
import {
  magicAddress,
  magicEmail,
  magicExchangeId,
  SCENARIO_NAMES,
  SCENARIOS,
  type ScenarioName,
} from '../../src/rails/sandbox/transfers/scenarios';
import { startGateway } from '../support/servers/gateway';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { whenFinal, whenStatus } from './payout-status';
import { control, readBookEntry } from '../support/servers/sandbox';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

/** How a merchant calls a scenario at each provider. */
const WAYS = {
  'on-chain by amount': (name: ScenarioName) => ({ amount: `10.0000${SCENARIOS[name].code}` }),
  'on-chain by address': (name: ScenarioName) => ({
    destination: { type: 'crypto_address', value: magicAddress(name, 'tron') },
  }),
  'Exchange Pay by amount': (name: ScenarioName) => ({
    amount: `10.0000${SCENARIOS[name].code}`,
    network: undefined,
    destination: { type: 'exchange_id', value: '123456789' },
  }),
  'Exchange Pay by account': (name: ScenarioName) => ({
    network: undefined,
    destination: { type: 'exchange_id', value: magicExchangeId(name) },
  }),
  'Exchange Pay by email': (name: ScenarioName) => ({
    network: undefined,
    destination: { type: 'email', value: magicEmail(name) },
  }),
} as const;

const ENDS: Partial<Record<ScenarioName, string>> = {
  refuses: 'failed',
  fails_later: 'failed',
  callback_forged: 'failed',
  success_after_failure: 'failed',
  never_settles: 'processing',
};

interface Attempt {
  url: string;
  reference: string;
  status: string;
  result: number | string;
}

interface Played {
  way: keyof typeof WAYS;
  scenario: ScenarioName;
  id: string;
  payout: { status: string; tx_hash: string | null; failure_reason: string | null };
}

const callbacks: Attempt[] = [];
const gateway = started(() =>
  startGateway({
    providerTimeoutMs: 1_000,
    sandbox: {
      // Longer than a read and its repetition take on a busy machine: what a success after a
      // failure comes after.
      slowMs: 7_000,
      log: (message, fields) => {
        if (message === 'callback') callbacks.push(fields as unknown as Attempt);
      },
    },
  }),
);
let client: PatientClient;
let played: Played[];

beforeAll(async () => {
  await fund(gateway.db, gateway.merchant.accountId, 'test', 'USDT', FUNDS);
  client = new PatientClient(gateway.baseUrl, gateway.merchant.testKey);
  const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];
  played = await Promise.all(
    ways.flatMap((way) => SCENARIO_NAMES.map((scenario) => play(way, scenario))),
  );
});

async function play(way: keyof typeof WAYS, scenario: ScenarioName): Promise<Played> {
  const { id } = await client.createPayout(buildPayout(WAYS[way](scenario)));
  await whenStatus(gateway.db, id, ENDS[scenario] ?? 'completed', 'completed', 'failed');
  const { json } = await client.get(`/payouts/${id}`);
  return { way, scenario, id, payout: json.data };
}

describe.each(SCENARIO_NAMES)('%s', (scenario) => {
  test.each(Object.keys(WAYS))(
    '%s ends as it must, and the provider was asked once',
    async (way) => {
      const { id, payout } = played.find((one) => one.way === way && one.scenario === scenario)!;
      const status = ENDS[scenario] ?? 'completed';
      expect(payout).toMatchObject({
        status,
        failure_reason: status === 'failed' ? expect.stringMatching(/\.$/) : null,
      });
      const entry = await readBookEntry(gateway.sandbox.url, id);
      expect(entry).toMatchObject({ scenario, amount: expect.stringMatching(/^10\./) });
      if (status !== 'completed') return;
      expect(entry).toMatchObject({ status: 'sent', times_sent: 1 });
      expect(payout.tx_hash).toBe(entry?.tx_hash);
    },
  );
});

test('a success after a failure posts nothing and becomes one case', async () => {
  const late = played.filter(({ scenario }) => scenario === 'success_after_failure');
  for (const { id } of late) {
    await waitThroughFaults(`the case of ${id}`, async () => {
      const [found] = await gateway.db.query('SELECT 1 FROM cases WHERE object_id = ?', [id]);
      return found;
    });
  }
  const noted = await gateway.db.query<{ kind: string; objectId: string }>(
    'SELECT kind, object_id FROM cases ORDER BY object_id',
  );
  const expected = late.map(({ id }) => ({ kind: 'sent_after_return_of_funds', objectId: id }));
  expect(noted).toEqual(expected.sort((a, b) => (a.objectId < b.objectId ? -1 : 1)));
  for (const { id } of late) expect(await client.status(id)).toBe('failed');
});

test('forged callbacks are refused and the true ones taken', async () => {
  const forged = played.filter(({ scenario }) => scenario === 'callback_forged');
  for (const { id } of forged) {
    const own = await waitThroughFaults(`the callbacks of ${id}`, () => {
      const some = callbacks.filter(({ reference }) => reference === id);
      return Promise.resolve(some.length >= 3 ? some : undefined);
    });
    expect(own.map(({ result }) => result).sort()).toEqual([200, 401, 401]);
  }
});

test('what never settles keeps its funds reserved, until the provider settles it', async () => {
  const waiting = played.filter(({ scenario }) => scenario === 'never_settles');
  const { accountId } = gateway.merchant;
  const before = await client.balance();
  expect(before).toEqual(await expectedBalance(gateway.db, accountId, FUNDS));
  expect(before.reserved).not.toBe('0.00000000');
  const open = waiting.map(({ id }) => id);
  expect(await auditPayouts(gateway, open)).toEqual([]);

  for (const { way, id } of waiting) {
    const provider = way.startsWith('on-chain') ? 'onchain_provider' : 'exchange_pay';
    const transfer = { provider, mode: 'test', client_reference: id };
    expect(await control(gateway.sandbox.url, 'transfers/settle', transfer)).toBe(200);
  }
  for (const { id } of waiting) expect(await whenFinal(gateway.db, id)).toBe('completed');
  expect(await auditPayouts(gateway)).toEqual([]);
  expect(await client.balance()).toEqual(await expectedBalance(gateway.db, accountId, FUNDS));
  expect((await client.balance()).reserved).toBe('0.00000000');
});
