/**
 * Random walks of accounts: payouts and batches under limits, cancellations, ends and refunds, with crashes
 * between commits. After each step the gateway and a small model agree, and after each walk every invariant of the
 * ledger holds; the long run looks at them after each step. TEST_SEED repeats a run.
 */
import fc from 'fast-check';
import { approvePayoutBatch } from '../../../activities/payout-batch/decide';
import { getPayoutBatch } from '../../../src/db/payout-batches/payout-batches';
import { newId } from '../../../src/platform/lib/new-id';
import { addFeeRule } from '../fee-rules';
import { fund } from '../../support/merchant/ledger';
import { advance, EVERY_END, play, walk } from './payout-walk';
import { claimBatch, openKey } from '../reserving-world';
import { openPayment, startPaymentWorld } from '../payment-world';
import { scaled } from '../../support/scale';
import { chooseSeed } from '../../support/seeded-random';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';

const RUNS = scaled(6, 300);

const ENDS = ['completed', 'failed', 'cancelled', 'rejected', 'batch closed'];

/** What the provider leaves in doubt for so long waits for a person. */
const HELD = { rows: 32, clear: 28 };

const world = started(startPaymentWorld);

const afterStep = scaled(
  () => Promise.resolve(),
  () => isSound(world),
);

test(
  `${RUNS} random walks of payouts, batches and refunds end as the model does, in a sound ledger`,
  async () => {
    const seed = chooseSeed();
    console.log(`payout walks: TEST_SEED=${seed}`);
    const passed: Record<string, number> = {};
    const count = (status: string) => {
      passed[status] = (passed[status] ?? 0) + 1;
    };
    await fc.assert(
      fc.asyncProperty(walk, async (commands) => {
        const { payouts, batches } = await play(world, commands, afterStep);
        await isSound(world);
        for (const { status } of payouts.values()) count(status);
        for (const { status } of batches.values()) count(`batch ${status}`);
      }),
      { numRuns: RUNS, seed, examples: [[EVERY_END]] },
    );
    console.log(`they ended as ${JSON.stringify(passed)}`);
    expect(Object.keys(passed)).toEqual(expect.arrayContaining(ENDS));
    // Most random walks would go nowhere if what they are made of were ill-chosen: a long run reaches the ends often.
    const few = ENDS.filter((end) => (passed[end] ?? 0) < scaled(1, 10));
    expect(few).toEqual([]);
  },
  scaled(180_000, 1_800_000),
);

test(`${HELD.clear} clear rows of a batch pass ${HELD.rows} that wait for a person`, async () => {
  const { accountId } = await openPayment(world);
  await addFeeRule(world.db, { accountId, currency: 'USDT', percentage: '0' });
  await fund(world.db, { accountId, mode: 'test', currency: 'USDT' }, '1000');
  const id = newId('payoutBatch');
  const rows = Array.from({ length: HELD.rows + HELD.clear }, () => ({
    amount: '1',
    currency: 'USDT' as const,
  }));
  const reserve = await claimBatch(world.db, await openKey(world.db, { accountId }), rows, id);
  expect(await reserve(world)).toMatchObject({ kind: 'reserved' });
  const { manifestSha256: manifest } = await getPayoutBatch(world.db, id);
  await approvePayoutBatch(world, id, null, manifest);
  const released = async () => {
    await advance(world, id, manifest);
    const sql = 'SELECT count(*)::int AS n FROM payouts WHERE batch_id = ? AND NOT awaits_batch';
    return (await world.db.query<{ n: number }>(sql, [id]))[0]?.n;
  };
  expect(await released()).toBe(HELD.rows);
  expect(await released()).toBe(HELD.rows);
  await world.db.query(
    `UPDATE payouts SET submission_started_at = now(), in_doubt_since = now() - interval '20 minutes'
      WHERE batch_id = ? AND NOT awaits_batch`,
    [id],
  );
  expect(await released()).toBe(HELD.rows + HELD.clear);
  await isSound(world);
});
