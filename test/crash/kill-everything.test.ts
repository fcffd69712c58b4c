/**
 * A power cut: every process of `npm start` is killed at once, with payouts at each step. After the
 * next `npm start` each of them reaches its end once, and the ledger is right.
 */
import { Client, Connection } from '@temporalio/client';
import { connect } from '../../src/db/connect';
import type { Db } from '../../src/db/transaction';
import { SCENARIOS, type ScenarioName } from '../../src/rails/sandbox/transfers/scenarios';
import { CommitGate } from './commit-gate';
import { buildPayout, randomKey } from '../support/merchant/merchant-client';
import { NpmGateway, type Settings } from './npm-gateway';
import { PatientClient } from '../support/merchant/patient-client';
import { auditPayouts, expectedBalance } from '../support/payout/payout-audit';
import { payoutStatus, whenFinal, whenStatus } from './payout-status';
import { control, readBook } from '../support/servers/sandbox';
import { waitThroughFaults } from '../support/wait-for';
import { FUNDS } from '../support/merchant/merchant';

interface Parts {
  db: Db;
  database: { ownerUrl: string };
  temporal: Client;
  sandbox: { url: string };
  test: PatientClient;
  live: PatientClient;
  close: () => Promise<void>;
}

let installation: NpmGateway;
let parts: Parts;

beforeAll(async () => {
  installation = await NpmGateway.create();
  parts = await connectTo(await installation.start());
  for (const mode of ['test', 'live']) {
    for (const currency of ['USDT', 'USDC']) {
      const place = ['--currency', currency, '--mode', mode];
      await installation.script('dev:fund', ...place, '--amount', FUNDS);
    }
  }
});

afterAll(async () => {
  await parts.close();
  await installation.remove();
});

async function connectTo(settings: Settings): Promise<Parts> {
  const connection = await Connection.connect({ address: settings.temporal_address });
  const db = connect({ url: settings.postgres_url, size: 2, applicationName: 'test' });
  return {
    db,
    database: { ownerUrl: settings.postgres_url },
    temporal: new Client({ connection }),
    sandbox: { url: settings.sandbox_url },
    test: new PatientClient(settings.base_url, settings.test_key),
    live: new PatientClient(settings.base_url, settings.live_key),
    close: async () => {
      await Promise.all([connection.close(), db.destroy()]);
    },
  };
}

async function create(client: PatientClient, scenario: ScenarioName = 'sends') {
  const body = buildPayout({ amount: `10.0000${SCENARIOS[scenario].code}` });
  return (await client.createPayout(body)).id;
}

function signal(id: string, name: string): Promise<void> {
  return parts.temporal.workflow.getHandle(id).signal(name, { by: 'alice' });
}

async function whenSubmitted(id: string): Promise<void> {
  await waitThroughFaults(`the submission of ${id}`, async () => {
    const { transfers, unaccepted } = await readBook(parts.sandbox.url);
    return [...transfers, ...unaccepted].find(({ client_reference }) => client_reference === id);
  });
}

/**
 * What the database commits at the last moment, and Temporal never learns: a merchant's cancel and
 * a completion. In USDC, because a transaction at its commit holds the balance up.
 */
async function holdCommits(gate: CommitGate) {
  const { test: tester, live } = parts;
  const [ofCancel, ofCompletion] = [
    buildPayout({ currency: 'USDC' }),
    buildPayout({ currency: 'USDC' }),
  ];
  await gate.hold(String(ofCancel['reference']), 'cancelled');
  await gate.hold(String(ofCompletion['reference']), 'completed');
  const { id: cancelled } = await live.createPayout(ofCancel);
  const { id: completed } = await tester.createPayout(ofCompletion);
  const cancelling = live.cancelPayout(cancelled);
  await gate.whenHeld(2);
  return { cancelled, completed, cancelling };
}

test('after a power cut every payout goes on and ends once', async () => {
  const { test: tester, live } = parts;
  const done = await create(tester);
  const reviewed = await create(live);
  const approved = await create(live);
  const rejected = await create(live);
  const cancelled = await create(live);
  const unanswered = await create(tester, 'timeout_after_accept');
  const untaken = await create(tester, 'timeout_before_accept');
  const processing = await create(tester, 'never_settles');
  await whenStatus(parts.db, processing, 'processing');
  await whenFinal(parts.db, done);
  await Promise.all([unanswered, untaken].map(whenSubmitted));
  const slow = await create(tester, 'slow');
  const requested = await create(tester);
  const gate = await CommitGate.open(parts);
  const held = await holdCommits(gate);
  // These are on their way to the gateway when it ends.
  const inFlight = [1, 2, 3].map(() => live.createPayout(buildPayout({ reference: randomKey() })));
  const cancelling = live.cancelPayout(cancelled);
  await Promise.all([signal(approved, 'approve'), signal(rejected, 'reject')]);
  await installation.cutPower(() => gate.release());
  await Promise.all([gate.close(), parts.close()]);

  parts = await connectTo(await installation.start());
  await Promise.all([cancelling, held.cancelling]);
  const created = (await Promise.all(inFlight)).map(({ id }) => id);
  for (const id of [reviewed, ...created]) {
    expect(await payoutStatus(parts.db, id)).toBe('under_review');
    await signal(id, 'approve');
  }
  const transfer = { provider: 'onchain_provider', mode: 'test', client_reference: processing };
  expect(await control(parts.sandbox.url, 'transfers/settle', transfer)).toBe(200);

  const expected: Record<string, string> = {
    ...{ [rejected]: 'rejected', [cancelled]: 'cancelled', [held.cancelled]: 'cancelled' },
    ...Object.fromEntries(
      [done, reviewed, approved, unanswered, untaken, processing, slow, requested]
        .concat(held.completed, created)
        .map((id) => [id, 'completed']),
    ),
  };
  const ends = Object.keys(expected).map(async (id) => [id, await whenFinal(parts.db, id)]);
  expect(Object.fromEntries(await Promise.all(ends))).toEqual(expected);

  await checkStatements(Object.keys(expected).length);
});

async function checkStatements(payouts: number): Promise<void> {
  const { db } = parts;
  const [counted] = await db.query<{ n: number; accountId: string }>(
    'SELECT count(*)::int AS n, min(account_id) AS account_id FROM payouts',
  );
  expect(counted?.n).toBe(payouts);
  for (const mode of ['test', 'live'] as const) {
    const balance = await parts[mode].balance();
    expect(balance).toEqual(await expectedBalance(db, counted?.accountId ?? '', FUNDS, mode));
    expect(balance.reserved).toBe('0.00000000');
  }
  expect(await auditPayouts(parts)).toEqual([]);
  expect(await installation.script('ledger:verify')).toContain('ledger verified');
}
