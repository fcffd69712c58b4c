/**
 * A provider's API goes away, before a payout is handed over and while one is on its way, and
 * comes back: each payout ends once, and nobody gets the funds back in between.
 */
import { startGateway } from '../support/servers/gateway';
import { createMerchant, fund, FUNDS, type Merchant } from '../support/merchant/merchant';
import { buildPayout } from '../support/merchant/merchant-client';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { payoutStatus, whenFinal, whenStatus } from './payout-status';
import { control, readBookEntry } from '../support/servers/sandbox';
import { waitThroughFaults } from '../support/wait-for';
import { started } from '../support/started';

/** An outage hits one provider in one mode, so all kinds fit into one run. */
const LANES = [
  { provider: 'onchain_provider', mode: 'test', kind: 'answer_503' },
  { provider: 'exchange_pay', mode: 'test', kind: 'hang' },
  { provider: 'onchain_provider', mode: 'live', kind: 'refuse' },
  { provider: 'exchange_pay', mode: 'live', kind: 'answer_503' },
] as const;
type Lane = (typeof LANES)[number];

interface Played {
  client: PatientClient;
  accountId: string;
  /** With the provider when the outage began. */
  early: string;
  /** Handed over while the outage lasted. */
  late: string;
}

const gateway = started(() => startGateway({ providerTimeoutMs: 700 }));
let played: Map<Lane, Played>;

beforeAll(async () => {
  played = new Map(await Promise.all(LANES.map(async (lane) => [lane, await play(lane)] as const)));
});

async function play({ provider, mode, kind }: Lane): Promise<Played> {
  const merchant: Merchant = await createMerchant(gateway.db, gateway.pepper);
  const { accountId } = merchant;
  await fund(gateway.db, accountId, mode, 'USDT', FUNDS);
  const client = new PatientClient(
    gateway.baseUrl,
    mode === 'live' ? merchant.liveKey : merchant.testKey,
  );
  const create = async (amount: string): Promise<string> => {
    const inside = { network: undefined, destination: { type: 'exchange_id', value: '123456789' } };
    const overrides = provider === 'exchange_pay' ? inside : {};
    return (await client.createPayout(buildPayout({ ...overrides, amount }))).id;
  };
  const approve = async (id: string): Promise<void> => {
    if (mode === 'live') await gateway.temporal.workflow.getHandle(id).signal('approve');
  };

  const early = await create('10.00009014');
  await approve(early);
  await whenStatus(gateway.db, early, 'processing');
  const late = await create('10');
  await control(gateway.sandbox.url, 'outage', { provider, mode, kind });
  await control(gateway.sandbox.url, 'transfers/settle', {
    provider,
    mode,
    client_reference: early,
  });
  await approve(late);
  await waitThroughFaults(`${late} to be in doubt`, async () => {
    const sql = 'SELECT 1 FROM payouts WHERE id = ? AND in_doubt_since IS NOT NULL';
    return (await gateway.db.query(sql, [late]))[0];
  });
  const meanwhile = [await payoutStatus(gateway.db, early), await payoutStatus(gateway.db, late)];
  expect(meanwhile).toEqual(['processing', 'approved']);
  await control(gateway.sandbox.url, 'outage', { provider, mode, kind: null });
  return { client, accountId, early, late };
}

test.each(LANES)(
  '$provider in $mode mode, $kind: both payouts complete',
  async (lane) => {
    const { client, accountId, early, late } = played.get(lane)!;
    for (const id of [early, late]) {
      expect(await whenFinal(gateway.db, id)).toBe('completed');
      const entry = await readBookEntry(gateway.sandbox.url, id);
      expect(entry).toMatchObject({ provider: lane.provider, mode: lane.mode, times_sent: 1 });
    }
    const balance = await client.balance();
    expect(balance).toEqual(await expectedBalance(gateway.db, accountId, FUNDS));
    expect(balance.reserved).toBe('0.00000000');
  },
  300_000,
);

test('the ledger verifies and every workflow has ended', async () => {
  expect(await auditPayouts(gateway)).toEqual([]);
});
