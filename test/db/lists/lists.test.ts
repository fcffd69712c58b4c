/**
 * Cursors of GET /payouts and GET /transactions: a walk meets every row once, whatever the page
 * size and the filters, while rows arrive before and behind it. `TEST_SEED` repeats a run.
 */
import fc from 'fast-check';
import { TRANSACTION_TYPES } from '../../../src/domain/ledger';
import { PAYOUT_STATUSES } from '../../../src/domain/payout';
import { PROVIDER_CODES } from '../../../src/domain/provider-codes';
import { newId } from '../../../src/platform/lib/new-id';
import {
  insertPayouts,
  insertTransactions,
  type ListedRow,
  newestFirst,
  underOtherIds,
  walkList,
} from '../../support/merchant/listed-rows';
import { type ApiAnswer, MerchantClient } from '../../support/merchant/merchant-client';
import { scaled } from '../../support/scale';
import { chooseSeed } from '../../support/seeded-random';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';

const harness = started(startHarness);
const gateway = started(() => harness.startGateway());

const LISTS = [
  { path: '/payouts', kind: 'payout', insert: insertPayouts },
  { path: '/transactions', kind: 'transaction', insert: insertTransactions },
] as const;
type List = (typeof LISTS)[number];

/** Few moments, so that many rows share one; at both ends of days, a microsecond apart. */
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];
const MOMENTS = DAYS.flatMap((day) =>
  ['00:00:00.000000', '12:00:00.123456', '23:59:59.999998', '23:59:59.999999'].map(
    (time) => `${day}T${time}Z`,
  ),
);
const SOURCES = [newId('payout'), newId('payout')];

const row = (list: List): fc.Arbitrary<ListedRow> =>
  fc.record({
    id: fc.constant(0).map(() => newId(list.kind)),
    at: fc.constantFrom(...MOMENTS),
    currency: fc.constantFrom('USDT', 'USDC'),
    status: fc.constantFrom(...PAYOUT_STATUSES.slice(0, 3)),
    provider: fc.constantFrom(...PROVIDER_CODES),
    type: fc.constantFrom(...TRANSACTION_TYPES.slice(0, 3)),
    sourceId: fc.constantFrom(...SOURCES),
  });

type Filters = Record<string, string>;
const time = fc.constantFrom(...DAYS, ...MOMENTS);
const FILTERS: Record<List['kind'], fc.Arbitrary<Filters>> = {
  payout: someOf({
    currency: fc.constantFrom('USDT', 'USDC', 'BTC'),
    status: fc
      .subarray([...PAYOUT_STATUSES.slice(0, 3)], { minLength: 1 })
      .map((names) => names.join(',')),
    provider: fc.constantFrom(...PROVIDER_CODES),
    created_from: time,
    created_to: time,
  }),
  transaction: someOf({
    currency: fc.constantFrom('USDT', 'USDC', 'BTC'),
    type: fc.constantFrom(...TRANSACTION_TYPES.slice(0, 3)),
    source_id: fc.constantFrom(...SOURCES),
    created_from: time,
    created_to: time,
  }),
};

/** Most walks have no filter or one: each further one leaves fewer rows to lose. */
function someOf(filters: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<Filters> {
  const names = fc.subarray(Object.keys(filters), { maxLength: 2 });
  return names.chain((chosen) =>
    fc.record(Object.fromEntries(chosen.map((name) => [name, filters[name]!]))),
  );
}

const KEEPS: Record<string, (found: ListedRow, value: string) => boolean> = {
  currency: ({ currency }, value) => currency === value,
  status: ({ status }, value) => value.split(',').includes(status),
  provider: ({ provider }, value) => provider === value,
  type: ({ type }, value) => type === value,
  source_id: ({ sourceId }, value) => sourceId === value,
  created_from: ({ at }, value) => at >= value,
  // A bare date ends after its last moment: "Z" sorts behind every digit and "T".
  created_to: ({ at }, value) => at <= (value.includes('T') ? value : `${value}Z`),
};

const keptBy = (filters: Filters) => (found: ListedRow) =>
  Object.entries(filters).every(([name, value]) => KEEPS[name]!(found, value));

/** A client of an account; it changes its key before the rate limit is met. */
function clientOf(accountId: string): (path: string) => Promise<ApiAnswer> {
  let sent = 0;
  let client: MerchantClient | undefined;
  return async (path) => {
    if (client === undefined || sent++ % 1_000 === 0) {
      const { secret } = await harness.createKey({ accountId });
      client = new MerchantClient(`${gateway.url}/api/v1`, secret);
    }
    return client.get(path);
  };
}

const TIMEOUT_MS = scaled(60_000, 600_000);

test.each(LISTS)(
  'a walk through $path meets every row once, in order',
  async (list) => {
    const seed = chooseSeed();
    process.stderr.write(`lists ${list.path}: TEST_SEED=${seed}\n`);
    let [walks, behind, ahead] = [0, 0, 0];
    const property = fc.asyncProperty(
      fc.array(row(list), { maxLength: 40 }),
      fc.array(row(list), { maxLength: 8 }),
      fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 100 })),
      FILTERS[list.kind],
      async (initial, late, limit, filters) => {
        const [accountId, stranger] = [
          await harness.createAccount(),
          await harness.createAccount(),
        ];
        const scope = { accountId, mode: 'test' } as const;
        await list.insert(harness.owner, scope, initial);
        const copies = () => underOtherIds(list.kind, initial);
        await list.insert(harness.owner, { accountId, mode: 'live' }, copies());
        await list.insert(harness.owner, { accountId: stranger, mode: 'test' }, copies());

        const expected = initial.filter(keptBy(filters));
        const all = new Map([...initial, ...late].map((one) => [one.id, one]));
        const coming = [...late];
        const query = new URLSearchParams({ ...filters, limit: String(limit) }).toString();
        const met = await walkList(clientOf(accountId), `${list.path}?${query}`, async (soFar) => {
          const arriving = coming.splice(0, 2);
          if (arriving.length === 0) return;
          await list.insert(harness.owner, scope, arriving);
          const last = all.get(soFar.at(-1).id)!;
          // What is older than the page's last row lies ahead of the walk; the rest is behind it.
          const reachable = arriving
            .filter(keptBy(filters))
            .filter((r) => newestFirst(last, r) < 0);
          expected.push(...reachable);
          ahead += reachable.length;
          behind += arriving.length - reachable.length;
          walks++;
        });
        expect(met.map(({ id }) => id)).toEqual(expected.sort(newestFirst).map(({ id }) => id));
      },
    );
    await fc.assert(property, { seed, numRuns: scaled(60, 600) });
    // The walks had rows added while they were under way; only a long run is sure to have both sides.
    const added = scaled([walks], [walks, behind, ahead]);
    expect(added.every((count) => count > 0)).toBe(true);
  },
  TIMEOUT_MS,
);
