/** The few slots of an endpoint: nobody else's, never idle for long, and no crowd at their door. */
import {
  EndpointSlots,
  type Slot,
  SLOTS_PER_ENDPOINT,
  TURN_MS_MAX,
} from '../../../src/domain/webhook-delivery-slots';

function release(slot: Slot | undefined): void {
  if (slot === undefined || !('release' in slot)) throw new Error('no slot was free');
  slot.release();
}

const isFree = (slot: Slot): boolean => 'release' in slot;

test('an endpoint has only its own slots, and a slot that is given back twice is one', () => {
  const slots = new EndpointSlots();
  const taken = Array.from({ length: SLOTS_PER_ENDPOINT }, () => slots.take('we_dead'));
  expect(taken.every(isFree)).toBe(true);
  expect(isFree(slots.take('we_dead'))).toBe(false);
  expect(isFree(slots.take('we_healthy'))).toBe(true);
  release(taken[0]);
  release(taken[0]);
  expect(isFree(slots.take('we_dead'))).toBe(true);
  expect(isFree(slots.take('we_dead'))).toBe(false);
});

test('a turn that is too late for the caller is not assigned', () => {
  const slots = new EndpointSlots(() => 0);
  for (let taken = 0; taken < SLOTS_PER_ENDPOINT; taken += 1) slots.take('we_busy');
  const first = slots.take('we_busy');
  const tooLate = slots.take('we_busy', 1);
  expect(tooLate).toEqual(slots.take('we_busy', 1));
  expect(first).toEqual({ turnInMs: expect.any(Number) });
});

/** All come at once, and come back when they are told to; the receiver takes `ms` for each. */
function deliverAll(count: number, ms: number) {
  let now = 0;
  const slots = new EndpointSlots(() => now);
  const steps = Array.from({ length: count }, () => ({ at: 0, run: () => knock() }));
  const seen = { underWay: 0, most: 0, sentAway: 0, longestTurn: 0, done: 0 };
  const knock = (): void => {
    const slot = slots.take('we_slow');
    if ('turnInMs' in slot) {
      seen.sentAway += 1;
      seen.longestTurn = Math.max(seen.longestTurn, slot.turnInMs);
      steps.push({ at: now + slot.turnInMs, run: knock });
      return;
    }
    seen.underWay += 1;
    seen.most = Math.max(seen.most, seen.underWay);
    steps.push({
      at: now + ms,
      run: () => {
        seen.underWay -= 1;
        seen.done += 1;
        slot.release();
      },
    });
  };
  while (steps.length > 0) {
    steps.sort((a, b) => a.at - b.at);
    const [step] = steps.splice(0, 1);
    now = step!.at;
    step!.run();
  }
  return { ...seen, now };
}

test.each([
  { count: 200, ms: 20 },
  { count: 200, ms: 300 },
  { count: 500, ms: 2_000 },
  { count: 100, ms: 10_000 },
  { count: 2_000, ms: 10_000 },
])('$count events at $ms ms each keep the slots busy', ({ count, ms }) => {
  const { done, most, now, sentAway, longestTurn } = deliverAll(count, ms);
  expect(done).toBe(count);
  expect(most).toBe(SLOTS_PER_ENDPOINT);
  expect(now).toBeLessThan(((count * ms) / SLOTS_PER_ENDPOINT) * 1.5 + 1_000);
  // Each comes back a few times, and twice for as long as it can be sent away.
  expect(sentAway).toBeLessThan(count * (6 + (2 * now) / TURN_MS_MAX));
  expect(longestTurn).toBeLessThanOrEqual(TURN_MS_MAX);
});
