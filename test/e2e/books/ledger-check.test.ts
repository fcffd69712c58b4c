/** A broken ledger pauses payouts by itself and says why; going on is for an operator. */
import { randomBytes } from 'node:crypto';
import { withClient } from '../../../src/db/provision';
import {
  listPauses,
  pausePayouts,
  resumePayouts,
} from '../../../src/features/accounts/payout-pauses';
import { resumeHeldPayouts } from '../../../src/temporal/payout-workflows';
import { TASK_QUEUES, WORKFLOWS } from '../../../workflows/names';
import { sharedInRoom } from '../../support/room';
import { startGateway } from '../../support/servers/gateway';
import { buildPayout, type MerchantClient } from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { placeOf, temporalCommand } from '../../support/servers/temporal-command';
import { started } from '../../support/started';

const EVERYTHING = { scope: 'global', target: '', mode: null } as const;

const gateway = started(sharedInRoom('gateway', startGateway));
let client: MerchantClient;
let accountId: string;

beforeAll(async () => {
  ({ client, accountId } = await openMerchant(gateway, { mode: 'test' }));
});

/** What the schedule does every five minutes. */
async function check(): Promise<{ broken: number[] }> {
  const { broken } = await gateway.temporal.workflow.execute<() => Promise<{ broken: number[] }>>(
    WORKFLOWS.ledgerCheck,
    {
      workflowId: `ledger-check-${randomBytes(6).toString('hex')}`,
      taskQueue: TASK_QUEUES.payouts,
      args: [],
    },
  );
  return { broken };
}

/** With everything out of the way that would refuse it. */
async function giveMoney(amount: number, to = accountId): Promise<void> {
  await withClient(gateway.database.ownerUrl, async (superuser) => {
    await superuser.query("SET session_replication_role = 'replica'");
    const sql = 'UPDATE balances SET available = available + $1 WHERE account_id = $2';
    await superuser.query(sql, [amount, to]);
  });
}

async function pauses(): Promise<unknown[]> {
  return gateway.db.query('SELECT scope, target, mode, reason FROM payout_pauses ORDER BY id');
}

async function openCases(): Promise<string[]> {
  const sql = `SELECT object_id FROM cases
    WHERE kind = 'ledger_broken' AND resolved_at IS NULL ORDER BY object_id`;
  return (await gateway.db.query<{ objectId: string }>(sql)).map(({ objectId }) => objectId);
}

test('a sound ledger pauses nothing', async () => {
  expect((await client.createPayout(buildPayout())).status).toBe(201);
  expect(await check()).toEqual({ broken: [] });
  expect([await pauses(), await openCases()]).toEqual([[], []]);
});

test('a broken one pauses all payouts, with the rows in a case for each invariant', async () => {
  await giveMoney(1);
  expect(await check()).toEqual({ broken: [2, 3] });
  const reason = 'The ledger is broken: invariants 2, 3. See the open cases and run ledger:verify.';
  const pause = { ...EVERYTHING, reason };
  expect(await pauses()).toEqual([pause]);
  expect(await openCases()).toEqual(['invariant_2', 'invariant_3']);
  const sql = `SELECT details FROM cases WHERE object_id = 'invariant_3'`;
  expect(await gateway.db.query(sql)).toMatchObject([
    { details: { broken: 1, rows: [expect.objectContaining({ account_id: accountId })] } },
  ]);
  expect(await client.createPayout(buildPayout())).toMatchObject({
    status: 503,
    json: { error: { code: 'service_unavailable', details: { reason: 'payouts_paused' } } },
  });
  const audited = `SELECT actor, action, object_id FROM audit_log WHERE action LIKE 'payouts.%'`;
  expect(await gateway.db.query(audited)).toEqual([
    { actor: 'ledger check', action: 'payouts.pause', objectId: 'global' },
  ]);

  // The next check adds nothing, and never lifts it.
  await check();
  expect([await pauses(), await openCases()]).toEqual([[pause], ['invariant_2', 'invariant_3']]);
  await giveMoney(-1);
  expect(await check()).toEqual({ broken: [] });
  expect(await pauses()).toEqual([pause]);
});

test('an operator lifts it, and it is paused again only by a new break', async () => {
  await lift();
  expect(await check()).toEqual({ broken: [] });
  expect((await client.createPayout(buildPayout())).status).toBe(201);

  await giveMoney(1);
  await check();
  expect(await pauses()).toHaveLength(1);
  await giveMoney(-1);
  await lift();
});

test('the emergency stop is a pause of its own: lifting a maintenance pause does not lift it', async () => {
  const maintenance = { ...EVERYTHING, reason: 'maintenance until 14:00' };
  const by = { actor: 'alice', reason: maintenance.reason };
  const { id } = await pausePayouts.make(gateway.db, by, EVERYTHING, { reason: by.reason });
  await giveMoney(1);
  await check();
  const emergency = { ...EVERYTHING, reason: expect.stringContaining('The ledger is broken') };
  expect(await pauses()).toEqual([maintenance, emergency]);

  await resumePayouts.make(gateway.db, by, { id, wakeHeld }, {});
  expect(await pauses()).toEqual([emergency]);
  expect((await client.createPayout(buildPayout())).status).toBe(503);
  await giveMoney(-1);
  await lift();
});

test('a live balance that is broken stops live payouts, and test payouts go on', async () => {
  const live = await openMerchant(gateway, { mode: 'live' });
  await giveMoney(1, live.accountId);
  await check();
  expect(await pauses()).toMatchObject([{ ...EVERYTHING, mode: 'live' }]);
  expect((await live.client.createPayout(buildPayout())).status).toBe(503);
  expect((await client.createPayout(buildPayout())).status).toBe(201);

  // A test balance broken as well: the same fault may be in both.
  await giveMoney(1);
  await check();
  expect(await pauses()).toMatchObject([{ mode: 'live' }, { mode: null }]);
  expect((await client.createPayout(buildPayout())).status).toBe(503);
  await giveMoney(-1);
  await giveMoney(-1, live.accountId);
  await lift();
});

const wakeHeld = () => resumeHeldPayouts(gateway.temporal);

/** Lifts every pause. */
async function lift(): Promise<void> {
  const by = { actor: 'alice', reason: 'mended' };
  for (const { id } of await listPauses(gateway.db)) {
    await resumePayouts.make(gateway.db, by, { id, wakeHeld }, {});
  }
}

test('the worker has scheduled it, and the reconciliation', async () => {
  const place = placeOf(gateway.env);
  for (const id of [
    'restart-missing',
    'clean-up',
    'reconciliation',
    'ledger-check',
    'audit-seal',
  ]) {
    expect(await temporalCommand(place, 'schedule', 'describe', '-s', id)).toContain(id);
  }
});
