/** One account's requests wait behind each other, and not those of others. */
import { createAccountTurns } from '../../../src/services/account-turns';

const turn = () => new Promise(setImmediate);

let endings: (() => void)[];
let begun: string[];
let turns: ReturnType<typeof createAccountTurns>;

beforeEach(() => {
  [endings, begun] = [[], []];
  turns = createAccountTurns({ live: 3, test: 2 });
});

const run = (accountId: string, mode: 'live' | 'test') =>
  turns.run({ accountId, mode }, () => {
    begun.push(`${accountId} ${mode}`);
    return new Promise<void>((resolve) => endings.push(resolve));
  });
/** What still waits at the end of the test is refused later. */
const ask = (accountId: string, mode: 'live' | 'test') => {
  run(accountId, mode).catch(() => undefined);
};

test('a flood has its own places, and those of others and of live mode stay free', async () => {
  for (let n = 0; n < 200; n += 1) ask('flood', 'test');
  await turn();
  expect(begun).toEqual(['flood test', 'flood test']);
  ask('flood', 'live');
  ask('other', 'test');
  ask('other', 'live');
  await turn();
  expect(begun.slice(2)).toEqual(['flood live', 'other test', 'other live']);
  endings.shift()?.();
  await turn();
  expect(begun.slice(5)).toEqual(['flood test']);
});

test('what cannot run soon is refused, and what fails makes room', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const failure = new Error('not found');
    const of = { accountId: 'a', mode: 'test' } as const;
    await expect(turns.run(of, () => Promise.reject(failure))).rejects.toBe(failure);
    ask('a', 'test');
    ask('a', 'test');
    const late = run('a', 'test').catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await late).toMatchObject({ status: 503, details: { reason: 'overloaded' } });
    expect(begun).toHaveLength(2);
  } finally {
    jest.useRealTimers();
  }
});
