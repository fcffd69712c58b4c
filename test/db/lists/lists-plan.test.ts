/**
 * Lists stay as fast as they are on the first page (decisions/api#lists): the very statements that the
 * repositories run, explained by PostgreSQL, on a big account among others.
 */
import { sentStatements } from '../sent-statements';
import type { Client } from 'pg';
import {
  type ConsolePaymentFilters,
  listConsolePayments,
} from '../../../src/db/payments/console-payments';
import {
  type ConsolePayoutFilters,
  listConsolePayouts,
} from '../../../src/db/payouts/console-payouts';
import { findText } from '../../../src/db/operations/console-search';
import { findTextOfAccount, SEARCHED_OBJECTS } from '../../../src/db/accounts/account-search';
import { listPayments } from '../../../src/db/payments/payment-list';
import { listPayouts } from '../../../src/db/payouts/payout-list';
import { listEvents } from '../../../src/db/webhooks/event-list';
import { readFeed, readNewEvents } from '../../../src/db/webhooks/events-feed';
import { listTransactions } from '../../../src/db/books/transactions';
import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import type { Db } from '../../../src/db/transaction';
import { SUBSCRIBABLE_EVENTS } from '../../../src/domain/events';
import { amount } from '../../../src/domain/money';
import type { PayoutFilters } from '../../../src/db/payouts/payout-list';
import type { PaymentFilters } from '../../../src/db/payments/payment-list';
import { scaled } from '../../support/scale';
import { type Harness, startHarness } from '../http-harness';

const ROWS = scaled(20_000, 250_000);
const OTHER_ACCOUNTS = 3;
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const PAGE = 25;

/** Rows of a page may share one block of the table, or each lie in a block of its own. */
const MOST_TIMES_THE_BUFFERS = 6;
/** The ways from an index's root to two of its leaves. */
const MOST_BUFFERS_FOR_NOTHING = 20;

let harness: Harness;
let pages: Db;
let accountId: string;

beforeAll(
  async () => {
    harness = await startHarness();
    pages = connect({ url: harness.database.dashboardUrl, size: 1, applicationName: 'plans' });
    accountId = await harness.createAccount();
    const others = await Promise.all(Array.from({ length: OTHER_ACCOUNTS }, harness.createAccount));
    await withClient(harness.database.ownerUrl, (client) => fill(client, [accountId, ...others]));
  },
  scaled(300_000, 600_000),
);
afterAll(async () => {
  await pages.destroy();
  await harness.stop();
});

/** The big account's rows lie between those of the others, as they do when all are busy. */
async function fill(client: Client, accounts: string[]): Promise<void> {
  const each = `
    FROM generate_series(1, ${ROWS}) AS n
    CROSS JOIN unnest($1::text[]) WITH ORDINALITY AS account(id, place)
    WHERE place = 1 OR n % 4 = 0
    ORDER BY n, place`;
  const at = `'2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second'`;
  const id = (prefix: string) => `'${prefix}_' || place || lpad(n::text, 25, '0')`;
  /** The first is the big account's, which has none of what is common among the others. */
  const either = (own: string[], others: string[]) => `
    CASE place WHEN 1 THEN (ARRAY['${own.join("','")}'])[1 + n % ${own.length}]
               ELSE (ARRAY['${others.join("','")}'])[1 + n / 4 % ${others.length}] END`;
  const currency = either(['USDT', 'USDC'], ['USDT', 'USDC', 'BTC']);
  const provider = either(['onchain_provider'], ['exchange_pay']);
  const ends = either(['completed'], ['completed', 'cancelled']);
  await client.query(
    `INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency,
                          network, destination_type, destination_value, service_fee, network_fee,
                          total_debit, fee_terms, api_key_id, review_reasons, tx_hash, created_at)
     SELECT ${id('po')}, account.id, 'live', n::text,
            ${ends}, ${provider}, 10, ${currency}, 'tron', 'crypto_address',
            '${ADDRESS}', 0, 0, 10, '{}', 'key', '{}', 'hash-' || CASE place WHEN 1 THEN n END, ${at}
            ${each}`,
    [accounts],
  );
  await client.query(
    `INSERT INTO payments (id, account_id, mode, reference, status, provider, amount, currency,
                           fee_terms, checkout_url, api_key_id, provider_checkout_id, expires_at,
                           customer_email, created_at)
     SELECT ${id('pay')}, account.id, 'live', n::text, ${ends}, ${provider}, 10, ${currency},
            '{}', 'https://pay.example/' || n, 'key', ${id('och')}, ${at},
            'customer-' || n || '@example.com', ${at} ${each}`,
    [accounts],
  );
  await client.query(
    `INSERT INTO ledger_transactions
     SELECT ${id('txn')}, ${id('txn')}, account.id, 'live', (ARRAY['USDT', 'USDC'])[1 + n % 2],
            'adjustment', 'listed', 'adjustment', ${id('adj')}, n, ${at} ${each}`,
    [accounts],
  );
  await client.query(
    `INSERT INTO ledger_entries
     SELECT id, line, account, direction, 10, CASE line WHEN 1 THEN 10 END
       FROM ledger_transactions, (VALUES (1, 'available', 'in'), (2, 'adjustments', 'out'))
         AS entry(line, account, direction)`,
  );
  await client.query(
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, created_at, position)
     SELECT ${id('evt')}, account.id, 'live', ${either(['payout.completed'], ['payout.failed'])},
            ${id('po')}, 1, '{}', ${at}, n ${each}`,
    [accounts],
  );
  await client.query(
    'VACUUM (ANALYZE) payments, payouts, ledger_transactions, ledger_entries, events',
  );
}

interface Position {
  createdAt: string;
  id: string;
}
type Filters = { currency?: string };
type List = (typeof LISTS)[number];

/** The dashboard reads with row-level security (src/db/as-account.ts). */
type Program = 'API' | 'dashboard';

const LISTS = [
  { table: 'payments', time: 'created_at', index: 'payments_newest', list: listPayments },
  { table: 'payouts', time: 'created_at', index: 'payouts_newest', list: listPayouts },
  {
    table: 'ledger_transactions',
    time: 'posted_at',
    index: 'ledger_transactions_newest',
    list: listTransactions,
  },
] as const;

const LISTS_OF_PROGRAMS = LISTS.flatMap((one) => [
  { ...one, program: 'API' as const },
  { ...one, program: 'dashboard' as const },
]);
const LAST_PAGE = 'the last page of $table in the $program comes from the index as the first does';

test.each(LISTS_OF_PROGRAMS)(LAST_PAGE, async ({ program, ...one }) => {
  const { first, last } = await explainEnds(one, {}, program);
  for (const { nodes, indexes } of [first, last]) {
    expect(nodes.filter((node) => /Sort|Seq Scan|Bitmap/.test(node))).toEqual([]);
    expect(indexes).toContain(one.index);
  }
  expect([first.rows, last.rows]).toEqual([PAGE + 1, PAGE]);
  expect(last.buffers).toBeLessThanOrEqual(first.buffers * MOST_TIMES_THE_BUFFERS);
});

const FILTERED = 'a filter leaves the last page of $table in the $program as cheap as the first';

test.each(LISTS_OF_PROGRAMS)(FILTERED, async ({ program, ...one }) => {
  // PostgreSQL may sort the few rows that are left: what counts is that it reads no others.
  const { first, last } = await explainEnds(one, { currency: 'USDT' }, program);
  expect(first.rows).toBe(PAGE + 1);
  expect(last.rows).toBeGreaterThan(0);
  expect(last.buffers).toBeLessThanOrEqual(first.buffers * MOST_TIMES_THE_BUFFERS);
});

/** What the account has none of. What others have much of misleads PostgreSQL the most. */
const NONE_OF: [what: string, filters: PaymentFilters & PayoutFilters][] = [
  ['a status that nobody has', { status: ['failed'] }],
  ["others' status", { status: ['cancelled'] }],
  ["others' status or one that nobody has", { status: ['cancelled', 'failed'] }],
  ['a currency that nobody has', { currency: 'XRP' }],
  ["others' currency", { currency: 'BTC' }],
  ["others' provider", { provider: 'exchange_pay' }],
  ['a reference that nobody has', { reference: 'none' }],
  ['a time before all', { createdTo: '2025-01-01T00:00:00Z' }],
  ["others' status, early", { status: ['cancelled'], createdTo: '2026-01-01T02:00:00Z' }],
  ["others' status, own currency", { status: ['cancelled'], currency: 'USDT' }],
  ["own status, others' currency", { status: ['completed'], currency: 'BTC' }],
  ["own status, others' provider", { status: ['completed'], provider: 'exchange_pay' }],
  ["own currency, others' provider", { currency: 'USDT', provider: 'exchange_pay' }],
];

/** Of all accounts, in the console. */
test.each<[what: string, filters: ConsolePaymentFilters, rows: number]>([
  ['everything', {}, PAGE + 1],
  ['one account', { accountId: 'the account' }, PAGE + 1],
  ['a status of one account', { accountId: 'the account', status: 'cancelled' }, 0],
  ['a status that nobody has', { status: 'failed' }, 0],
  ['a reference that nobody has', { search: 'none' }, 0],
  ['no exception', { flag: 'exception' }, 0],
  ['no open case', { flag: 'open_case' }, 0],
  ['a time before all', { createdTo: '2025-01-01T00:00:00Z' }, 0],
])('the console reads little for %s', async (_what, { accountId: named, ...filters }, found) => {
  const asked = named === undefined ? filters : { ...filters, accountId };
  const read = await explain((db) =>
    listConsolePayments(db, { limit: PAGE, after: null, filters: asked }),
  );
  expect(read.rows).toBe(found);
  // Each row of the page also reads its account and its cases.
  expect(read.buffers).toBeLessThanOrEqual(MOST_BUFFERS_FOR_NOTHING + found * 10);
});

/** After all rows. */
const LATER = '2027-01-01T00:00:00Z';

/** A value is looked for in each mode and group of statuses. */
const PLACES = 2 * 5;

test.each<[what: string, filters: ConsolePayoutFilters, rows: number]>([
  ['everything', {}, PAGE + 1],
  ['one account', { accountId: 'the account' }, PAGE + 1],
  ['a status', { status: 'completed' }, PAGE + 1],
  ['a status of one account', { accountId: 'the account', status: 'cancelled' }, 0],
  ['a status that nobody has', { status: 'failed' }, 0],
  ['a mode that nobody has', { mode: 'test' }, 0],
  ['a currency that nobody has', { currency: 'XRP' }, 0],
  ['a rare currency', { currency: 'BTC' }, PAGE + 1],
  ['a status that a currency does not have', { currency: 'BTC', status: 'failed' }, 0],
  ['an id', { search: `po_1${'1'.padStart(25, '0')}` }, 1],
  ['a reference', { search: '4' }, 1 + OTHER_ACCOUNTS],
  ['an address that is everywhere', { search: ADDRESS }, PAGE + 1],
  ['a hash', { search: 'hash-4' }, 1],
  ['what is nowhere', { search: 'none' }, 0],
  ['no payout that is overdue', { wait: 'overdue' }, 0],
  ['no payout that is stuck', { wait: 'stuck' }, 0],
  ['no payout in doubt', { wait: 'in_doubt' }, 0],
  ['no payout that has escalated', { level: 1 }, 0],
  ['an amount, in days without payouts', { amountMin: amount('99'), createdFrom: LATER }, 0],
  ['a provider, in days without payouts', { provider: 'exchange_pay', createdFrom: LATER }, 0],
  ['a time before all', { createdTo: '2025-01-01T00:00:00Z' }, 0],
])("the console's list of payouts reads little for %s", async (_what, filters, found) => {
  const asked = filters.accountId === undefined ? filters : { ...filters, accountId };
  const read = await explain((db) =>
    listConsolePayouts(db, { limit: PAGE, after: null, filters: asked }),
  );
  expect(read.rows).toBe(found);
  // Each place can give a whole page, of which the newest are kept; each row also reads its account. The
  // sample of ANALYZE decides between indexes: a filter that nothing fits has read 57 to 64 blocks.
  expect(read.buffers).toBeLessThanOrEqual(PLACES * 8 + found * 10);
});

/** Parts of the search that each find a page, and the ways through their indexes. */
const SEARCH_PARTS = 12;

const search = (text: string) => (db: Db) => findText(db, { text, addresses: [text] });

test.each([
  ['the start of many references', '1'],
  ['a reference', '4'],
  ['an address that is everywhere', ADDRESS],
  ['a hash', 'hash-4'],
  ['what is nowhere', 'none'],
])("the console's search reads little for %s", async (_what, text) => {
  const read = await explain(search(text));
  expect(read.buffers).toBeLessThanOrEqual(SEARCH_PARTS * 4 + read.rows * 4);
});

test("each part of the console's search has an index, whatever it searches", async () => {
  const { nodes } = await explain(search('none'), 'API', 'SET enable_seqscan = off');
  expect(nodes.filter((node) => node === 'Seq Scan')).toEqual([]);
  const wide = (db: Db) => db.query(`SELECT FROM payouts WHERE reference LIKE ?`, ['%1']);
  const unindexed = await explain(wide, 'API', 'SET enable_indexscan = off');
  expect(unindexed.nodes).toContain('Seq Scan');
});

/** The newest rows of two tables, and nothing else: five of them, or more, share a block. */
const MOST_BUFFERS_OF_A_SEARCH = (2 * SEARCHED_OBJECTS) / 5;

test("a merchant's search reads the newest objects, and not all of the account", async () => {
  const { buffers } = await explain(
    (db) =>
      findTextOfAccount(db, { accountId, text: 'nobody@example.com', addresses: [], amount: null }),
    'dashboard',
  );
  expect(buffers).toBeLessThanOrEqual(MOST_BUFFERS_OF_A_SEARCH);
});

describe.each([
  { table: 'payments', list: listPayments, program: 'API' },
  { table: 'payments', list: listPayments, program: 'dashboard' },
  { table: 'payouts', list: listPayouts, program: 'API' },
  { table: 'payouts', list: listPayouts, program: 'dashboard' },
] as const)('in the $program, what $table lacks is not looked for in all', ({ list, program }) => {
  test.each(NONE_OF)('%s', async (_what, filters) => {
    const place = { accountId, mode: 'live', limit: PAGE, after: null } as const;
    const none = await explain((db) => list(db, { ...place, filters }), program);
    expect(none.rows).toBe(0);
    expect(none.buffers).toBeLessThanOrEqual(MOST_BUFFERS_FOR_NOTHING);
  });
});

async function explainEnds(
  { table, time, list }: Pick<List, 'table' | 'time' | 'list'>,
  filters: Filters,
  program: Program = 'API',
) {
  const place = { accountId, mode: 'live', limit: PAGE, filters } as const;
  const after = await placeBefore(table, time, PAGE);
  return {
    first: await explain((db) => list(db, { ...place, after: null }), program),
    last: await explain((db) => list(db, { ...place, after }), program),
  };
}

/** The way from an index's root to a leaf, for each type of event. */
const MOST_BUFFERS_OF_A_FEED_PAGE = SUBSCRIBABLE_EVENTS.length * 4 + PAGE * 6;

test.each([
  ['from the start', { after: '0' }],
  ['at the end', { after: String(ROWS - PAGE) }],
  ['of a type that the account has none of', { after: '0', types: ['payout.failed'] }],
  ['of an object', { after: '0', objectId: `po_1${'1'.padStart(25, '0')}` }],
] as const)('a page of the events feed %s reads little more than its events', async (_, wish) => {
  const { after, ...filters } = wish;
  const query = {
    accountId,
    mode: 'live',
    types: SUBSCRIBABLE_EVENTS,
    objectId: undefined,
  } as const;
  const position = { position: after, id: '' };
  const page = await explain((db) =>
    readFeed(db, { ...query, ...filters, after: position, limit: PAGE }),
  );
  expect(page.buffers).toBeLessThanOrEqual(MOST_BUFFERS_OF_A_FEED_PAGE);
});

test.each([
  ['of all types', {}],
  ['of a frequent type', { type: ['payout.completed'] }],
  ['of a type that the account has none of', { type: ['payout.failed'] }],
  ['of an object', { objectId: `po_1${'1'.padStart(25, '0')}` }],
  ['of a time', { createdTo: '2026-01-01T00:00:00Z' }],
] as const)(
  'a page of the list of events %s reads little more than its events',
  async (_, filters) => {
    const { buffers } = await explain((db) =>
      listEvents(db, { accountId, mode: 'live', limit: PAGE, after: null, filters }),
    );
    expect(buffers).toBeLessThanOrEqual(MOST_BUFFERS_OF_A_FEED_PAGE);
  },
);

test('the new events of all accounts are read without the old ones', async () => {
  const { buffers } = await explain((db) => readNewEvents(db, String(ROWS - 5), 1_000));
  expect(buffers).toBeLessThanOrEqual(MOST_BUFFERS_FOR_NOTHING);
});

test('the check can fail: a page by offset reads everything before it', async () => {
  const [, payouts] = LISTS;
  const { first } = await explainEnds(payouts, {});
  const byOffset = await explain((db) =>
    db.query(
      `SELECT * FROM payouts WHERE account_id = ? AND mode = 'live'
        ORDER BY created_at DESC, id DESC OFFSET ? LIMIT 25`,
      [accountId, ROWS - PAGE],
    ),
  );
  expect(byOffset.buffers).toBeGreaterThan(first.buffers * MOST_TIMES_THE_BUFFERS);
});

/** The row after which `left` rows remain. */
async function placeBefore(table: string, time: string, left: number): Promise<Position> {
  const [position] = await harness.owner.query<Position>(
    `SELECT id, to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at
       FROM ${table} WHERE account_id = ? AND mode = 'live' ORDER BY ${time}, id
     OFFSET ? LIMIT 1`,
    [accountId, left],
  );
  return position!;
}

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** Runs `work`, catches the one statement that it sends, and has PostgreSQL explain that. */
async function explain(
  work: (db: Db) => Promise<unknown>,
  program: Program = 'API',
  settings = '',
) {
  const sent = await sentStatements(() => work(program === 'API' ? harness.db : pages));
  expect(sent).toHaveLength(1);
  const [{ sql, bindings }] = sent as [(typeof sent)[0]];
  const { appUrl, dashboardUrl } = harness.database;
  return withClient(program === 'API' ? appUrl : dashboardUrl, async (client) => {
    await client.query(settings);
    if (program === 'dashboard') {
      await client.query(
        `SELECT set_config('role', 'gateway_merchant', false), set_config('app.account_id', $1, false)`,
        [accountId],
      );
    }
    const { rows: answer } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
      bindings,
    );
    const { Plan: plan } = answer[0]!['QUERY PLAN'][0];
    const nodes = flatten(plan);
    return {
      nodes: nodes.map((node) => node['Node Type']),
      indexes: nodes.map((node) => node['Index Name']),
      rows: plan['Actual Rows'],
      buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    };
  });
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
