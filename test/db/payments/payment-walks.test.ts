/**
 * Random walks of payments: what providers, operators, time and crashes can do, in any order. After
 * each step the gateway and a small model agree, and after all walks every invariant of the ledger
 * holds. TEST_SEED repeats a run.
 */
import fc from 'fast-check';
import { walk } from './payment-commands';
import { play } from './payment-walk';
import { startPaymentWorld } from '../payment-world';
import { scaled } from '../../support/scale';
import { chooseSeed } from '../../support/seeded-random';
import { brokenInvariants } from '../../support/servers/gateway';
import { started } from '../../support/started';

const RUNS = scaled(15, 600);

const world = started(startPaymentWorld);

test(
  `${RUNS} random walks end as the model does, in a sound ledger`,
  async () => {
    const seed = chooseSeed();
    console.log(`payment walks: TEST_SEED=${seed}`);
    const passed: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(walk, async (commands) => {
        const { events } = await play(world, commands);
        for (const event of events) passed[event] = (passed[event] ?? 0) + 1;
      }),
      { numRuns: RUNS, seed },
    );
    // What a walk breaks stays broken, and the rows name its payment.
    expect(await brokenInvariants(world)).toEqual([]);
    console.log(`they passed ${JSON.stringify(passed)}`);
    // Most walks would go nowhere if what they are made of were ill-chosen. A few of them may miss the rarer steps.
    const demanded = scaled(['completed'], ['completed', 'received', 'refunded']);
    expect(Object.keys(passed)).toEqual(expect.arrayContaining(demanded));
  },
  scaled(300_000, 1_800_000),
);
