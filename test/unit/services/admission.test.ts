/** Under overload, requests are refused before their queue grows; a burst is not. */
import { createAdmission } from '../../../src/services/admission';

const PROMPT_MS = 1_000;

let now: number;
let admission: ReturnType<typeof createAdmission>;
let accepted: number;
let refused: number;
/** Ends the oldest request that is still running. */
let running: (() => void)[];

beforeEach(() => {
  now = 5_000;
  [accepted, refused, running] = [0, 0, []];
  admission = createAdmission({ promptMs: PROMPT_MS, atOnce: null, clock: () => now });
});

/** A request whose answer comes when `answer` is called for it. */
function request(mode: 'live' | 'test' = 'live'): void {
  try {
    admission.refuseIfLate(mode);
  } catch (error) {
    expect(error).toMatchObject({
      status: 503,
      details: { reason: 'overloaded' },
      headers: { 'Retry-After': '2' },
    });
    refused += 1;
    return;
  }
  accepted += 1;
  void admission.track(() => new Promise<void>((resolve) => running.push(resolve)));
}

async function answer(): Promise<void> {
  running.shift()?.();
  // The measurement ends some turns after the work.
  await new Promise(setImmediate);
}

/** Each second `arrivals` requests, of which at most `capacity` are answered. */
async function run(seconds: number, arrivals: number, capacity: number): Promise<void> {
  for (let step = 0; step < seconds * 10; step += 1) {
    for (let n = 0; n < arrivals / 10; n += 1) request();
    now += 100;
    for (let n = 0; n < capacity / 10; n += 1) await answer();
  }
}

test('a burst is accepted', () => {
  for (let n = 0; n < 1_000; n += 1) request();
  expect({ accepted, refused }).toEqual({ accepted: 1_000, refused: 0 });
});

test('below capacity, nothing is refused', async () => {
  await run(60, 20, 20);
  expect(refused).toBe(0);
});

test('above capacity, what waits stays answerable in time, and the rest is refused', async () => {
  await run(10, 40, 20);
  const waiting: number[] = [];
  for (let second = 0; second < 30; second += 1) {
    await run(1, 40, 20);
    waiting.push(running.length);
  }
  // 20 are answered each second, so that many are answered in time.
  expect(Math.max(...waiting)).toBeLessThanOrEqual(30);
  expect(accepted).toBeGreaterThanOrEqual(20 * 35);
  expect(refused).toBeGreaterThan(0);
});

test('test mode is refused first', async () => {
  await run(10, 40, 20);
  [accepted, refused] = [0, 0];
  while (running.length > 12) await answer();
  request('test');
  request('live');
  expect({ accepted, refused }).toEqual({ accepted: 1, refused: 1 });
});

test('test mode has all the room that live mode does not use', async () => {
  const ofTest = async (seconds: number): Promise<void> => {
    for (let step = 0; step < seconds * 10; step += 1) {
      for (let n = 0; n < 4; n += 1) request('test');
      now += 100;
      for (let n = 0; n < 2; n += 1) await answer();
    }
  };
  await ofTest(20);
  while (running.length > 12) await answer();
  [accepted, refused] = [0, 0];
  request('test');
  expect({ accepted, refused }).toEqual({ accepted: 1, refused: 0 });
});

test('after the overload, everything is accepted again', async () => {
  await run(20, 40, 20);
  await run(20, 10, 20);
  refused = 0;
  await run(5, 20, 20);
  for (let n = 0; n < 200; n += 1) request();
  expect(refused).toBe(0);
});

test('when nothing is answered, only a few are accepted', async () => {
  await run(4, 10, 0);
  accepted = 0;
  running = [];
  await run(20, 10, 0);
  expect(accepted).toBe(0);
});

test('slow answers to requests that come one by one refuse nothing', async () => {
  for (let n = 0; n < 20; n += 1) {
    request();
    now += 4_000;
    await answer();
  }
  expect(refused).toBe(0);
});

describe('a limit of what runs at once', () => {
  const AT_ONCE = 2;
  let begun: number[];
  let outcomes: Promise<unknown>[];

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    begun = [];
    const limited = createAdmission({ promptMs: PROMPT_MS, atOnce: AT_ONCE, clock: () => now });
    const work = (n: number) => () => {
      begun.push(n);
      return new Promise<void>((resolve) => running.push(resolve));
    };
    outcomes = [1, 2, 3, 4].map((n) => limited.track(work(n)).catch((error: unknown) => error));
    await new Promise(setImmediate);
  });

  afterEach(() => jest.useRealTimers());

  test('the rest runs in the order of its arrival', async () => {
    expect(begun).toEqual([1, 2]);
    await answer();
    expect(begun).toEqual([1, 2, 3]);
    await answer();
    expect(begun).toEqual([1, 2, 3, 4]);
  });

  test('a refusal of the work makes room too', async () => {
    const limited = createAdmission({ promptMs: PROMPT_MS, atOnce: 1 });
    const refusal = new Error('insufficient balance');
    await expect(limited.track(() => Promise.reject(refusal))).rejects.toBe(refusal);
    await expect(limited.track(() => Promise.resolve('created'))).resolves.toBe('created');
  });

  test('what cannot run soon is refused, and never runs', async () => {
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await outcomes[3]).toMatchObject({ status: 503, details: { reason: 'overloaded' } });
    await answer();
    await answer();
    expect(begun).toEqual([1, 2]);
  });
});
