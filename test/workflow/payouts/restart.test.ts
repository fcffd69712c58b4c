/** Workflows that somebody cancels or terminates: the payout goes on from where its row stands. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { control, readBookEntry } from '../../support/servers/sandbox';
import { brokenInvariants } from '../../support/servers/gateway';
import {
  createPayoutCase,
  type PayoutCase,
  readRecords,
  readPayout,
  readSearchAttributes,
  readTaskFailures,
  restartMissing,
  whenDetails,
  whenOver,
  whenPayoutRow,
} from '../../support/payout/payout-case';
import { startWorkflowWorld } from '../../support/servers/workflow-world';
import { waitFor } from '../../support/wait-for';
import { FUNDS } from '../../support/merchant/merchant';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';

const world = started(sharedInRoom('world', () => startWorkflowWorld('payouts')));

const COMPLETED = { status: 'completed', reserved: '0.00000000', timesSent: 1 };

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const LATER = inMs(86_400_000);

/** A payout that waits for a time. */
const until = (at: string) => ({
  release: { at, afterPayment: null, approvalByKey: null, expiresAt: null },
});

/** The time of a payout passes while nobody looks, and its timer is of no use. */
async function passTime({ id }: PayoutCase): Promise<void> {
  await world.db.query(
    `UPDATE payout_conditions SET looked_at = NULL,
            parameters = jsonb_build_object('at', now() - interval '1 hour') WHERE payout_id = ?`,
    [id],
  );
}

describe('a time that nobody saw pass', () => {
  test('before the reservation: the payout is sent at once', async () => {
    const at = inMs(6_000);
    const onStart = () => sleep(new Date(at).getTime() + 1_500 - Date.now());
    const payout = await createPayoutCase(world, { mode: 'test', request: until(at), onStart });
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });

  test('during the review: the approval sends the payout', async () => {
    const payout = await createPayoutCase(world, { request: until(LATER) });
    await passTime(payout);
    await payout.handle.signal('approve', { by: 'alice' });
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });

  test('while the workflow runs without a timer for it: restart-missing wakes it', async () => {
    const payout = await createPayoutCase(world, { mode: 'test', request: until(LATER) });
    await passTime(payout);
    await restartMissing(world, payout);
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });
});

describe('a requested cancellation of the workflow', () => {
  test('changes nothing, says so, and the payout can still be approved', async () => {
    const payout = await createPayoutCase(world);
    await payout.handle.cancel();
    await whenDetails(payout, /A cancellation request was ignored/);
    await payout.handle.signal('approve', { by: 'alice' });
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
    expect(await readTaskFailures(payout)).toEqual([]);
  });

  test('leaves the merchant its own cancel', async () => {
    const payout = await createPayoutCase(world);
    await payout.handle.cancel();
    await whenDetails(payout, /A cancellation request was ignored/);
    await world.payouts().cancel(payout.caller, payout.id);
    expect(await whenOver(payout)).toBe('cancelled');
    expect(await readTaskFailures(payout)).toEqual([]);
  });

  test('leaves a retry of the request its answer', async () => {
    const payout = await createPayoutCase(world);
    await payout.handle.cancel();
    await whenDetails(payout, /A cancellation request was ignored/);
    const outcome = await payout.handle.executeUpdate('reserve', { updateId: 'again' });
    expect(outcome).toEqual({ kind: 'reserved' });
    await payout.handle.signal('reject');
    expect(await whenOver(payout)).toBe('rejected');
  });

  test('while the provider has the payout does not lose its end', async () => {
    const payout = await createPayoutCase(world, { scenario: 'callback_lost' });
    await payout.handle.signal('approve', { by: 'alice' });
    await whenPayoutRow(world, payout, 'processing', ({ status }) => status === 'processing');
    await payout.handle.cancel();
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });
});

describe('after a termination restart-missing starts the workflow again', () => {
  test('under review: it waits for the decision and takes it', async () => {
    const payout = await createPayoutCase(world);
    await payout.handle.terminate('by a test');
    await restartMissing(world, payout);
    await whenDetails(payout, /An operator must approve or reject/);
    expect(await readSearchAttributes(payout)).toMatchObject({
      PayoutStatus: 'under_review',
      NeedsAttention: false,
      Mode: 'live',
      Currency: 'USDT',
      AccountId: payout.caller.accountId,
    });
    await payout.handle.signal('approve', { by: 'alice' });
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });

  test('requested: it still approves itself', async () => {
    const payout = await createPayoutCase(world, { mode: 'test' });
    await payout.handle.terminate('by a test');
    await restartMissing(world, payout);
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });

  test('waiting for a time that passed meanwhile: it is sent', async () => {
    const payout = await createPayoutCase(world, { mode: 'test', request: until(LATER) });
    await payout.handle.terminate('by a test');
    await passTime(payout);
    await restartMissing(world, payout);
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });

  test('approved and held by a pause: it can still be rejected', async () => {
    const payout = await createPayoutCase(world);
    await world.db.query(
      `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'audit')`,
      [payout.caller.accountId],
    );
    await payout.handle.signal('approve', { by: 'alice' });
    await whenDetails(payout, /paused: audit/);
    await payout.handle.terminate('by a test');
    await restartMissing(world, payout);
    await whenDetails(payout, /paused: audit/);
    await payout.handle.signal('reject', { by: 'bob' });
    expect(await whenOver(payout)).toBe('rejected');
    const records = await readRecords(world, payout);
    expect(records).toMatchObject({ available: FUNDS, timesSent: 0 });
  });

  test('processing: it waits for the provider', async () => {
    const payout = await createPayoutCase(world, { scenario: 'never_settles' });
    await payout.handle.signal('approve', { by: 'alice' });
    await whenPayoutRow(world, payout, 'processing', ({ status }) => status === 'processing');
    await payout.handle.terminate('by a test');
    await restartMissing(world, payout);
    await whenDetails(payout, /Waiting for the provider to complete the transfer/);
    const key = { provider: 'onchain_provider', mode: 'live', client_reference: payout.id };
    expect(await control(world.sandbox.url, 'transfers/settle', key)).toBe(200);
    expect(await whenOver(payout)).toBe('completed');
    expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
  });

  test.each([
    { scenario: 'timeout_after_accept', submissions: 1 },
    { scenario: 'timeout_before_accept', submissions: 2 },
  ] as const)(
    'while it was handed over ($scenario): it asks first, and sends once',
    async ({ scenario, submissions }) => {
      const payout = await createPayoutCase(world, { scenario });
      await payout.handle.signal('approve', { by: 'alice' });
      await whenPayoutRow(world, payout, 'handed over', (row) => row.submissionStartedAt !== null);
      expect((await readPayout(world, payout)).status).toBe('approved');
      await payout.handle.terminate('by a test');
      await restartMissing(world, payout);
      expect(await whenOver(payout)).toBe('completed');
      expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
      expect(await readBookEntry(world.sandbox.url, payout.id)).toMatchObject({ submissions });
    },
  );

  test('a payout that has ended gets no new workflow', async () => {
    const payout = await createPayoutCase(world);
    await payout.handle.signal('reject', { by: 'alice' });
    await whenOver(payout);
    const { runId } = await payout.handle.describe();
    await world.db.query(`UPDATE payouts SET workflow_checked_at = now() - interval '1 hour'`);
    await restartMissing(world, payout);
    expect((await payout.handle.describe()).runId).toBe(runId);
  });

  test('a payout whose workflow Temporal has forgotten is found by its row', async () => {
    const payout = await createPayoutCase(world);
    const { runId } = await payout.handle.describe();
    await world.temporal.workflowService.deleteWorkflowExecution({
      namespace: world.temporal.options.namespace,
      workflowExecution: { workflowId: payout.id, runId },
    });
    await waitFor('the deletion', async () =>
      payout.handle.describe().then(
        () => undefined,
        () => true,
      ),
    );
    await world.db.query(
      `UPDATE payouts SET workflow_checked_at = now() - interval '1 hour' WHERE id = ?`,
      [payout.id],
    );
    await restartMissing(world, payout);
    await payout.handle.signal('reject', { by: 'alice' });
    expect(await whenOver(payout)).toBe('rejected');
  });
});

test('a reset to the start takes up where the row stands', async () => {
  const payout = await createPayoutCase(world, { scenario: 'never_settles' });
  await payout.handle.signal('approve', { by: 'alice' });
  await whenPayoutRow(world, payout, 'processing', ({ status }) => status === 'processing');
  const { events } = await payout.handle.fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  await world.temporal.workflowService.resetWorkflowExecution({
    namespace: world.temporal.options.namespace,
    workflowExecution: { workflowId: payout.id },
    reason: 'by a test',
    requestId: randomBytes(8).toString('hex'),
    workflowTaskFinishEventId: first!.eventId!,
  });
  await whenDetails(payout, /Waiting for the provider to complete the transfer/);
  const key = { provider: 'onchain_provider', mode: 'live', client_reference: payout.id };
  expect(await control(world.sandbox.url, 'transfers/settle', key)).toBe(200);
  expect(await whenOver(payout)).toBe('completed');
  expect(await readRecords(world, payout)).toMatchObject(COMPLETED);
});

test('the ledger is sound after the restarts', async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
