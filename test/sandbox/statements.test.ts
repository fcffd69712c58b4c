/** The providers' books through the adapters: every entry, page by page, or no page at all. */
import { setTimeout as sleep } from 'node:timers/promises';
import { amount } from '../../src/domain/money';
import type { StatementPage, StatementQuery, Provider } from '../../src/adapters/providers/port';
import { SCENARIOS } from '../../src/rails/sandbox/transfers/scenarios';
import {
  buildCheckout,
  buildOrder,
  connectProviders,
  control,
  makeCredentials,
  startHttpServer,
  startSandboxWorld,
  type SandboxWorld,
} from '../support/servers/sandbox';

const CODES = ['onchain_provider', 'exchange_pay'] as const;
type Code = (typeof CODES)[number];
type List = (query: StatementQuery) => Promise<StatementPage<{ reference: string }>>;

/** More than a page of either provider's checkouts. */
const MANY = 60;

let world: SandboxWorld;

beforeAll(async () => {
  world = await startSandboxWorld({ callbackBaseUrl: null });
});

afterAll(() => world.stop());

const BOOKS = {
  payouts: {
    add: async (provider: Provider, code: Code) => {
      // It changes when a test says so.
      const order = buildOrder(code, { amount: amount(`10.0000${SCENARIOS.never_settles.code}`) });
      await provider.submitPayout(order);
      return order.reference;
    },
    list:
      (provider: Provider): List =>
      (query) =>
        provider.listPayouts(query),
  },
  checkouts: {
    add: async (provider: Provider, code: Code) => {
      const order = buildCheckout(code);
      await provider.openCheckout(order);
      return order.reference;
    },
    list:
      (provider: Provider): List =>
      (query) =>
        provider.listCheckouts(query),
  },
};

const CASES = CODES.flatMap((code) =>
  (Object.keys(BOOKS) as (keyof typeof BOOKS)[]).map((book) => ({ code, book })),
);

async function walk(list: List, changedFrom: Date | null = null) {
  const entries: { reference: string; changedAt: Date }[] = [];
  let [cursor, pages]: [string | null, number] = [null, 0];
  do {
    const page: Awaited<ReturnType<List>> = await list({ changedFrom, cursor });
    if (page.kind !== 'page') throw new Error(page.reason);
    for (const { entry, changedAt } of page.entries) {
      entries.push({ reference: entry.reference, changedAt });
    }
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== null);
  return { entries, pages, references: new Set(entries.map(({ reference }) => reference)) };
}

test.each(CASES)('$code shows all its $book, the oldest change first', async ({ code, book }) => {
  const { add, list } = BOOKS[book];
  const provider = world.patient.get(code, 'test');
  const added = await Promise.all(Array.from({ length: MANY }, () => add(provider, code)));
  const all = await walk(list(provider));
  expect(all.references).toEqual(new Set(added));
  if (book === 'checkouts') expect(all.pages).toBeGreaterThan(1);
  const times = all.entries.map(({ changedAt }) => changedAt.getTime());
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect((await walk(list(world.patient.get(code, 'live')))).references).toEqual(new Set());

  await sleep(20);
  const since = new Date();
  const late = await add(provider, code);
  expect((await walk(list(provider), since)).references).toEqual(new Set([late]));
});

test.each(CASES)('a change of $book at $code is shown again', async ({ code, book }) => {
  const { add, list } = BOOKS[book];
  const provider = world.patient.get(code, 'test');
  const reference = await add(provider, code);
  await sleep(20);
  const since = new Date();
  const key = { provider: code, mode: 'test', client_reference: reference };
  const verb = book === 'payouts' ? 'transfers/settle' : 'checkouts/cancel';
  expect(await control(world.sandbox.url, verb, key)).toBe(200);
  expect((await walk(list(provider), since)).references).toEqual(new Set([reference]));
});

test.each(CASES)('$code, that is away or refuses the cursor, shows no $book', async (one) => {
  const { list } = BOOKS[one.book];
  const provider = world.patient.get(one.code, 'test');
  const query = { changedFrom: null, cursor: 'not one' };
  expect((await list(provider)(query)).kind).toBe('unknown');
  const outage = { provider: one.code, mode: 'test' };
  await control(world.sandbox.url, 'outage', { ...outage, kind: 'answer_503' });
  try {
    expect((await list(provider)({ ...query, cursor: null })).kind).toBe('unknown');
  } finally {
    await control(world.sandbox.url, 'outage', { ...outage, kind: null });
  }
});

const GOOD = {
  id: 'otr_1',
  client_reference: 'po_1',
  status: 'confirmed',
  amount: '10.00000000',
  asset: 'USDT',
  tx_hash: null,
  updated_at: '2026-01-01T00:00:00.000Z',
};

test.each([
  { what: 'a sound one', page: { transfers: [GOOD], next_cursor: null }, kind: 'page' },
  { what: 'no cursor', page: { transfers: [GOOD] } },
  { what: 'no list', page: { next_cursor: null } },
  { what: 'an id twice', page: { transfers: [GOOD, GOOD], next_cursor: null } },
  { what: 'a number', page: { transfers: [{ ...GOOD, amount: 10 }], next_cursor: null } },
  { what: 'no time', page: { transfers: [{ ...GOOD, updated_at: 'soon' }], next_cursor: null } },
  { what: 'an unknown status', page: { transfers: [{ ...GOOD, status: 'x' }], next_cursor: null } },
])('a page of a provider with $what', async ({ page, kind = 'unknown' }) => {
  const server = await startHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  const addresses = { onchainUrl: server.url, exchangePayUrl: server.url };
  const providers = connectProviders(addresses, makeCredentials());
  const provider = providers.get('onchain_provider', 'test');
  const answer = await provider.listPayouts({ changedFrom: null, cursor: null });
  await Promise.all([providers.close(), server.stop()]);
  expect(answer.kind).toBe(kind);
  if (answer.kind === 'page') expect(answer.entries[0]?.entry.amount).toBe(amount('10'));
});
