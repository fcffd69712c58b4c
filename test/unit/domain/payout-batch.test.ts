/** How often the workflow of a batch looks at its rows. */
import { BATCH_PACE_MS, nextBatchPaceMs } from '../../../src/domain/payout-batch';

/** The looks of a batch in which nothing changes. */
function looksWithin(hours: number, isWaiting: boolean): number {
  let looks = 0;
  let paceMs = BATCH_PACE_MS.least;
  for (let passed = 0; passed < hours * 3_600_000; passed += paceMs) {
    looks += 1;
    paceMs = nextBatchPaceMs(paceMs, true, isWaiting);
  }
  return looks;
}

test('a batch that stays open is looked at every few minutes, and often at first', () => {
  expect(looksWithin(1 / 60, false)).toBeGreaterThan(7);
  expect(looksWithin(24, false)).toBeLessThan(350);
  expect(looksWithin(24, true)).toBeLessThan(1_500);
});

test('it is looked at soon after a change', () => {
  expect(nextBatchPaceMs(BATCH_PACE_MS.most, false, false)).toBe(BATCH_PACE_MS.least);
});
