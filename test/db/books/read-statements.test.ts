/** A long statement is read over several activities, and one that breaks off goes on from there. */
import { readStatement } from '../../../activities/reconciliation/read-statements';
import { connect } from '../../../src/db/connect';
import type { Db } from '../../../src/db/transaction';
import type { ProviderRegistry } from '../../../src/adapters/providers/registry';
import { connectProviders, makeCredentials, startHttpServer } from '../../support/servers/sandbox';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';

const STATEMENT = { provider: 'onchain_provider', mode: 'test', kind: 'payouts' } as const;
const PAGES = 25;
/** By the provider's clock, which may be ahead. */
const FIRST_CHANGE = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let db: Db;
let server: Awaited<ReturnType<typeof startHttpServer>>;
let providers: ProviderRegistry;
let breaksAt: number | null = null;
const asked: { from: string | null; cursor: string | null }[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ url: database.appUrl, size: 2, applicationName: 'read-statements-test' });
  server = await startHttpServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://provider').searchParams;
    asked.push({ from: query.get('updated_from'), cursor: query.get('cursor') });
    const page = Number(query.get('cursor') ?? 0);
    response.writeHead(page === breaksAt ? 500 : 200).end(JSON.stringify(pageOf(page)));
  });
  const addresses = { onchainUrl: server.url, exchangePayUrl: server.url };
  providers = connectProviders(addresses, makeCredentials());
});

afterAll(async () => {
  await Promise.all([providers.close(), server.stop(), db.destroy()]);
  await database.drop();
});

/** One transfer for each page, an hour later each; the last one in the year 2100. */
function pageOf(page: number) {
  const isLast = page === PAGES - 1;
  const changed = isLast ? Date.parse('2100-01-01T00:00:00Z') : FIRST_CHANGE + page * HOUR_MS;
  const transfer = {
    id: `otr_${page}`,
    client_reference: `po_${page}`,
    status: 'confirmed',
    amount: '1.00000000',
    asset: 'USDT',
    tx_hash: null,
    updated_at: new Date(changed).toISOString(),
  };
  return { transfers: [transfer], next_cursor: isLast ? null : String(page + 1) };
}

async function stored() {
  const [row] = await db.query<{ entries: number; changedUntil: Date; trouble: string | null }>(
    `SELECT (SELECT count(*)::int FROM provider_entries) AS entries, changed_until, trouble, read_at
       FROM provider_statements`,
  );
  return row;
}

test('what was read before the provider broke off is kept, and the next reading begins there', async () => {
  breaksAt = 3;
  expect(await readStatement({ db, providers }, STATEMENT, null)).toEqual({
    kind: 'trouble',
    reason: 'The provider answered with status 500.',
  });
  const changedUntil = new Date(FIRST_CHANGE + 2 * HOUR_MS);
  const trouble = 'The provider answered with status 500.';
  expect(await stored()).toEqual({ entries: 3, changedUntil, trouble, readAt: null });

  breaksAt = 0;
  asked.length = 0;
  await readStatement({ db, providers }, STATEMENT, null);
  const from = new Date(changedUntil.getTime() - 600_000).toISOString();
  expect(asked).toEqual([{ from, cursor: null }]);
});

test('an activity reads twenty pages, and the next one goes on', async () => {
  breaksAt = null;
  const before = new Date();
  const first = await readStatement({ db, providers }, STATEMENT, null);
  expect(first).toMatchObject({ kind: 'more', place: { cursor: '20' } });
  expect(await stored()).toMatchObject({ entries: 20, trouble: null, readAt: null });

  const place = first.kind === 'more' ? first.place : null;
  expect(await readStatement({ db, providers }, STATEMENT, place)).toEqual({ kind: 'read' });
  const after = await stored();
  expect(after).toMatchObject({ entries: PAGES, trouble: null });
  // The statement counts as read from when the reading began, and up to our own time at most.
  expect(after).toMatchObject({ readAt: new Date(place?.begunAt ?? '') });
  expect(Math.abs(after!.changedUntil.getTime() - before.getTime())).toBeLessThan(HOUR_MS);
});
