/** Monthly statements: they follow each other, agree with the ledger, and cost little to read. */
import { sumPostings } from '../../../activities/clean-up';
import { connect } from '../../../src/db/connect';
import { listBalances } from '../../../src/db/ledger/ledger';
import { countPostings, countStoredPieces, PIECE } from '../../../src/db/books/statements';
import { createDashboardBooks } from '../../../src/features/books/dashboard-books';
import { grouped } from '../../../src/features/books/statement';
import { readPdf } from '../../support/pdf-text';
import { add, type Amount, subtract, ZERO } from '../../../src/domain/money';
import { ALL, PAYOUTS, startedBooks } from './books-world';

const world = startedBooks();

test('months follow each other, add up, and end with the balance', async () => {
  const db = connect({ url: world.database.dashboardUrl, size: 1, applicationName: 'test' });
  const books = createDashboardBooks(db);
  const owner = { accountId: world.accountId, mode: 'test' as const };
  const known = await books.months(owner);
  expect(known.map(({ currency }) => currency)).toEqual(['BTC', 'USDT']);
  const balances = await listBalances(db, world.accountId, 'test');
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
      [world.accountId, currency],
    );
    expect(subtract(fees, ledger!.fees)).toBe(ZERO);
  }
  await db.destroy();
});

test('stored sums change no figure, and a page says how much is not counted', async () => {
  const db = connect({ url: world.database.dashboardUrl, size: 1, applicationName: 'test' });
  const worker = connect({ url: world.database.workerUrl, size: 4, applicationName: 'test' });
  const owner = { accountId: world.accountId, mode: 'test' as const };
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
  const key = { accountId: world.accountId, mode: 'test', currency: 'USDT' } as const;
  const times = await world.owner.query<{ postedAt: Date; earlier: number }>(
    `SELECT posted_at, (balance_version - 1)::integer AS earlier FROM ledger_transactions
      WHERE account_id = ? AND currency = 'USDT' AND balance_version % 97 IN (0, 1)`,
    [world.accountId],
  );
  for (const { postedAt, earlier } of times) {
    // JavaScript cuts the microseconds off.
    const at = new Date(postedAt.getTime() + 1);
    expect(await countPostings(world.owner, key, at)).toBe(earlier + 1);
  }
  expect(await countPostings(world.owner, key, new Date(0))).toBe(0);
  expect(await countPostings(world.owner, { ...key, currency: 'XRP' }, new Date())).toBe(0);
  expect(PIECE).toBeGreaterThan(1);
});

test('the page shows the statement, and what is not known shows the last month that has ended', async () => {
  const html = await (await world.client.get('/dashboard/test/statements?currency=USDT')).text();
  expect(html).toContain('Opening balance');
  expect(html).toContain('Payout sent');
  const odd = await world.client.get("/dashboard/test/statements?currency=<b>'&month=2020-99");
  expect(odd.status).toBe(200);
  expect(await odd.text()).not.toContain("<b>'");
  expect(await (await world.client.get('/dashboard/live/statements')).text()).toContain(
    'No statement yet',
  );
});

test('the PDF of a month has the figures of its page, and without a known month it is the last that has ended', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const read = (path: string) => world.client.get(`/dashboard/test/statements${path}`);
  const unknown = await read('/file.pdf?currency=USDT&month=2020-99');
  const [, ended = ''] =
    /statement-([-0-9]+)-USDT/.exec(unknown.headers.get('content-disposition') ?? '') ?? [];
  expect(ended < month && ended > '2000').toBe(true);
  const html = await (await read(`?currency=USDT&month=${month}`)).text();
  const file = await read(`/file.pdf?currency=USDT&month=${month}`);
  expect(file.headers.get('content-type')).toBe('application/pdf');
  expect(file.headers.get('content-disposition')).toContain(`statement-${month}-USDT.pdf`);
  const [page] = await readPdf(Buffer.from(await file.arrayBuffer()));
  // The page is short and has the exact amount in the tooltip; the file has all decimals.
  const shown = [
    ...html.matchAll(/<td class="right"[^>]*><span class="money" title="([-0-9.]+) USDT"/g),
  ].map(([, amount]) => grouped(amount as Amount));
  expect(shown.length).toBeGreaterThan(9);
  expect(html).not.toMatch(/<b>[−0-9,]+\.\d{2}\d*0<\/b>/);
  expect(page).toEqual(expect.arrayContaining(shown));
  const none = await world.client.get('/dashboard/live/statements/file.pdf');
  expect([none.status, none.headers.get('location')]).toEqual([303, '/dashboard/live/statements']);
});
