/** Under overload, requests are refused before their queue grows; a burst is not. */
import { createAdmission } from '../../../src/kit/service/admission';

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
function request(mode: 'live' | 'test' = 'live', accountId = 'acc_a'): void {
  const of = { accountId, mode };
  try {
    admission.refuseIfLate(of);
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
  void admission.track(of, () => new Promise<void>((resolve) => running.push(resolve)));
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

test('an account of live mode has its share of the room, whatever another one sends', async () => {
  await run(10, 40, 20);
  request('live', 'acc_b');
  [accepted, refused] = [0, 0];
  for (let n = 0; n < 100; n += 1) request('live', 'acc_a');
  expect(refused).toBeGreaterThan(0);
  [accepted, refused] = [0, 0];
  for (let n = 0; n < 3; n += 1) request('live', 'acc_b');
  expect({ accepted, refused }).toEqual({ accepted: 3, refused: 0 });
  // Not more than its share.
  for (let n = 0; n < 100; n += 1) request('live', 'acc_b');
  expect(refused).toBeGreaterThan(50);
});

describe('whose work runs next', () => {
  let begun: string[];
  let turns: ReturnType<typeof createAdmission>;
  let endings: (() => void)[];

  beforeEach(() => {
    [begun, endings] = [[], []];
    turns = createAdmission({ promptMs: PROMPT_MS, atOnce: 8, clock: () => now });
  });

  afterEach(async () => {
    while (endings.length > 0) await end(endings.length);
  });

  const track = (mode: 'live' | 'test', accountId: string) => {
    const of = { accountId, mode };
    turns.refuseIfLate(of);
    const work = () => {
      begun.push(`${mode} ${accountId}`);
      return new Promise<void>((resolve) => endings.push(resolve));
    };
    // What still waits at the end of the test is refused later.
    turns.track(of, work).catch(() => undefined);
  };
  const end = async (count: number) => {
    await new Promise(setImmediate);
    for (let n = 0; n < count; n += 1) {
      endings.shift()?.();
      await new Promise(setImmediate);
    }
  };

  test('an account that is alone has all places, and makes room as soon as another one comes', async () => {
    for (let n = 0; n < 20; n += 1) track('live', 'flood');
    await end(0);
    expect(begun).toHaveLength(8);
    track('live', 'other');
    track('live', 'other');
    await end(3);
    expect(begun.slice(8)).toEqual(['live flood', 'live other', 'live flood']);
  });

  test('beside another account, one has a quarter of the places', async () => {
    track('live', 'other');
    for (let n = 0; n < 20; n += 1) track('live', 'flood');
    await end(0);
    expect(begun).toEqual(['live other', 'live flood', 'live flood']);
    track('live', 'other');
    await end(0);
    expect(begun.slice(3)).toEqual(['live other']);
    await end(1);
    expect(begun.slice(4)).toEqual([]);
    await end(1);
    expect(begun.slice(4)).toEqual(['live flood']);
  });

  test('beside live mode, all of test mode has one place', async () => {
    track('live', 'other');
    for (let n = 0; n < 20; n += 1) track('test', `flood ${n}`);
    await end(0);
    expect(begun).toEqual(['live other', 'test flood 0']);
    for (let n = 0; n < 4; n += 1) track('live', `other ${n}`);
    await end(0);
    expect(begun.slice(2)).toHaveLength(4);
    await end(2);
    expect(begun.slice(6)).toEqual(['test flood 1']);
  });

  test('a flood that waits behind itself makes no limit', async () => {
    const refused = { other: 0, flood: 0 };
    const ask = (mode: 'live' | 'test', accountId: 'other' | 'flood') => {
      try {
        track(mode, accountId);
      } catch {
        refused[accountId] += 1;
      }
    };
    for (let second = 0; second < 20; second += 1) {
      for (let n = 0; n < 5; n += 1) ask('test', 'flood');
      if (second % 10 === 0) ask('live', 'other');
      now += 500;
      await end(endings.length);
      now += 500;
    }
    expect(refused).toEqual({ other: 0, flood: 0 });
  });

  test('test mode has all places while live mode is not used', async () => {
    for (let n = 0; n < 20; n += 1) track('test', 'flood');
    await end(0);
    expect(begun).toHaveLength(8);
  });
});

describe('a limit of what runs at once', () => {
  const LIVE = { accountId: 'acc_a', mode: 'live' } as const;
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
    outcomes = [1, 2, 3, 4].map((n) =>
      limited.track(LIVE, work(n)).catch((error: unknown) => error),
    );
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
    await expect(limited.track(LIVE, () => Promise.reject(refusal))).rejects.toBe(refusal);
    await expect(limited.track(LIVE, () => Promise.resolve('created'))).resolves.toBe('created');
  });

  test('what cannot run soon is refused, and never runs', async () => {
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await outcomes[3]).toMatchObject({ status: 503, details: { reason: 'overloaded' } });
    await answer();
    await answer();
    expect(begun).toEqual([1, 2]);
  });
});
