/** One account's requests wait behind each other, and not those of others. */
import Router from '@koa/router';
import Koa from 'koa';
import { exportRoutes } from '../../../src/features/books/exports-api';
import { createAccountTurns } from '../../../src/kit/service/account-turns';
import { startHttpServer } from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';

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

test('exports of an account are sent in turns: the next begins when one is sent or its client is gone', async () => {
  const ends: (() => void)[] = [];
  async function* parts(account: string) {
    begun.push(account);
    yield 'first ';
    await new Promise<void>((resolve) => ends.push(resolve));
    yield 'last';
  }
  const balances = {
    exportFile: ({ accountId }: { accountId: string }) =>
      Promise.resolve({ name: 'x.csv', type: 'text/csv', content: parts(accountId) }),
  };
  const auth = () => (ctx: Koa.Context, next: Koa.Next) => {
    ctx.state = { caller: { accountId: ctx.get('account'), mode: 'test', scopes: [] } };
    return next();
  };
  const router = new Router();
  for (const { operation, steps } of exportRoutes(balances as never, turns)) {
    router.get(operation.path, auth() as never, ...(steps as never[]));
  }
  const app = new Koa().use(router.routes()).callback();
  const server = await startHttpServer((request, response) => void app(request, response));
  const client = new AbortController();
  const read = async (accountId: string, signal = new AbortController().signal) => {
    const url = `${server.url}/exports?kind=payments&created_from=2026-01-01&created_to=2026-02-01`;
    return (await fetch(url, { headers: { account: accountId }, signal })).text();
  };
  try {
    const gone = read('flood', client.signal).catch(() => 'gone');
    const files = [read('flood'), read('flood'), read('flood')];
    await waitFor('two exports of the flood', () => Promise.resolve(ends.length === 2));
    const other = read('other');
    await waitFor('the export of the other', () => Promise.resolve(ends.length === 3));
    expect(begun).toEqual(['flood', 'flood', 'other']);
    client.abort();
    for (const expected of [4, 5]) {
      for (const end of ends) end();
      await waitFor('the next export', () => Promise.resolve(ends.length >= expected));
    }
    for (const end of ends) end();
    expect([await gone, await other, ...(await Promise.all(files))]).toEqual([
      'gone',
      ...Array.from({ length: 4 }, () => 'first last'),
    ]);
    expect(begun).toHaveLength(5);
  } finally {
    await server.stop();
  }
});
