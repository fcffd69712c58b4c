import { isOfSuspendedWorker } from '../../chaos/judge';
import type { Played } from '../../chaos/faults';

const PAUSE: Played = {
  fault: { kind: 'pause', target: 'worker-1', atMs: 0, forMs: 6_000 },
  startedAt: 10_000,
  endedAt: 16_000,
  pid: 42,
};
const FAILURE = {
  message: 'Script execution timed out after 5000ms',
  identity: '42@host',
  at: wallClock(16_100),
};

/** The clock's time at a time by performance.now(). */
function wallClock(at: number): Date {
  return new Date(performance.timeOrigin + at);
}

test('a workflow task that timed out because its worker was suspended is no violation', () => {
  expect(isOfSuspendedWorker(FAILURE, [PAUSE])).toBe(true);
});

test.each([
  ['another worker', FAILURE, { ...PAUSE, pid: 7 }],
  ['a pause that is shorter than a task may take', FAILURE, { ...PAUSE, startedAt: 12_000 }],
  ['a failure before the pause', { ...FAILURE, at: wallClock(9_900) }, PAUSE],
  ['a failure long after the pause', { ...FAILURE, at: wallClock(26_100) }, PAUSE],
  ['another failure', { ...FAILURE, message: 'Nondeterminism error' }, PAUSE],
  ['another fault', FAILURE, { ...PAUSE, fault: { ...PAUSE.fault, kind: 'kill' as const } }],
])('%s does not excuse it', (_, failure, played) => {
  expect(isOfSuspendedWorker(failure, [played])).toBe(false);
});
