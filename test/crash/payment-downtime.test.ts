/**
 * Everything stands still over the end of payments' windows: API, worker, Temporal and PostgreSQL.
 * The provider and its customers do not. Afterwards each payment ends as the provider's times say,
 * also when Temporal has lost all it knew.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { registerSearchAttributes } from '../../src/temporal/search-attributes';
import { brokenInvariants, startGateway, type OwnGateway } from '../support/servers/gateway';
import type { MerchantClient } from '../support/merchant/merchant-client';
import { type MortalServers, startMortalServers } from '../support/chaos/mortal-servers';
import { atProvider, eventsOf, openedPayment, readPayment } from '../support/payment/payment-steps';
import { balanceOf, openMerchant } from '../support/payout/payout-steps';
import { waitThroughFaults } from '../support/wait-for';

/** Until the windows close, while nothing runs. */
const WINDOW_LEFT_MS = 1_500;

let servers: MortalServers;
let gateway: OwnGateway;

beforeAll(async () => {
  servers = await startMortalServers();
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway.stop();
  await servers.stop();
});

async function startAll(memory: 'kept' | 'empty'): Promise<void> {
  if (memory === 'empty') servers.emptyTemporal();
  await Promise.all([servers.postgres.start(), servers.temporal.start()]);
  if (memory === 'empty') await prepareNamespace();
  await Promise.all([gateway.api.start(), gateway.worker.start()]);
}

/** What the operator does with an empty cluster (docs/operations.md, "After a restore"). */
async function prepareNamespace(): Promise<void> {
  const { connection, options } = gateway.temporal;
  await waitThroughFaults('the namespace', async () => {
    await connection.workflowService.registerNamespace({
      namespace: options.namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    return true;
  });
  await waitThroughFaults('the search attributes', async () => {
    await registerSearchAttributes(connection as never, options.namespace);
    return true;
  });
}

/** No merchant may ask for a window as short as a test needs. */
async function shortenWindows(ids: string[]): Promise<Date> {
  const sql = `UPDATE payments SET expires_at = clock_timestamp() + ? * interval '1 millisecond'
    WHERE id = ANY (?) RETURNING expires_at`;
  const changed = await gateway.db.query<{ expiresAt: Date }>(sql, [WINDOW_LEFT_MS, ids]);
  const ends = changed.map(({ expiresAt }) => expiresAt.getTime());
  // Each row has its own moment; what is paid lies well before all or after all.
  return new Date(Math.max(...ends));
}

const COMES = {
  nothing: { ends: 'expired', exceptions: [], net: null },
  'in time': { ends: 'completed', exceptions: [], net: '99.00000000' },
  'too late': { ends: 'completed', exceptions: ['late'], net: '99.00000000' },
  'in part': { ends: 'underpaid', exceptions: [], net: '39.60000000' },
  'seen before, confirmed meanwhile': { ends: 'completed', exceptions: [], net: '99.00000000' },
} as const;
type What = keyof typeof COMES;
const ALL = Object.keys(COMES) as What[];

async function openAll(client: MerchantClient): Promise<Map<What, string>> {
  const ids = await Promise.all(ALL.map(() => openedPayment(client)));
  const payments = new Map(ALL.map((what, index) => [what, ids[index]!]));
  const seen = payments.get('seen before, confirmed meanwhile')!;
  await atProvider(gateway, seen, 'pay', { then: 'stay' });
  await waitThroughFaults(
    'the transfer to be seen',
    async () => (await readPayment(client, seen)).status === 'processing',
  );
  return payments;
}

async function payMeanwhile(payments: Map<What, string>, windowEnd: Date): Promise<void> {
  const id = (what: What) => payments.get(what)!;
  const at = (ms: number) => ({ at: new Date(windowEnd.getTime() + ms).toISOString() });
  await atProvider(gateway, id('in time'), 'pay', at(-1_000));
  await atProvider(gateway, id('too late'), 'pay', at(1_000));
  await atProvider(gateway, id('in part'), 'pay', { amount: '40', ...at(-1_000) });
  await atProvider(gateway, id('seen before, confirmed meanwhile'), 'confirm');
}

test.each([
  { what: 'Temporal goes on where it was', memory: 'kept' },
  { what: 'Temporal comes back empty', memory: 'empty' },
] as const)(
  'after the downtime each payment ends by the provider’s times: $what',
  async ({ memory }) => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const payments = await openAll(client);
    const ids = [...payments.values()];
    await Promise.all([gateway.api.kill(), gateway.worker.kill(), servers.temporal.kill()]);
    const windowEnd = await shortenWindows(ids);
    // The sweep leaves alone what was looked at within the last minutes.
    const sql = `UPDATE payments SET workflow_checked_at = now() - interval '10 minutes'
    WHERE id = ANY (?)`;
    if (memory === 'empty') await gateway.db.query(sql, [ids]);
    await servers.postgres.kill();
    await payMeanwhile(payments, windowEnd);
    await sleep(Math.max(0, windowEnd.getTime() + 2_000 - Date.now()));
    await startAll(memory);

    const ended = await Promise.all(
      ALL.map((what) =>
        waitThroughFaults(`"${what}" to end`, async () => {
          const data = await readPayment(client, payments.get(what)!);
          const { status, exceptions, net_amount: net } = data;
          return status === COMES[what].ends
            ? [what, { ends: status, exceptions, net }]
            : undefined;
        }),
      ),
    );
    expect(Object.fromEntries(ended)).toEqual(COMES);
    expect(await balanceOf(client)).toMatchObject({ available: '336.60000000' });
    const last = await Promise.all(
      ids.map(async (id) => (await eventsOf(gateway, id)).at(-1)?.type),
    );
    expect(last).toEqual(ALL.map((what) => `payment.${COMES[what].ends}`));
    expect(await brokenInvariants(gateway)).toEqual([]);
  },
);
