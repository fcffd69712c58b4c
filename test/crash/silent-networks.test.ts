/**
 * The network between two parts goes silent: nothing passes, nobody hangs up, and the connections of that
 * time never speak again. Meanwhile every request gets an answer, also behind a load balancer; afterwards
 * everything goes on without a restart, and nothing is lost or doubled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Link, startLink } from '../support/chaos/link';
import { startBalancer } from './balancer';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import { runAdmin } from '../support/servers/gateway-admin';
import { fund, FUNDS } from '../support/merchant/merchant';
import {
  type ApiAnswer,
  buildPayout,
  MerchantClient,
  randomKey,
} from '../support/merchant/merchant-client';
import { PatientClient, retry } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { whenFinal } from './payout-status';
import { scaled } from '../support/scale';
import { type Receiver, startReceiver } from '../support/webhook/webhook-receiver';
import { waitThroughFaults } from '../support/wait-for';

const SILENT_MS = scaled(8_000, 40_000);
const PAYOUTS = scaled(4, 20);

const LINKS = [
  'api and PostgreSQL',
  'worker and PostgreSQL',
  'api and Temporal',
  'worker and Temporal',
  'gateway and provider',
  "worker and merchant's receiver",
] as const;

type LinkName = (typeof LINKS)[number];

/** Side by side, each with a gateway of its own: most of the time is spent waiting for what is silent. */
const PAIRS: readonly (readonly [LinkName, LinkName])[] = [
  ['worker and Temporal', 'api and PostgreSQL'],
  ["worker and merchant's receiver", 'worker and PostgreSQL'],
  ['gateway and provider', 'api and Temporal'],
];

interface World {
  gateway: OwnGateway;
  links: Record<LinkName, Link>;
  receiver: Receiver;
  client: MerchantClient;
  stop: () => Promise<void>;
}

async function startWorld(): Promise<World> {
  const receiver = await startReceiver();
  const postgres = Number(new URL(process.env['TEST_POSTGRES_URL'] ?? '').port);
  const temporal = Number((process.env['TEST_TEMPORAL_ADDRESS'] ?? '').split(':')[1]);
  const targets = [postgres, postgres, temporal, temporal, 0, Number(new URL(receiver.url).port)];
  const started = await Promise.all(targets.map((target) => startLink(target)));
  const links = Object.fromEntries(
    LINKS.map((link, index) => [link, started[index]!]),
  ) as World['links'];
  const at = (link: LinkName) => links[link].port;
  const gateway = await startGateway({
    databasePort: at('api and PostgreSQL'),
    workerDatabasePort: at('worker and PostgreSQL'),
    env: {
      DATABASE_STATEMENT_TIMEOUT_MS: '2000',
      TEMPORAL_ADDRESS: `127.0.0.1:${at('api and Temporal')}`,
      ONCHAIN_TEST_URL: `http://127.0.0.1:${at('gateway and provider')}/onchain`,
    },
    workerEnv: { TEMPORAL_ADDRESS: `127.0.0.1:${at('worker and Temporal')}` },
  });
  // The sandbox is started with the gateway, which must know the address first.
  links['gateway and provider'].leadTo(gateway.sandbox.port);
  const { accountId, testKey } = gateway.merchant;
  await fund(gateway.db, accountId, 'test', 'USDT', FUNDS);
  const url = `http://127.0.0.1:${at("worker and merchant's receiver")}/hooks`;
  const where = ['--account', accountId, '--mode', 'test', '--url', url];
  await runAdmin(gateway, 'webhooks', 'create', ...where);
  const balancer = await startBalancer([new URL(gateway.baseUrl).origin]);
  await waitThroughFaults('the API to get requests', () => balancer.ready() === 1);
  return {
    ...{ gateway, links, receiver },
    client: new MerchantClient(`${balancer.url}/api/v1`, testKey),
    stop: async () => {
      await balancer.stop();
      await gateway.stop();
      await receiver.stop();
      await Promise.all(started.map((link) => link.stop()));
    },
  };
}

jest.setTimeout(scaled(300_000, 600_000));

test.concurrent.each(PAIRS)('between %s, and then between %s', async (...pair) => {
  const world = await startWorld();
  try {
    for (const link of pair) await silence(world, link);
  } finally {
    await world.stop();
  }
});

async function silence({ gateway, links, receiver, client }: World, name: LinkName): Promise<void> {
  const create = (key: string) => retry(() => client.createPayout(bodyOf(key), key));
  const under = await Promise.all(Array.from({ length: PAYOUTS }, () => create(randomKey())));
  const keys = Array.from({ length: PAYOUTS }, () => randomKey());

  links[name].set({ kind: 'black_hole' });
  const ended = Date.now() + SILENT_MS;
  const meanwhile = await Promise.all([
    ...keys.map((key) => client.createPayout(bodyOf(key), key)),
    client.get('/balance'),
    client.get(`/payouts/${under[0]!.json.data.id}`),
  ]);
  expect(meanwhile.filter((answer) => !isProper(answer)).map(({ text }) => text)).toEqual([]);
  await sleep(Math.max(0, ended - Date.now()));
  // By now the load balancer has asked the API many times.
  const read = await client.get('/balance');
  expect([isProper(read), read.text]).toEqual([true, expect.any(String)]);
  links[name].set(null);

  const late = await Promise.all(keys.map((key) => create(key)));
  await Promise.all([...under, ...late].map(({ json }) => whenFinal(gateway.db, json.data.id)));
  await allDelivered(gateway, receiver);
  expect(await auditPayouts(gateway)).toEqual([]);
  const balance = await new PatientClient(gateway.baseUrl, client.apiKey).balance();
  const { accountId } = gateway.merchant;
  expect(balance).toEqual(await expectedBalance(gateway.db, accountId, FUNDS));
}

const bodyOf = (key: string) => buildPayout({ reference: `silent-${key}` });

/** Done, or a 503 or a running request that says when to ask again. */
function isProper({ status, headers }: ApiAnswer): boolean {
  return status < 300 || ([409, 503].includes(status) && headers.has('retry-after'));
}

/** Attempts that met the silence are made again at once, as the schedule would a minute later. */
async function allDelivered(gateway: OwnGateway, receiver: Receiver): Promise<void> {
  await waitThroughFaults('every event to be delivered', async () => {
    const open = await gateway.db.query<{ id: string }>(
      "SELECT id FROM webhook_deliveries WHERE status = 'pending'",
    );
    for (const { id } of open) {
      await gateway.temporal.workflow
        .getHandle(id)
        .signal('retryNow')
        .catch(() => undefined);
    }
    if (open.length > 0) await sleep(1_000);
    return open.length === 0;
  });
  const events = await gateway.db.query<{ id: string }>('SELECT id FROM events');
  expect(events.filter(({ id }) => receiver.of(id).length === 0)).toEqual([]);
}
