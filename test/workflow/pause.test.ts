/** An operator's pause (decision O11) holds approved payouts back and never loses one. */
import { rows } from '../../src/db/transaction';
import { brokenInvariants } from '../support/gateway';
import {
  createPayoutCase,
  type PayoutCase,
  readRecords,
  readPayout,
  readSearchAttributes,
  whenDetails,
  whenOver,
} from '../support/payout-case';
import { startWorkflowWorld, type WorkflowWorld } from '../support/workflow-world';

let world: WorkflowWorld;

beforeAll(async () => {
  world = await startWorkflowWorld();
});

afterAll(async () => {
  await world.stop();
});

const SCOPES = [
  { scope: 'global', targetOf: () => '' },
  { scope: 'provider', targetOf: () => 'onchain_provider' },
  { scope: 'account', targetOf: ({ caller }: PayoutCase) => caller.accountId },
];

async function pause(scope: string, target: string): Promise<void> {
  await rows(
    world.db,
    `INSERT INTO payout_pauses (scope, target, reason) VALUES (?, ?, 'hot wallet is moved')`,
    [scope, target],
  );
}

async function liftPauses(): Promise<void> {
  await rows(world.db, 'DELETE FROM payout_pauses');
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
    await liftPauses();
    // What the timer would do some seconds later.
    await payout.handle.signal('providerUpdate');
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
      available: '1000.00000000',
      reserved: '0.00000000',
      timesSent: 0,
    });
  });
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
