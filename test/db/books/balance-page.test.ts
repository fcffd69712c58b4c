/** What the start page draws of the books, and what the page of a balance says. */
import { connect } from '../../../src/db/connect';
import { createDashboardBooks } from '../../../src/features/books/dashboard-books';
import { add } from '../../../src/domain/money';
import { ALL, PAYOUTS, startedBooks } from './books-world';

const world = startedBooks();

test('the start page draws 30 days, and a click on a balance shows what makes it up', async () => {
  const home = await (await world.client.get('/dashboard/test')).text();
  expect(home).toContain('Last 30 days:');
  expect(home).toMatch(/<svg class="bars"/);
  expect(home).toContain('/dashboard/test/balances/USDT#reserved');
  const balance = await (await world.client.get('/dashboard/test/balances/USDT')).text();
  expect(balance).toContain('Nothing is reserved');
  expect(balance).toContain('Payout sent');
  expect((await world.client.get('/dashboard/test/balances/XRP')).status).toBe(404);
  // The switch to the other mode leads to a page that exists, with or without such a balance there.
  const toLive = [...balance.matchAll(/href="(\/dashboard\/live[^"]*)"/g)].map(([, href]) => href!);
  expect(toLive).not.toEqual([]);
  for (const href of toLive) expect((await world.client.get(href)).status).toBe(200);
  const db = connect({ url: world.database.dashboardUrl, size: 1, applicationName: 'test' });
  const volumes = await createDashboardBooks(db, ALL).volumes(
    { accountId: world.accountId, mode: 'test' },
    101,
  );
  const sent = volumes.find(({ currency }) => currency === 'USDT')!.days.map((day) => day.sent);
  // Each payout is of 10.
  expect(add(...sent)).toBe(`${PAYOUTS * 10}.00000000`);
  await db.destroy();
});
