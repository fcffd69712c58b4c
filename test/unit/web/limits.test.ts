/** What costs much is counted for each session, account and address. */
import { type Asker, createLimits, TooManyRequests } from '../../../src/kit/pages/limits';

let now: number;
let limits: ReturnType<typeof createLimits>;

beforeEach(() => {
  now = 1_000;
  limits = createLimits(() => now);
});

const asker = (session: string, more: Partial<Asker> = {}): Asker => ({
  session,
  account: null,
  address: null,
  ...more,
});

/** @returns seconds until the next attempt; 0: it has begun, and has ended */
function ask(who: Asker): number {
  try {
    limits.begin(['export'], who)();
    return 0;
  } catch (error) {
    if (error instanceof TooManyRequests) return error.retryAfterS;
    throw error;
  }
}

test('as many a minute as allowed, and then the wait is told', () => {
  for (let n = 0; n < 30; n += 1) {
    expect(ask(asker('a'))).toBe(0);
    now += 1_000;
  }
  expect(ask(asker('a'))).toBe(30);
  // A refusal does not prolong the wait.
  now += 29_000;
  expect(ask(asker('a'))).toBe(1);
  now += 1_000;
  expect(ask(asker('a'))).toBe(0);
  expect(ask(asker('a'))).toBe(1);
  expect(ask(asker('b'))).toBe(0);
});

test('one at a time, until it has ended', () => {
  const end = limits.begin(['export'], asker('a'));
  expect(ask(asker('a'))).toBe(2);
  expect(ask(asker('b'))).toBe(0);
  end();
  end();
  const second = limits.begin(['export'], asker('a'));
  expect(ask(asker('a'))).toBe(2);
  second();
  expect(ask(asker('a'))).toBe(0);
});

test.each([
  ['account', 2],
  ['address', 4],
] as const)('the sessions of one %s share %i at a time', (scope, atOnce) => {
  for (let n = 0; n < atOnce; n += 1) limits.begin(['export'], asker(`s${n}`, { [scope]: 'x' }));
  expect(ask(asker('other', { [scope]: 'x' }))).toBe(2);
  expect(ask(asker('other', { [scope]: 'y' }))).toBe(0);
});

test('an unknown address is nobody’s', () => {
  const nobody = { session: null, account: null, address: null };
  for (let n = 0; n < 2_000; n += 1) limits.begin(['form'], nobody);
});
