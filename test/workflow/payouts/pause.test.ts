/** An operator's pause (decisions/controls#payout-pauses) holds every submission back and never loses a payout. */
import { resumePayouts } from '../../../src/features/accounts/payout-pauses';
import { resumeHeldPayouts } from '../../../src/temporal/payout-workflows';
import { brokenInvariants } from '../../support/servers/gateway';
import { control, readBookEntry } from '../../support/servers/sandbox';
import {
  createPayoutCase,
  type PayoutCase,
  readHistory,
  readRecords,
  readPayout,
  readSearchAttributes,
  restartMissing,
  whenDetails,
  whenOver,
  whenPayoutRow,
} from '../../support/payout/payout-case';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { FUNDS } from '../../support/merchant/merchant';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';

const world = started(sharedInRoom('world', () => startWorkflowWorld('payouts')));

const SCOPES = [
  { scope: 'global', targetOf: () => '' },
  { scope: 'provider', targetOf: () => 'onchain_provider' },
  { scope: 'account', targetOf: ({ caller }: PayoutCase) => caller.accountId },
];

async function pause(scope: string, target: string): Promise<void> {
  await world.db.query(
    `INSERT INTO payout_pauses (scope, target, reason) VALUES (?, ?, 'hot wallet is moved')`,
    [scope, target],
  );
}

async function liftPauses(): Promise<void> {
  await world.db.query('DELETE FROM payout_pauses');
}

/** What `admin payouts resume` does with each pause of the scope. */
async function resume(scope: string, target: string): Promise<void> {
  const sql = 'SELECT id::text AS id FROM payout_pauses WHERE scope = ? AND target = ? ORDER BY id';
  const pauses = await world.db.query<{ id: string }>(sql, [scope, target]);
  for (const { id } of pauses) {
    const wakeHeld = () => resumeHeldPayouts(world.temporal);
    await resumePayouts.make(world.db, { actor: 'alice', reason: null }, { id, wakeHeld }, {});
  }
}

async function setOutage(kind: string | null): Promise<void> {
  const side = { provider: 'onchain_provider', mode: 'live' };
  expect(await control(world.sandbox.url, 'outage', { ...side, kind })).toBe(200);
}

/** The timers that the payout's workflow has started. */
async function countTimers(payout: PayoutCase): Promise<number> {
  const { events } = await readHistory(payout);
  return (events ?? []).filter((event) => event.timerStartedEventAttributes != null).length;
}

/** Approved, and held back before anything was handed over. */
async function holdPayout(scope: string, targetOf: (payout: PayoutCase) => string) {
  const payout = await createPayoutCase(world);
  await pause(scope, targetOf(payout));
  await payout.handle.signal('approve', { by: 'alice' });
  await whenDetails(payout, /paused: hot wallet is moved/);
  const { status, submissionStartedAt } = await readPayout(world, payout);
  expect({ status, submissionStartedAt }).toEqual({
    status: 'approved',
    submissionStartedAt: null,
  });
  return payout;
}

describe.each(SCOPES)('while payouts are paused ($scope)', ({ scope, targetOf }) => {
  afterEach(liftPauses);

  test('an approved payout is held, and sent when the pause is lifted', async () => {
    const payout = await holdPayout(scope, targetOf);
    await payout.handle.signal('providerUpdate');
    await whenDetails(payout, /paused: hot wallet is moved/);
    expect(await readRecords(world, payout)).toMatchObject({ status: 'approved', timesSent: 0 });
    // Nothing but the end of the pause wakes it.
    expect(await countTimers(payout)).toBe(0);
    await resume(scope, targetOf(payout));
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject({
      reserved: '0.00000000',
      timesSent: 1,
    });
  });

  test('a held payout can be rejected, and the funds return', async () => {
    const payout = await holdPayout(scope, targetOf);
    await payout.handle.signal('approve', { by: 'bob' });
    await whenDetails(payout, /`approve` by bob had no effect/);
    await payout.handle.signal('reject', { by: 'carol', reason: 'sanctions hit' });
    expect(await whenOver(payout)).toBe('rejected');
    expect(await readPayout(world, payout)).toMatchObject({
      decidedBy: 'carol',
      rejectionReason: 'sanctions hit',
    });
    expect(await readRecords(world, payout)).toMatchObject({
      available: FUNDS,
      reserved: '0.00000000',
      timesSent: 0,
    });
  });
});

/** The provider did not take the submission and was down when it was asked about it. */
async function createInDoubt(): Promise<PayoutCase> {
  const payout = await createPayoutCase(world);
  await setOutage('answer_503');
  await payout.handle.signal('approve', { by: 'alice' });
  await whenDetails(payout, /It is not known whether the provider has the payout: /);
  return payout;
}

describe('a payout in doubt that the provider does not have', () => {
  afterEach(async () => {
    await liftPauses();
    await setOutage(null);
  });

  test('is not submitted again while payouts are paused', async () => {
    const payout = await createInDoubt();
    await pause('global', '');
    await setOutage(null);
    await payout.handle.signal('providerUpdate');
    await whenDetails(payout, /paused: hot wallet is moved/);
    expect(await readBookEntry(world.sandbox.url, payout.id)).toBeUndefined();
    await payout.handle.signal('reject', { by: 'bob' });
    await whenDetails(payout, /`reject` had no effect: the payout was already submitted/);
    expect(await readPayout(world, payout)).toMatchObject({ status: 'approved' });
    await resume('global', '');
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject({ timesSent: 1 });
  });

  test('is completed during a pause if the provider has it after all', async () => {
    const payout = await createPayoutCase(world, { scenario: 'timeout_after_accept' });
    await payout.handle.signal('approve', { by: 'alice' });
    await whenPayoutRow(world, payout, 'handed over', (row) => row.submissionStartedAt !== null);
    await pause('global', '');
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject({ timesSent: 1 });
  });
});

test('without the resume command, restart-missing continues the held payouts', async () => {
  const payout = await holdPayout('global', () => '');
  await liftPauses();
  await restartMissing(world, payout);
  expect(await whenOver(payout)).toBe('completed');
});

test('a held payout is not woken while another pause holds it', async () => {
  const payout = await holdPayout('global', () => '');
  await pause('account', payout.caller.accountId);
  const { historyLength } = await payout.handle.describe();
  await resume('global', '');
  await restartMissing(world, payout);
  expect((await payout.handle.describe()).historyLength).toBe(historyLength);
  await resume('account', payout.caller.accountId);
  expect(await whenOver(payout)).toBe('completed');
});

test('a pause of another account or provider holds nothing', async () => {
  await pause('account', 'acc_another');
  await pause('provider', 'exchange_pay');
  const payout = await createPayoutCase(world);
  await payout.handle.signal('approve', { by: 'alice' });
  expect(await whenOver(payout)).toBe('completed');
  expect(await readSearchAttributes(payout)).toMatchObject({ PayoutStatus: 'completed' });
  await liftPauses();
});

test('the ledger is sound after the pauses', async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
