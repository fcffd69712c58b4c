/**
 * A short chaos run (`npm run chaos` has long ones): the whole layout under a mixed load, with faults
 * of every part. `TEST_SEED` repeats the plan.
 */
import { makePlan } from '../chaos/plan';
import { runChaos } from '../chaos/run';
import { scaled } from '../support/scale';
import { chooseSeed } from '../support/seeded-random';

const SECONDS = scaled(60, 300);

test(
  `after ${SECONDS} s of faults nothing is lost, doubled or stuck`,
  async () => {
    const seed = chooseSeed();
    process.stderr.write(`chaos: TEST_SEED=${seed}\n`);
    const plan = makePlan(seed, SECONDS);
    const report = await runChaos({ seed, seconds: SECONDS, plan }, () => undefined);
    process.stderr.write(`${report.lines.join('\n')}\n`);
    const { violations, lostAcknowledgements, doubleSends } = report;
    expect({ violations, lostAcknowledgements, doubleSends }).toEqual({
      violations: [],
      lostAcknowledgements: [],
      doubleSends: [],
    });
    // The faults met somebody.
    expect(report.operations).toBeGreaterThan(plan.length);
  },
  (SECONDS + 600) * 1_000,
);
