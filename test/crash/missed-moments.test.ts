/**
 * The moment for which an object waits passes while nobody can see it. Afterwards each object goes on by itself, whether
 * its own timer comes late, its workflow is gone, or the database was away (decisions/workflows#waits).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fund, FUNDS } from '../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../support/merchant/merchant-client';
import { isUnavailable, retry } from '../support/merchant/patient-client';
import { atProvider, openedPayment } from '../support/payment/payment-steps';
import { auditPayouts } from '../support/payout/payout-audit';
import { acceptedPayout, addKey, type NamedKey } from '../support/payout/payout-steps';
import { allowConnections } from '../support/servers/database';
import { startGateway } from '../support/servers/gateway';
import { started } from '../support/started';
import { waitThroughFaults } from '../support/wait-for';

/** Enough to create what waits for the moment, on a busy machine. */
const LEAD_MS = 20_000;
const AFTER_MS = 3_000;

const gateway = started(startGateway);
let client: MerchantClient;
let key: NamedKey;

beforeAll(async () => {
  const { accountId, testKey } = gateway.merchant;
  await fund(gateway.db, accountId, 'test', 'USDT', FUNDS);
  client = new MerchantClient(gateway.baseUrl, testKey);
  key = await addKey(gateway, { accountId, mode: 'test' });
});

const statusOf = async (table: 'payouts' | 'payout_batches', id: string) =>
  (await gateway.db.query<{ status: string }>(`SELECT status FROM ${table} WHERE id = ?`, [id]))[0]
    ?.status;

async function created(path: string, body: object): Promise<string> {
  const { status, json, text } = await client.create(path, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
  return json.data.id as string;
}

const rows = () => [buildPayout({ reference: `row${randomKey().slice(0, 20)}` })];
const reference = () => randomKey().slice(0, 30);

/** What waits for a moment. */
interface Waiting {
  id: string;
  /** It ends as it should. */
  ends: () => Promise<boolean>;
}

/** Everything that waits for a moment; `meanwhile` happens while nobody looks. */
async function createAll() {
  const payment = await openedPayment(client);
  const moment = Date.now() + LEAD_MS;
  const at = new Date(moment).toISOString();
  const payout = async (release: object | undefined, end: string): Promise<Waiting> => {
    const id = await acceptedPayout(client, release === undefined ? {} : { release });
    return { id, ends: async () => (await statusOf('payouts', id)) === end };
  };
  const released = await payout({ approval_by_key: key.secondKey }, 'completed');
  const schedule = await created('/payout_schedules', {
    ...{ reference: reference(), interval_seconds: 86_400, start_at: at, payouts: rows() },
  });
  const runs = () =>
    gateway.db.query<{ status: string }>(
      'SELECT status FROM payout_schedule_runs WHERE schedule_id = ?',
      [schedule],
    );
  // The last ones, because their windows are short.
  const batch = await created('/payout_batches', { reference: reference(), payouts: rows() });
  const all = [
    await payout({ at }, 'completed'),
    await payout({ approval_by_key: key.secondKey, expires_at: at }, 'cancelled'),
    await payout({ after_payment: payment }, 'completed'),
    released,
    { id: batch, ends: async () => (await statusOf('payout_batches', batch)) === 'completed' },
    await payout(undefined, 'completed'),
    { id: schedule, ends: async () => (await runs()).some(({ status }) => status === 'created') },
  ];
  const meanwhile = async () => {
    const path = `/payouts/${released.id}/release`;
    const answers = [atProvider(gateway, payment, 'pay'), key.second.post(path)];
    await Promise.allSettled(answers);
    // Without the database nothing was stored, and the merchant was told so.
    return retry(() => key.second.post(path), isUnavailable);
  };
  return { moment, all, meanwhile };
}

async function terminate({ id }: Waiting): Promise<void> {
  // A schedule has no workflow of its own, and the shortest wait may be over.
  await gateway.temporal.workflow
    .getHandle(id)
    .terminate('a test')
    .catch(() => undefined);
}

const signal = (name: NodeJS.Signals) => () => {
  gateway.worker.signal(name);
  return Promise.resolve();
};

const AWAY = {
  'the worker is suspended': [signal('SIGSTOP'), signal('SIGCONT')],
  'the database is away': [
    () => allowConnections(gateway, false),
    () => allowConnections(gateway, true),
  ],
} as const;

test.each([
  ['the worker is suspended', 'kept'],
  ['the worker is suspended', 'gone'],
  ['the database is away', 'kept'],
] as const)(
  '%s over the moment, with each workflow %s: everything goes on',
  async (away, memory) => {
    const { moment, all, meanwhile } = await createAll();
    const [begin, end] = AWAY[away];
    await begin();
    if (memory === 'gone') {
      await Promise.all(all.map(terminate));
      // The sweeps leave alone what was looked at within the last minutes.
      for (const table of ['payouts', 'payout_batches'])
        await gateway.db.query(
          `UPDATE ${table} SET workflow_checked_at = now() - interval '1 hour'`,
        );
    }
    const requested = meanwhile();
    await sleep(moment + AFTER_MS - Date.now());
    await end();
    await requested;
    for (const { id, ends } of all) await waitThroughFaults(`${id} to go on`, ends);
  },
);

test('each payout was sent once at most, and the books agree', async () => {
  await waitThroughFaults('every payout to end', async () => {
    const open = await gateway.db.query(`SELECT FROM payouts WHERE status_group = 'open'`);
    return open.length === 0;
  });
  expect(await auditPayouts(gateway)).toEqual([]);
});
