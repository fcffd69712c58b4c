/** `ledger_post` as the application's role calls it, one caller at a time. */
import { type BalanceKey, listBalances, postAtCommit } from '../../../src/db/ledger/ledger';
import {
  type Posting,
  type PostingLine,
  returnPosting,
  reservePosting,
  settlementPosting,
  type TransactionType,
} from '../../../src/domain/ledger';
import { reserveRows } from '../../../src/db/payout-batches/payout-batch-rows';
import type { Amount } from '../../../src/domain/money';
import { newId } from '../../../src/platform/lib/new-id';
import { compose, openTestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  fund,
  fundedBalance,
  makeAccount,
  postAlone,
} from '../../support/merchant/ledger';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ app: 4, owner: 2 }));

test('a payout is reserved and settled: every line says what its account holds after it', async () => {
  const key = await fundedBalance(database.app, '100');
  const payout = buildPayoutMoney('50', { service: '0.5', network: '1.25' });

  expect(await postAlone(database.app, key, reservePosting(payout))).toEqual({
    outcome: 'posted',
    available: '48.25000000',
    reserved: '51.75000000',
  });
  expect(await postAlone(database.app, key, settlementPosting(payout))).toEqual({
    outcome: 'posted',
    available: '48.25000000',
    reserved: '0.00000000',
  });

  expect(await entriesOf(payout.id)).toEqual([
    'available out 51.75000000 48.25000000',
    'reserved in 51.75000000 51.75000000',
    'reserved out 50.00000000 1.75000000',
    'reserved out 0.50000000 1.25000000',
    'reserved out 1.25000000 0.00000000',
    'provider_clearing in 50.00000000 null',
    'fee_income in 0.50000000 null',
    'network_cost in 1.25000000 null',
  ]);
  expect(await versionsOf(key)).toEqual(['1', '2', '3']);
});

test('a release puts everything back, down to the smallest unit', async () => {
  const key = await fundedBalance(database.app, '0.00000003');
  const payout = buildPayoutMoney('0.00000002', { service: '0.00000001' });
  await postAlone(database.app, key, reservePosting(payout));
  expect(await postAlone(database.app, key, returnPosting(payout))).toEqual({
    outcome: 'posted',
    available: '0.00000003',
    reserved: '0.00000000',
  });
});

test('amounts of 38 digits keep every digit', async () => {
  const key = await fundedBalance(database.app, '123456789012345678901234567890.12345678');
  expect((await fund(database.app, key, '0.00000001')).available).toBe(
    '123456789012345678901234567890.12345679',
  );
});

test('the same operation key moves money once', async () => {
  const key = await fundedBalance(database.app, '100');
  const payout = buildPayoutMoney('30');
  const first = await postAlone(database.app, key, reservePosting(payout));
  const second = await postAlone(database.app, key, reservePosting(payout));
  expect(second).toEqual({ ...first, outcome: 'replayed' });
  expect(await versionsOf(key)).toEqual(['1', '2']);
});

test('a replay is recognised when the balance would no longer cover it', async () => {
  const key = await fundedBalance(database.app, '30');
  const payout = buildPayoutMoney('30');
  await postAlone(database.app, key, reservePosting(payout));
  expect((await postAlone(database.app, key, reservePosting(payout))).outcome).toBe('replayed');
});

test.each([
  ['the balance holds less', '29.99999999', '29.99999999'],
  ['there never was a balance', null, '0.00000000'],
])('%s: nothing moves', async (_why, funds, available) => {
  const key: BalanceKey =
    funds === null
      ? { accountId: await makeAccount(database.app), mode: 'test', currency: 'USDT' }
      : await fundedBalance(database.app, funds);
  const payout = buildPayoutMoney('30');
  expect(await postAlone(database.app, key, reservePosting(payout))).toEqual({
    outcome: 'insufficient',
    available,
    reserved: '0.00000000',
  });
  expect(await entriesOf(payout.id)).toEqual([]);
  expect(await versionsOf(key)).toHaveLength(funds === null ? 0 : 1);
  // A refusal leaves the key free: with more money the same payout can be reserved.
  await fund(database.app, key, '30');
  expect((await postAlone(database.app, key, reservePosting(payout))).outcome).toBe('posted');
});

test.each([
  ['is not covered', '31', 'insufficient'],
  ['was made before', '20', 'replayed'],
])('a posting at the commit that %s undoes its transaction', async (_what, total, outcome) => {
  const key = await fundedBalance(database.app, '30');
  const payout = buildPayoutMoney(total);
  if (outcome === 'replayed') await postAlone(database.app, key, reservePosting(payout));
  const work = database.app.transaction(async (tx) => {
    await tx.query("UPDATE accounts SET status = 'suspended' WHERE id = ?", [key.accountId]);
    postAtCommit(tx, key, reservePosting(payout));
  });
  await expect(work).rejects.toThrow(`ledger_post was ${outcome}`);
  const account = await database.app.query('SELECT status FROM accounts WHERE id = ?', [
    key.accountId,
  ]);
  expect(account).toEqual([{ status: 'active' }]);
});

test('nothing refers to a balance: a foreign key would lock the row that every posting updates', async () => {
  const sql =
    "SELECT conname FROM pg_constraint WHERE contype = 'f' AND confrelid = 'balances'::regclass";
  expect(await database.owner.query(sql)).toEqual([]);
});

test('one currency and one mode never pay for another', async () => {
  const key = await fundedBalance(database.app, '100');
  const payout = buildPayoutMoney('10');
  for (const other of [{ currency: 'USDC' }, { mode: 'live' }] as const) {
    const { outcome } = await postAlone(database.app, { ...key, ...other }, reservePosting(payout));
    expect(outcome).toBe('insufficient');
  }
  expect(await listBalances(database.app, key.accountId, 'live')).toEqual([]);
});

test('reserved cannot fall below zero: releasing what was never reserved raises', async () => {
  const key = await fundedBalance(database.app, '100');
  await expect(postAlone(database.app, key, returnPosting(buildPayoutMoney('1')))).rejects.toThrow(
    /balances_reserved_check/,
  );
  expect(await versionsOf(key)).toEqual(['1']);
});

test.each<[string, Partial<BalanceKey>]>([
  ['account', { accountId: newId('account') }],
  ['mode', { mode: 'live' }],
  ['currency', { currency: 'USDC' }],
])('an operation key used for another %s raises', async (_what, other) => {
  const key = await fundedBalance(database.app, '100');
  const posting = reservePosting(buildPayoutMoney('1'));
  await postAlone(database.app, key, posting);
  await expect(postAlone(database.app, { ...key, ...other }, posting)).rejects.toThrow(
    /belongs to another posting/,
  );
});

test.each<[string, (posting: Posting) => Posting]>([
  ['another source', (posting) => ofSource(posting, newId('payout'))],
  ['a larger amount', (posting) => ({ ...posting, lines: moved('2') })],
  ['fewer lines', ({ lines, ...posting }) => ({ ...posting, lines: lines.slice(0, -1) })],
  ['other accounts', (posting) => ({ ...posting, lines: [...moved('1')].reverse() })],
  ['another type', (posting) => ({ ...posting, type: 'payout_release' })],
])('an operation key used for %s raises, and nothing moves', async (_what, change) => {
  const key = await fundedBalance(database.app, '100');
  const posting = reservePosting(buildPayoutMoney('1'));
  await postAlone(database.app, key, posting);
  await expect(postAlone(database.app, key, change(posting))).rejects.toThrow(
    /belongs to another posting/,
  );
  expect(await versionsOf(key)).toHaveLength(2);
  expect((await postAlone(database.app, key, posting)).outcome).toBe('replayed');
});

test('a row of a batch that was reserved is a replay of its own posting', async () => {
  const key = await fundedBalance(database.app, '100');
  const payout = buildPayoutMoney('30', { service: '0.3', network: '1' });
  const { operationKey, description } = reservePosting(payout);
  const row = { operationKey, description, sourceId: payout.id, amount: payout.totalDebit };
  await database.app.transaction((tx) => reserveRows(tx, key, [row]));
  expect((await postAlone(database.app, key, reservePosting(payout))).outcome).toBe('replayed');
});

test.each<[TransactionType, 'payout' | 'payment', PostingLine['account'][]]>([
  ['payout_reserve', 'payout', ['available', 'reserved']],
  ['payout_release', 'payout', ['available', 'reserved']],
  ['payout_settlement', 'payout', ['reserved', 'provider_clearing', 'fee_income', 'network_cost']],
  ['payin_settlement', 'payment', ['available', 'provider_clearing', 'fee_income']],
  ['payin_refund', 'payment', ['available', 'provider_clearing', 'fee_income']],
])('a %s of a %s moves money of its own accounts only', async (type, object, own) => {
  const key = await fundedBalance(database.app, '100');
  const posted = await Promise.all(
    LEDGER_ACCOUNTS.map(async (account) => {
      const id = newId(object);
      const lines = [line(account, 'in', '1'), line(account, 'out', '1')];
      const description = 'A test of what is refused';
      const source = { object, id };
      const work = postAlone(database.app, key, {
        operationKey: id,
        type,
        description,
        source,
        lines,
      });
      return work.then(
        () => account,
        (error: unknown) => {
          expect(String(error)).toContain(`ledger_post does not post ${type} of a ${object}`);
          return null;
        },
      );
    }),
  );
  expect(posted.filter((account) => account !== null)).toEqual(own);
});

const LEDGER_ACCOUNTS = [
  'available',
  'reserved',
  'provider_clearing',
  'fee_income',
  'network_cost',
  'adjustments',
] as const;

const ofSource = (posting: Posting, id: string): Posting => ({
  ...posting,
  source: { ...posting.source, id },
});

const moved = (text: string): PostingLine[] => [
  line('available', 'out', text),
  line('reserved', 'in', text),
];

const line = (
  account: PostingLine['account'],
  direction: 'in' | 'out',
  text: string,
): PostingLine => ({
  account,
  direction,
  amount: text as Amount,
});

test.each<[string, PostingLine[], RegExp]>([
  ['in without out', [line('available', 'in', '5')], /unbalanced posting/],
  [
    'in and out differ by the smallest unit',
    [line('available', 'in', '5'), line('adjustments', 'out', '5.00000001')],
    /unbalanced posting/,
  ],
  [
    'a line of nothing',
    [line('available', 'in', '0'), line('adjustments', 'out', '0')],
    /ledger_entries_amount_check/,
  ],
  [
    'a negative line',
    [line('available', 'out', '-5'), line('adjustments', 'in', '-5')],
    /ledger_entries_amount_check/,
  ],
  [
    'an unknown account',
    [line('pocket' as 'available', 'in', '5'), line('adjustments', 'out', '5')],
    /ledger_entries_account_check/,
  ],
  [
    'an unknown direction',
    [line('available', 'up' as 'in', '5'), line('adjustments', 'out', '5')],
    /ledger_entries_direction_check|unbalanced posting/,
  ],
  [
    'an account below zero between two lines',
    [line('available', 'out', '200'), line('available', 'in', '200')],
    /ledger_entries_balance_after_check/,
  ],
  ['no lines at all', [], /has no lines/],
])('%s is refused and nothing moves', async (_what, lines, refusal) => {
  const key = await fundedBalance(database.app, '100');
  await expect(postAlone(database.app, key, rawPosting(lines))).rejects.toThrow(refusal);
  expect((await listBalances(database.app, key.accountId, 'test'))[0]?.available).toBe(
    '100.00000000',
  );
  expect(await versionsOf(key)).toEqual(['1']);
});

test('more than 8 decimals round alike in the balance and in the entries', async () => {
  const key = await fundedBalance(database.app, '1');
  const half = '0.000000005';
  const result = await postAlone(
    database.app,
    key,
    rawPosting([
      line('available', 'in', half),
      line('available', 'in', half),
      line('adjustments', 'out', '0.00000002'),
    ]),
  );
  const posted = await database.app.query<{ balanceAfter: string }>(
    `SELECT balance_after FROM ledger_entries JOIN ledger_transactions t ON t.id = transaction_id
      WHERE account_id = ? AND account = 'available' ORDER BY balance_version DESC, line DESC LIMIT 1`,
    [key.accountId],
  );
  expect(result.available).toBe('1.00000002');
  expect(posted[0]?.balanceAfter).toBe(result.available);
});

test('posted_at keeps growing when the clock steps back', async () => {
  const key = await fundedBalance(database.app, '100');
  await database.owner.query(
    compose('balances')
      .where({ account_id: key.accountId })
      .update({ last_posted_at: compose.raw("now() + interval '1 hour'") }),
  );
  await fund(database.app, key, '1');
  await fund(database.app, key, '1');
  const inOrder = await database.app.query<{ grows: boolean | null; ahead: boolean }>(
    `SELECT posted_at > lag(posted_at) OVER (ORDER BY balance_version) AS grows,
            posted_at > now() AS ahead
       FROM ledger_transactions WHERE account_id = ? ORDER BY balance_version`,
    [key.accountId],
  );
  expect(inOrder).toEqual([
    { grows: null, ahead: false },
    { grows: true, ahead: true },
    { grows: true, ahead: true },
  ]);
});

test.each([
  'UPDATE ledger_entries SET amount = amount + 1',
  'DELETE FROM ledger_entries',
  'TRUNCATE ledger_entries',
  "UPDATE ledger_transactions SET description = 'x'",
  'DELETE FROM ledger_transactions',
  'TRUNCATE ledger_transactions CASCADE',
])('even the owner may not: %s', async (sql) => {
  await expect(database.owner.query(sql)).rejects.toThrow(/append-only/);
});

test.each([
  'UPDATE balances SET available = available + 1',
  "INSERT INTO balances VALUES ('acc_x', 'test', 'USDT', 1, 0, 1, now())",
  'DELETE FROM balances',
  'TRUNCATE balances',
  "INSERT INTO ledger_transactions (id) VALUES ('txn_x')",
  "INSERT INTO ledger_entries VALUES ('txn_x', 1, 'available', 'in', 1, 1)",
  'UPDATE ledger_entries SET amount = amount',
  'DELETE FROM ledger_entries',
  'TRUNCATE ledger_entries',
  'ALTER TABLE ledger_entries DISABLE TRIGGER ALL',
  'DROP TABLE ledger_entries',
  'CREATE TABLE public.mine (id int)',
  'CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE sql AS $$ SELECT $$',
  "SET session_replication_role = 'replica'",
  'SET ROLE postgres',
])('the application may not: %s', async (sql) => {
  await expect(database.app.query(sql)).rejects.toThrow(/permission denied|must be owner/);
});

function rawPosting(lines: PostingLine[]): Posting {
  const id = newId('adjustment');
  return {
    operationKey: `${id}:adjustment`,
    type: 'adjustment',
    description: 'A test of what is refused',
    source: { object: 'adjustment', id },
    lines,
  };
}

/** The lines of a source's postings in posting order: account, direction, amount, balance after. */
async function entriesOf(sourceId: string): Promise<string[]> {
  const entries = await database.app.query<Record<string, string | null>>(
    `SELECT account, direction, amount, balance_after FROM ledger_entries
       JOIN ledger_transactions t ON t.id = transaction_id
      WHERE source_id = ? ORDER BY balance_version, line`,
    [sourceId],
  );
  return entries.map(
    (e) => `${e['account']} ${e['direction']} ${e['amount']} ${e['balanceAfter']}`,
  );
}

async function versionsOf(key: BalanceKey): Promise<string[]> {
  const versions = await database.app.query<{ balanceVersion: string }>(
    `SELECT balance_version FROM ledger_transactions
      WHERE account_id = ? AND mode = ? AND currency = ? ORDER BY balance_version`,
    [key.accountId, key.mode, key.currency],
  );
  return versions.map((row) => row.balanceVersion);
}
