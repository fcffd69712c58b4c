/** What merchants keep: the transactions as a file, and monthly statements that agree with the ledger. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sumPostings } from '../../../activities/clean-up';
import { connect } from '../../../src/db/connect';
import { listBalances } from '../../../src/db/ledger/ledger';
import { countPostings, countStoredPieces, PIECE } from '../../../src/db/books/statements';
import { EXPORT_PAGE } from '../../../src/features/books/dashboard/transactions-file';
import { csvField } from '../../../src/platform/lib/csv';
import { add, type Amount, subtract, ZERO } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { createDashboardBooks } from '../../../src/features/books/dashboard-books';
import { insertCompletedPayouts } from '../../support/merchant/large-ledger';
import { readPdf } from '../../support/pdf-text';
import { fund } from '../../support/merchant/merchant';
import { makeUser, PageClient } from '../../support/merchant/page-client';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';

/** More than one page of the export. */
const PAYOUTS = EXPORT_PAGE;

const harness = started(startHarness);
let accountId: string;
let client: PageClient;

beforeAll(async () => {
  const gateway = await harness.startGateway();
  accountId = await harness.createAccount();
  client = new PageClient(gateway.url);
  await client.signIn(await makeUser(harness.owner, 'merchant', 'viewer', accountId));
  await fund(harness.owner, accountId, 'test', 'USDT', '20000');
  await fund(harness.owner, accountId, 'test', 'BTC', '3');
  const key = { accountId, mode: 'test', currency: 'USDT' } as const;
  const batch = { ...key, apiKeyId: newId('apiKey'), first: 1, count: PAYOUTS };
  await insertCompletedPayouts(harness.owner, batch, { isNoted: false });
  await spreadOverMonths();
});

/** The postings are of now; a year of them needs other times in the same order. */
async function spreadOverMonths(): Promise<void> {
  await harness.owner.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(
      `UPDATE ledger_transactions t
          SET posted_at = now() - interval '100 days'
                + (t.balance_version - 1) * interval '99 days' / b.version
         FROM balances b
        WHERE (b.account_id, b.mode, b.currency) = (t.account_id, t.mode, t.currency)
          AND t.account_id = ?`,
      [accountId],
    );
  });
}

test('the list has a line for each day, and the available balance after each transaction', async () => {
  const list = await client.read('/dashboard/test/transactions?currency=USDT');
  const days = [...list.matchAll(/<tr class="group"><th[^>]*>([^<]+)</g)].map(([, day]) => day);
  expect(new Set(days).size).toBe(days.length);
  const [newest] = await harness.owner.query<{ available: string; day: string }>(
    `SELECT trim_scale(b.available)::text AS available, to_char(max(t.posted_at) AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY') AS day
       FROM balances b JOIN ledger_transactions t USING (account_id, mode, currency)
      WHERE b.account_id = ? AND b.mode = 'test' AND b.currency = 'USDT' GROUP BY b.available`,
    [accountId],
  );
  expect(days[0]).toBe(`${newest!.day} (UTC)`);
  expect(list).toMatch(
    new RegExp(`data-label="Available after"><span[^>]*title="${newest!.available}`),
  );
});

test('the files have every transaction once, newest first, with the filters of the page', async () => {
  const csv = await client.get('/dashboard/test/transactions/export?format=csv');
  expect(csv.headers.get('content-disposition')).toMatch(
    /^attachment; filename="transactions-test-.*\.csv"$/,
  );
  const [head, ...lines] = (await csv.text()).trimEnd().split('\r\n');
  expect(head).toBe(
    'id,posted_at,type,currency,balance,direction,amount,balance_after,description,source,source_id,part',
  );
  const [stored] = await harness.owner.query<{ entries: number; transactions: number }>(
    `SELECT count(*)::integer AS entries, count(DISTINCT t.id)::integer AS transactions
       FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.account_id = ? AND e.balance_after IS NOT NULL`,
    [accountId],
  );
  expect(lines).toHaveLength(stored!.entries);
  const times = lines.map((line) => line.split(',')[1]!);
  expect(times).toEqual([...times].sort().reverse());

  const json = await client.get('/dashboard/test/transactions/export?format=json');
  const all = (await json.json()) as { id: string; entries: object[] }[];
  expect(new Set(all.map(({ id }) => id)).size).toBe(stored!.transactions);
  expect(all).toHaveLength(stored!.transactions);

  // What each entry is, in the files and on the pages, with the reference.
  const settled = lines.filter((line) => line.includes(',payout_settlement,'));
  const parts = new Set(settled.map((line) => line.split(',').at(-1)));
  expect([...parts].sort()).toEqual(['amount', 'network_fee', 'service_fee']);
  expect(all[0]!.entries).toContainEqual(expect.objectContaining({ part: 'service_fee' }));
  for (const place of ['transactions', 'balances/USDT']) {
    const shown = await (await client.get(`/dashboard/test/${place}`)).text();
    expect([place, shown]).toEqual([place, expect.stringContaining('Service fee, reserved')]);
    expect([place, shown]).toEqual([place, expect.stringContaining('Network fee, reserved')]);
    expect(shown).toMatch(/href="\/dashboard\/test\/payouts\/po_\w+"[^>]*>Payout volume-/);
  }

  const path = '/dashboard/test/transactions';
  const page = await (await client.get(`${path}?currency=BTC&after=x`)).text();
  expect(page).toContain('/dashboard/test/transactions/export?currency=BTC&amp;format=csv');
  const bitcoin = await (await client.get(`${path}/export?currency=BTC&format=json`)).json();
  expect(bitcoin).toHaveLength(1);
  const none = await client.get(`${path}/export?currency=XRP&format=json`);
  expect(await none.json()).toEqual([]);
  expect(await (await client.get('/dashboard/live/transactions/export')).text()).toBe(
    `${head!}\r\n`,
  );
});

test('an export waits for a slow client, and its queries end when the client leaves', async () => {
  // Longer than what sockets buffer.
  await harness.owner.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    const sql = 'UPDATE ledger_transactions SET description = ? WHERE account_id = ?';
    await tx.query(sql, ['long '.repeat(2_000), accountId]);
  });
  const lastQuery = async () => {
    const [found] = await harness.owner.query<{ at: string }>(
      `SELECT max(query_start)::text AS at FROM pg_stat_activity
        WHERE application_name LIKE 'gateway-%' AND query LIKE '%ledger_transactions t%'
          AND datname = current_database()`,
    );
    return found!.at;
  };
  /** Until no more pages are read. */
  const rest = async () => {
    for (let before = ''; ;) {
      const now = await lastQuery();
      if (now === before) return now;
      before = now;
      await sleep(500);
    }
  };
  const response = await client.get('/dashboard/test/transactions/export?format=csv');
  const reader = response.body!.getReader();
  await reader.read();
  const paused = await rest();
  // Another page is read when the client goes on.
  for (let bytes = 0; (await lastQuery()) === paused;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the export was over after ${bytes} bytes without another query`);
    bytes += value.byteLength;
  }
  await reader.cancel();
  const left = await client.get('/dashboard/test/transactions/export?format=csv');
  const before = left.body!.getReader();
  await before.read();
  const lastRead = await rest();
  await before.cancel();
  expect(await rest()).toBe(lastRead);
  expect((await client.get('/dashboard/test/transactions')).status).toBe(200);
});

test.each([
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ['+1', `'+1`],
  ['-1', '-1'],
  ['-1+1', `'-1+1`],
  ['@x', `'@x`],
  ['\tx', `'\tx`],
  ['a,b', '"a,b"'],
  ['a\r\nb', '"a\r\nb"'],
  ['plain = text', 'plain = text'],
])('%j is written as %j', (text, field) => {
  expect(csvField(text)).toBe(field);
});

test('months follow each other, add up, and end with the balance', async () => {
  const db = connect({ url: harness.database.dashboardUrl, size: 1, applicationName: 'test' });
  const books = createDashboardBooks(db);
  const owner = { accountId, mode: 'test' as const };
  const known = await books.months(owner);
  expect(known.map(({ currency }) => currency)).toEqual(['BTC', 'USDT']);
  const balances = await listBalances(db, accountId, 'test');
  for (const { currency, months } of known) {
    expect(months.length).toBeGreaterThanOrEqual(4);
    let before = { available: ZERO, reserved: ZERO };
    let fees = ZERO;
    for (const month of [...months].reverse()) {
      const statement = await books.statement(owner, currency, month);
      expect(statement.opening).toEqual(before);
      before = { ...statement.closing };
      fees = add(fees, statement.serviceFees, statement.networkFees);
    }
    const { available, reserved } = balances.find((one) => one.currency === currency)!;
    expect(before).toEqual({ available, reserved });
    const [ledger] = await db.query<{ fees: Amount }>(
      `SELECT coalesce(sum(CASE direction WHEN 'in' THEN e.amount ELSE -e.amount END), 0)::numeric(38,8)
                AS fees
         FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.account_id = ? AND t.currency = ? AND e.account IN ('fee_income', 'network_cost')`,
      [accountId, currency],
    );
    expect(subtract(fees, ledger!.fees)).toBe(ZERO);
  }
  await db.destroy();
});

/** The number of postings that a page may add up here. */
const ALL = 5_000;

test('stored sums change no figure, and a page says how much is not counted', async () => {
  const db = connect({ url: harness.database.dashboardUrl, size: 1, applicationName: 'test' });
  const worker = connect({ url: harness.database.workerUrl, size: 4, applicationName: 'test' });
  const owner = { accountId, mode: 'test' as const };
  const key = { ...owner, currency: 'USDT' };
  const books = createDashboardBooks(db, ALL);
  const small = createDashboardBooks(db, 100);
  const read = async () => ({
    volumes: await books.volumes(owner, 101),
    statements: await Promise.all(
      (await books.months(owner)).flatMap(({ currency, months }) =>
        months.map((month) => books.statement(owner, currency, month)),
      ),
    ),
  });
  // The deposit, and two postings of each payout.
  const postings = 1 + 2 * PAYOUTS;
  const before = await read();
  expect(before.volumes.map(({ uncounted }) => uncounted)).toEqual([0, 0]);
  expect((await small.volumes(owner, 101))[1]).toMatchObject({ uncounted: postings - 100 });
  // One run after the other, and several at once.
  await sumPostings(worker, 0);
  await Promise.all([sumPostings(worker), sumPostings(worker), sumPostings(worker)]);
  expect(await countStoredPieces(db, key)).toBe(Math.floor(postings / PIECE));
  expect(await countStoredPieces(db, { ...key, currency: 'BTC' })).toBe(0);
  expect(await read()).toEqual(before);
  expect((await small.volumes(owner, 101))[1]).toMatchObject({ uncounted: 0 });
  await expect(db.query('INSERT INTO posting_sums SELECT * FROM posting_sums')).rejects.toThrow(
    'permission denied',
  );
  await Promise.all([db.destroy(), worker.destroy()]);
});

test('the postings before a time are found by halving', async () => {
  const key = { accountId, mode: 'test', currency: 'USDT' } as const;
  const times = await harness.owner.query<{ postedAt: Date; earlier: number }>(
    `SELECT posted_at, (balance_version - 1)::integer AS earlier FROM ledger_transactions
      WHERE account_id = ? AND currency = 'USDT' AND balance_version % 97 IN (0, 1)`,
    [accountId],
  );
  for (const { postedAt, earlier } of times) {
    // JavaScript cuts the microseconds off.
    const at = new Date(postedAt.getTime() + 1);
    expect(await countPostings(harness.owner, key, at)).toBe(earlier + 1);
  }
  expect(await countPostings(harness.owner, key, new Date(0))).toBe(0);
  expect(await countPostings(harness.owner, { ...key, currency: 'XRP' }, new Date())).toBe(0);
  expect(PIECE).toBeGreaterThan(1);
});

test('the page shows the statement, and what is not known shows the newest', async () => {
  const html = await (await client.get('/dashboard/test/statements?currency=USDT')).text();
  expect(html).toContain('Opening balance');
  expect(html).toContain('Payout sent');
  const odd = await client.get("/dashboard/test/statements?currency=<b>'&month=2020-99");
  expect(odd.status).toBe(200);
  expect(await odd.text()).not.toContain("<b>'");
  expect(await (await client.get('/dashboard/live/statements')).text()).toContain(
    'No statement yet',
  );
});

test('the PDF of a month has the figures of its page, and answers the newest month to what is not known', async () => {
  const html = await (await client.get('/dashboard/test/statements?currency=USDT')).text();
  const file = await client.get('/dashboard/test/statements/file.pdf?currency=USDT&month=2020-99');
  expect(file.headers.get('content-type')).toBe('application/pdf');
  const month = new Date().toISOString().slice(0, 7);
  expect(file.headers.get('content-disposition')).toContain(`statement-${month}-USDT.pdf`);
  const [page] = await readPdf(Buffer.from(await file.arrayBuffer()));
  const shown = [...html.matchAll(/<td class="right"[^>]*>(?:<b>)?([−0-9.,]+)/g)].map(
    ([, text]) => text,
  );
  expect(shown.length).toBeGreaterThan(9);
  expect(page).toEqual(expect.arrayContaining(shown));
  const none = await client.get('/dashboard/live/statements/file.pdf');
  expect([none.status, none.headers.get('location')]).toEqual([303, '/dashboard/live/statements']);
});

test('the start page draws 30 days, and a click on a balance shows what makes it up', async () => {
  const home = await (await client.get('/dashboard/test')).text();
  expect(home).toContain('Last 30 days:');
  expect(home).toMatch(/<svg class="bars"/);
  expect(home).toContain('/dashboard/test/balances/USDT#reserved');
  const balance = await (await client.get('/dashboard/test/balances/USDT')).text();
  expect(balance).toContain('Nothing is reserved');
  expect(balance).toContain('Payout sent');
  expect((await client.get('/dashboard/test/balances/XRP')).status).toBe(404);
  // The switch to the other mode leads to a page that exists, with or without such a balance there.
  const toLive = [...balance.matchAll(/href="(\/dashboard\/live[^"]*)"/g)].map(([, href]) => href!);
  expect(toLive).not.toEqual([]);
  for (const href of toLive) expect((await client.get(href)).status).toBe(200);
  const db = connect({ url: harness.database.dashboardUrl, size: 1, applicationName: 'test' });
  const volumes = await createDashboardBooks(db, ALL).volumes({ accountId, mode: 'test' }, 101);
  const sent = volumes.find(({ currency }) => currency === 'USDT')!.days.map((day) => day.sent);
  // Each payout is of 10.
  expect(add(...sent)).toBe(`${PAYOUTS * 10}.00000000`);
  await db.destroy();
});
