/**
 * A payout that takes for ever does not grow for ever. Temporal suggests a new run at some
 * thousand events or at 4 MB of history; a few large signals reach the latter in a second.
 */
import { type ActivityName, FaultPlan } from '../../support/chaos/activity-faults';
import { control } from '../../support/servers/sandbox';
import { brokenInvariants } from '../../support/servers/gateway';
import {
  createPayoutCase,
  type PayoutCase,
  readRecords,
  readSearchAttributes,
  readTaskFailures,
  whenDetails,
  whenIdle,
  whenOver,
  whenPayoutRow,
} from '../../support/payout/payout-case';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { waitFor } from '../../support/wait-for';
import { FUNDS } from '../../support/merchant/merchant';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';

const world = started(sharedInRoom('world', () => startWorkflowWorld('payouts')));

const LARGE_SIGNALS = 5;
const LARGE_SIGNAL_LENGTH = 1_000_000;
/** What a new run needs to find out where its payout stands and to wait for it. */
const EVENTS_OF_A_NEW_RUN = 40;

/** Lets the history grow until the workflow goes on in a new run. */
async function fillHistory(payout: PayoutCase): Promise<void> {
  const { runId } = await payout.handle.describe();
  await sendLargeSignals(payout);
  // Temporal suggests a new run at the start of a task, by the history that it had before.
  await waitFor('the new run', async () => {
    await payout.handle.signal('providerUpdate');
    // The end of a run is refused while another signal waits.
    await whenIdle(payout);
    const now = await payout.handle.describe();
    return now.runId !== runId;
  });
  const before = await world.temporal.workflow.getHandle(payout.id, runId).describe();
  expect(before.status.name).toBe('CONTINUED_AS_NEW');
}

async function sendLargeSignals(payout: PayoutCase): Promise<void> {
  for (let count = 0; count < LARGE_SIGNALS; count += 1) {
    await payout.handle.signal('providerUpdate', 'x'.repeat(LARGE_SIGNAL_LENGTH));
  }
}

async function pauseAccount({ caller }: PayoutCase): Promise<void> {
  await world.db.query(
    `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'audit')`,
    [caller.accountId],
  );
}

async function expectSmallRun(payout: PayoutCase, status: string): Promise<void> {
  await whenDetails(payout, new RegExp(`^\\*\\*${status}`));
  expect(await readSearchAttributes(payout)).toMatchObject({
    PayoutStatus: status,
    NeedsAttention: false,
    Mode: 'live',
    Currency: 'USDT',
    AccountId: payout.caller.accountId,
  });
  const { historyLength } = await payout.handle.describe();
  expect(historyLength).toBeLessThan(EVENTS_OF_A_NEW_RUN);
}

test('a payout that never settles goes on in new runs, and finishes in the last', async () => {
  const payout = await createPayoutCase(world, { scenario: 'never_settles' });
  await payout.handle.signal('approve', { by: 'alice' });
  await whenPayoutRow(world, payout, 'processing', ({ status }) => status === 'processing');
  for (let run = 2; run <= 3; run += 1) {
    await fillHistory(payout);
    await expectSmallRun(payout, 'processing');
  }
  await payout.handle.signal('reject', { by: 'bob' });
  await whenDetails(payout, /`reject` by bob had no effect/);
  const key = { provider: 'onchain_provider', mode: 'live', client_reference: payout.id };
  expect(await control(world.sandbox.url, 'transfers/settle', key)).toBe(200);
  expect(await whenOver(payout)).toBe('completed');
  expect(await readTaskFailures(payout)).toEqual([]);
  expect(await readRecords(world, payout)).toMatchObject({ reserved: '0.00000000', timesSent: 1 });
});

test('a payout that is held for long can be rejected in its new run', async () => {
  const payout = await createPayoutCase(world);
  await pauseAccount(payout);
  await payout.handle.signal('approve', { by: 'alice' });
  await whenDetails(payout, /paused: audit/);
  await fillHistory(payout);
  await whenDetails(payout, /paused: audit/);
  await expectSmallRun(payout, 'approved');
  await payout.handle.signal('reject', { by: 'bob' });
  expect(await whenOver(payout)).toBe('rejected');
  const records = await readRecords(world, payout);
  expect(records).toMatchObject({ available: FUNDS, timesSent: 0 });
});

/** Holds the merchant's cancel back until it is released. */
class SlowCancel extends FaultPlan {
  release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => (this.release = resolve));

  override async run<T>(activity: ActivityName, work: () => Promise<T>): Promise<T> {
    if (activity === 'cancelPayout') await this.#released;
    return super.run(activity, work);
  }
}

test('a rejection that arrives while the old run waits for a cancel is not lost', async () => {
  const plan = new SlowCancel();
  const payout = await createPayoutCase(world, { plan });
  await pauseAccount(payout);
  await payout.handle.signal('approve', { by: 'alice' });
  await whenDetails(payout, /paused: audit/);
  // Too late for an approved payout, but it has to be answered.
  const cancelling = payout.handle.executeUpdate('cancel', { args: ['req_1'] });
  await sendLargeSignals(payout);
  await whenIdle(payout);
  await payout.handle.signal('reject', { by: 'bob' });
  await whenIdle(payout);
  plan.release();
  // Which of the two the database saw first is open.
  expect(await cancelling).toMatchObject({ kind: 'invalid_state' });
  expect(await whenOver(payout)).toBe('rejected');
});

test('the ledger is sound after the long runs', async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
