/**
 * Random walks of accounts: payouts and batches under limits, cancellations, ends and refunds, with crashes
 * between commits. After each step the gateway and a small model agree, and after each walk every invariant of the
 * ledger holds; the long run looks at them after each step. TEST_SEED repeats a run.
 */
import fc from 'fast-check';
import { play, walk } from '../support/payout/payout-walk';
import { startPaymentWorld } from '../support/payment/payment-world';
import { scaled } from '../support/scale';
import { chooseSeed } from '../support/seeded-random';
import { isSound } from '../support/servers/gateway';
import { started } from '../support/started';

const RUNS = scaled(5, 300);

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
      { numRuns: RUNS, seed },
    );
    console.log(`they ended as ${JSON.stringify(passed)}`);
    // Most walks would go nowhere if what they are made of were ill-chosen.
    expect(Object.keys(passed)).toEqual(expect.arrayContaining(['requested']));
  },
  scaled(180_000, 1_800_000),
);
