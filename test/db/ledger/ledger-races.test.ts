/** `ledger_post` when callers meet: on one balance, on one operation key. */
import { connect } from '../../../src/db/connect';
import { type BalanceKey, listBalances, post } from '../../../src/db/ledger/ledger';
import type { Db } from '../../../src/db/transaction';
import {
  adjustmentPosting,
  type Posting,
  returnPosting,
  reservePosting,
  settlementPosting,
} from '../../../src/domain/ledger';
import { amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  fundedBalance,
  makeAccount,
  postAlone,
} from '../../support/merchant/ledger';
import { scaled } from '../../support/scale';
import { whenWaiting } from '../lock-waits';

const APPLICATION_NAME = 'ledger-races';

let database: TestDatabase;
let app: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  app = connect({ url: database.appUrl, size: 20, applicationName: APPLICATION_NAME });
});

afterAll(async () => {
  await app.destroy();
  await database.drop();
});

test('50 reserves at once against a balance for 20: exactly 20 are posted', async () => {
  const key = await fundedBalance(app, '20');
  const results = await Promise.all(
    Array.from({ length: 50 }, () => postAlone(app, key, reservePosting(buildPayoutMoney('1')))),
  );
  expect(countOutcomes(results)).toEqual({ posted: 20, insufficient: 30 });
  expect(await balanceOf(key)).toEqual({ available: '0.00000000', reserved: '20.00000000' });
  const [lowest] = await app.query<{ lowest: string; transactions: string; last: string }>(
    `SELECT min(balance_after) AS lowest, count(DISTINCT transaction_id) AS transactions,
            max(balance_version) AS last
       FROM ledger_entries JOIN ledger_transactions t ON t.id = transaction_id
      WHERE account_id = ?`,
    [key.accountId],
  );
  expect(lowest).toEqual({ lowest: '0.00000000', transactions: '21', last: '21' });
});

test('settle against release: one of them takes the reservation, the other is refused', async () => {
  const races = scaled(30, 300);
  const key = await fundedBalance(app, String(races));
  let settled = 0;
  for (let race = 0; race < races; race++) {
    const payout = buildPayoutMoney('1');
    await postAlone(app, key, reservePosting(payout));
    const postings = [settlementPosting(payout), returnPosting(payout)];
    if (race % 2 === 1) postings.reverse();
    const results = await Promise.allSettled(
      postings.map((posting) => postAlone(app, key, posting)),
    );
    const posted = results.filter(({ status }) => status === 'fulfilled');
    expect(posted).toMatchObject([{ value: { outcome: 'posted' } }]);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { message: expect.stringContaining('belongs to another posting') as string },
    });
    const winner = postings[results.findIndex(({ status }) => status === 'fulfilled')];
    if (winner?.type === 'payout_settlement') settled++;
  }
  expect(await balanceOf(key)).toEqual({
    available: amount(String(races - settled)),
    reserved: '0.00000000',
  });
});

test('the first postings of a new balance, all at once, are all posted', async () => {
  const key: BalanceKey = { accountId: await makeAccount(app), mode: 'test', currency: 'USDT' };
  const results = await Promise.all(
    Array.from({ length: 20 }, () => postAlone(app, key, adjustmentIn('1'))),
  );
  expect(countOutcomes(results)).toEqual({ posted: 20 });
  expect((await balanceOf(key)).available).toBe('20.00000000');
});

describe('two transactions with the same operation key, the second while the first is open', () => {
  // With 10 the balance covers one of them only: the second must not be told "insufficient".
  test.each(['10', '1000'])('the second is a replay, with a balance of %s', async (funds) => {
    const key = await fundedBalance(app, funds);
    const posting = reservePosting(buildPayoutMoney('10'));
    const { first, second } = await postWhileOpen(key, posting, key);
    expect(first.outcome).toBe('posted');
    expect(second).toEqual({ ...first, outcome: 'replayed' });
    expect(await balanceOf(key)).toEqual({
      available: first.available,
      reserved: '10.00000000',
    });
  });

  test('for another account the second raises what is wrong', async () => {
    const key = await fundedBalance(app, '10');
    const other = await fundedBalance(app, '10');
    const posting = reservePosting(buildPayoutMoney('10'));
    await expect(postWhileOpen(key, posting, other)).rejects.toThrow(/belongs to another posting/);
    expect((await balanceOf(other)).available).toBe('10.00000000');
  });

  test('when the first is rolled back, the second is posted', async () => {
    const key = await fundedBalance(app, '10');
    const posting = reservePosting(buildPayoutMoney('10'));
    const tx = await app.begin();
    await post(tx, key, posting);
    const second = postAlone(app, key, posting);
    await whenWaiting(app, 1);
    await tx.rollback();
    expect((await second).outcome).toBe('posted');
    expect((await balanceOf(key)).reserved).toBe('10.00000000');
  });

  async function postWhileOpen(key: BalanceKey, posting: Posting, secondKey: BalanceKey) {
    const tx = await app.begin();
    const first = await post(tx, key, posting);
    const second = postAlone(app, secondKey, posting);
    // Handled below; until then a refusal must not count as nobody's.
    second.catch(() => undefined);
    await whenWaiting(app, 1);
    await tx.commit();
    return { first, second: await second };
  }
});

test('the same posting from 20 callers at once moves money once', async () => {
  for (let round = 0; round < scaled(10, 100); round++) {
    const key = await fundedBalance(app, '1');
    const posting = reservePosting(buildPayoutMoney('1'));
    const results = await Promise.all(
      Array.from({ length: 20 }, () => postAlone(app, key, posting)),
    );
    expect(countOutcomes(results)).toEqual({ posted: 1, replayed: 19 });
    expect(await balanceOf(key)).toEqual({ available: '0.00000000', reserved: '1.00000000' });
  }
});

test('different postings wait only for their balance, not for each other', async () => {
  const [busy, free] = [await fundedBalance(app, '10'), await fundedBalance(app, '10')];
  await app.transaction(async (tx) => {
    await post(tx, busy, reservePosting(buildPayoutMoney('1')));
    const { outcome } = await postAlone(app, free, reservePosting(buildPayoutMoney('1')));
    expect(outcome).toBe('posted');
  });
});

function adjustmentIn(text: string): Posting {
  return adjustmentPosting({
    id: newId('adjustment'),
    direction: 'in',
    amount: amount(text),
    reason: 'A test needs it',
  });
}

function countOutcomes(results: { outcome: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

async function balanceOf(key: BalanceKey) {
  const all = await listBalances(app, key.accountId, key.mode);
  const { available, reserved } = all.find((balance) => balance.currency === key.currency)!;
  return { available, reserved };
}
