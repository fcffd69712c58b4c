/** What merchants keep: the transactions, on a page and as a file. */
import { setTimeout as sleep } from 'node:timers/promises';
import { csvField } from '../../../src/platform/lib/csv';
import { startedBooks } from './books-world';

const world = startedBooks();

test('the list has a line for each day, and the available balance after each transaction', async () => {
  const list = await world.client.read('/dashboard/test/transactions?currency=USDT');
  const days = [...list.matchAll(/<tr class="group"><th[^>]*>([^<]+)</g)].map(([, day]) => day);
  expect(new Set(days).size).toBe(days.length);
  const [newest] = await world.owner.query<{ available: string; day: string }>(
    `SELECT trim_scale(b.available)::text AS available, to_char(max(t.posted_at) AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY') AS day
       FROM balances b JOIN ledger_transactions t USING (account_id, mode, currency)
      WHERE b.account_id = ? AND b.mode = 'test' AND b.currency = 'USDT' GROUP BY b.available`,
    [world.accountId],
  );
  expect(days[0]).toBe(`${newest!.day} (UTC)`);
  expect(list).toMatch(
    new RegExp(`data-label="Available after"><span[^>]*title="${newest!.available}`),
  );
});

test('the files have every transaction once, newest first, with the filters of the page', async () => {
  const csv = await world.client.get('/dashboard/test/transactions/export?format=csv');
  expect(csv.headers.get('content-disposition')).toMatch(
    /^attachment; filename="transactions-test-.*\.csv"$/,
  );
  const [head, ...lines] = (await csv.text()).trimEnd().split('\r\n');
  expect(head).toBe(
    'id,posted_at,type,currency,balance,direction,amount,balance_after,description,source,source_id,part',
  );
  const [stored] = await world.owner.query<{ entries: number; transactions: number }>(
    `SELECT count(*)::integer AS entries, count(DISTINCT t.id)::integer AS transactions
       FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.account_id = ? AND e.balance_after IS NOT NULL`,
    [world.accountId],
  );
  expect(lines).toHaveLength(stored!.entries);
  const times = lines.map((line) => line.split(',')[1]!);
  expect(times).toEqual([...times].sort().reverse());

  const json = await world.client.get('/dashboard/test/transactions/export?format=json');
  const all = (await json.json()) as { id: string; entries: object[] }[];
  expect(new Set(all.map(({ id }) => id)).size).toBe(stored!.transactions);
  expect(all).toHaveLength(stored!.transactions);

  // What each entry is, in the files and on the pages, with the reference.
  const settled = lines.filter((line) => line.includes(',payout_settlement,'));
  const parts = new Set(settled.map((line) => line.split(',').at(-1)));
  expect([...parts].sort()).toEqual(['amount', 'network_fee', 'service_fee']);
  expect(all[0]!.entries).toContainEqual(expect.objectContaining({ part: 'service_fee' }));
  for (const place of ['transactions', 'balances/USDT']) {
    const shown = await (await world.client.get(`/dashboard/test/${place}`)).text();
    expect([place, shown]).toEqual([place, expect.stringContaining('Service fee, reserved')]);
    expect([place, shown]).toEqual([place, expect.stringContaining('Network fee, reserved')]);
    expect(shown).toMatch(
      /href="\/dashboard\/test\/payouts\/po_\w+"[^>]*>Payout <span class="reference">volume-/,
    );
  }

  const path = '/dashboard/test/transactions';
  const page = await (await world.client.get(`${path}?currency=BTC&after=x`)).text();
  expect(page).toContain('/dashboard/test/transactions/export?currency=BTC&amp;format=csv');
  const bitcoin = await (await world.client.get(`${path}/export?currency=BTC&format=json`)).json();
  expect(bitcoin).toHaveLength(1);
  const none = await world.client.get(`${path}/export?currency=XRP&format=json`);
  expect(await none.json()).toEqual([]);
  expect(await (await world.client.get('/dashboard/live/transactions/export')).text()).toBe(
    `${head!}\r\n`,
  );
});

test('an export waits for a slow client, and its queries end when the client leaves', async () => {
  // Longer than what sockets buffer.
  await world.owner.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    const sql = 'UPDATE ledger_transactions SET description = ? WHERE account_id = ?';
    await tx.query(sql, ['long '.repeat(2_000), world.accountId]);
  });
  const lastQuery = async () => {
    const [found] = await world.owner.query<{ at: string }>(
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
  const response = await world.client.get('/dashboard/test/transactions/export?format=csv');
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
  const left = await world.client.get('/dashboard/test/transactions/export?format=csv');
  const before = left.body!.getReader();
  await before.read();
  const lastRead = await rest();
  await before.cancel();
  expect(await rest()).toBe(lastRead);
  expect((await world.client.get('/dashboard/test/transactions')).status).toBe(200);
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
