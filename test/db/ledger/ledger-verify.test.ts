/**
 * The ledger's invariants hold on a ledger made by real postings, and each catches its break.
 * Breaks are made as the superuser with triggers and checks out of the way: nothing else can.
 */
import type { Db } from '../../../src/db/transaction';
import { checkLedger, noteLateLedgerCheck } from '../../../activities/ledger-check';
import { connect } from '../../../src/db/connect';
import { LEDGER_INVARIANTS } from '../../../src/db/ledger/ledger-invariants';
import { proveChanges, readProvenAt, verifyLedger } from '../../../src/db/ledger/ledger-verify';
import { type BalanceKey, post } from '../../../src/db/ledger/ledger';
import { returnPosting, reservePosting, settlementPosting } from '../../../src/domain/ledger';
import { isFinalPayout, PAYOUT_STATUSES } from '../../../src/domain/payout';
import { compose, createTestDatabase, type TestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  creditPayment,
  fund,
  fundedBalance,
  insertPayout,
  makeAccount,
  postAlone,
  refundPayment,
} from '../../support/merchant/ledger';

let filled: TestDatabase;
let database: TestDatabase;
let app: Db;

const connectAs = ({ appUrl }: TestDatabase) =>
  connect({ url: appUrl, size: 4, applicationName: 'ledger-verify-test' });

beforeAll(async () => {
  filled = await createTestDatabase();
  app = connectAs(filled);
  const accountId = await makeAccount(app);
  await fillBalance(await fundedBalance(app, '1000', { accountId }));
  await fillBalance(await fundedBalance(app, '1000', { accountId, mode: 'live' }));
  await fillBalance(await fundedBalance(app, '1000', { currency: 'BTC' }));
  await app.destroy();
});

afterAll(() => filled.drop());

/** Each test breaks a copy. */
beforeEach(async () => {
  database = await createTestDatabase(filled.name);
  app = connectAs(database);
});

afterEach(async () => {
  await app.destroy();
  await database.drop();
});

test('every invariant holds, and each looked at something', async () => {
  const results = await verifyLedger(app, 2);
  expect(results.filter((result) => result.broken > 0)).toEqual([]);
  expect(results.map(({ number, checked }) => ({ number, checked }))).toEqual([
    // Per balance 17 transactions: 3 adjustments, 8 reserves, 1 settlement, 3 releases, 1 credit,
    // 1 refund.
    { number: 1, checked: 51 },
    { number: 2, checked: 3 },
    { number: 3, checked: 123 },
    { number: 4, checked: 123 },
    { number: 5, checked: 3 },
    { number: 6, checked: 24 },
    { number: 7, checked: 3 },
    { number: 9, checked: 3 },
    { number: 10, checked: 27 },
    { number: 11, checked: 51 },
    { number: 13, checked: 3 },
  ]);
});

test('an empty ledger is clean', async () => {
  const empty = await createTestDatabase();
  const db = connect({ url: empty.appUrl, size: 2, applicationName: 'ledger-verify-empty' });
  const results = await verifyLedger(db);
  await db.destroy();
  await empty.drop();
  expect(results.filter((result) => result.broken > 0)).toEqual([]);
});

test('it stays clean while postings go on', async () => {
  const key = await fundedBalance(app, '1');
  const done = new AbortController();
  const work = (async () => {
    for (let n = 0; !done.signal.aborted; n++)
      await fund(app, key, '1', n % 2 === 0 ? 'out' : 'in');
  })();
  try {
    for (let round = 0; round < 5; round++) {
      expect((await verifyLedger(app, 2)).filter((result) => result.broken > 0)).toEqual([]);
    }
  } finally {
    done.abort();
    await work;
  }
});

test('a posting that is not committed is not seen, and does not block', async () => {
  const key = await fundedBalance(app, '1');
  const tx = await app.begin();
  await post(tx, key, reservePosting(buildPayoutMoney('1')));
  const results = await verifyLedger(app, 2);
  await tx.rollback();
  expect(results.filter((result) => result.broken > 0)).toEqual([]);
});

test('20 rows are shown, and all are counted', async () => {
  await breakLedger('UPDATE payouts SET total_debit = total_debit + 1, amount = amount + 1');
  const six = (await verifyLedger(app, 2)).find((result) => result.number === 6)!;
  expect({ shown: six.rows.length, broken: six.broken }).toEqual({ shown: 20, broken: 24 });
});

describe('the check of what changed', () => {
  test('checks only what changed since the last proof', async () => {
    expect(await checkedByProof()).toMatchObject({ transactions: 51, payouts: 24 });
    expect(await checkedByProof()).toMatchObject({ transactions: 0, payouts: 0 });
    const key = await fundedBalance(app, '100');
    const payout = buildPayoutMoney('10');
    await insertPayout(app, key, payout, 'approved');
    await postAlone(app, key, reservePosting(payout));
    expect(await checkedByProof()).toMatchObject({ transactions: 2, payouts: 1 });
    await app.query(
      compose('payouts').where({ id: payout.id }).update({ status: 'rejected', sequence: 2 }),
    );
    await app.query(
      compose('events').insert({
        id: `evt_of_${payout.id}`,
        account_id: key.accountId,
        mode: key.mode,
        type: 'payout.rejected',
        object_id: payout.id,
        sequence: 2,
        body: Buffer.from(JSON.stringify({ data: { id: payout.id, status: 'rejected' } })),
      }),
    );
    await postAlone(app, key, returnPosting(payout));
    // Both postings of the payout, and not the balance's other transaction.
    expect(await checkedByProof()).toMatchObject({ transactions: 2, payouts: 1 });
  });

  test('a transaction that commits after the proof is checked by the next one', async () => {
    await checkedByProof();
    const key = await fundedBalance(app, '100');
    const payout = buildPayoutMoney('10');
    const late = await app.begin();
    await insertPayout(late, key, payout, 'approved');
    // Later transactions of other accounts commit first, and are proven.
    await fundedBalance(app, '5');
    expect(await checkedByProof()).toMatchObject({ transactions: 2, payouts: 0 });
    await late.commit();
    // Its reserve was never posted.
    expect(await brokenByProof()).toEqual([5, 6]);
  });

  test('a broken invariant is reported until it is mended, and nothing is noted as proven', async () => {
    await checkedByProof();
    const before = await readProvenAt(app);
    await app.query(
      compose('payouts').whereRaw(`id = ${A_COMPLETED_PAYOUT}`).update({ status: 'failed' }),
    );
    expect(await brokenByProof()).toEqual([6, 10]);
    expect(await brokenByProof()).toEqual([6, 10]);
    expect(await readProvenAt(app)).toEqual(before);
  });

  test('a balance that was changed by hand after its proof is found', async () => {
    await checkedByProof();
    await breakLedger(`UPDATE balances SET available = available + 1 WHERE ${ONE_BALANCE}`);
    expect(await brokenByProof()).toEqual([2, 3]);
  });

  test('a check that takes too long is cancelled, also its SQL, and becomes a case', async () => {
    const blocker = connectOwner();
    try {
      await blocker.query('BEGIN');
      await blocker.query('LOCK TABLE payouts IN ACCESS EXCLUSIVE MODE');
      await expect(checkLedger(app, 300)).rejects.toThrow('statement timeout');
      const running = await blocker.query(
        `SELECT query FROM pg_stat_activity
          WHERE application_name = 'ledger-verify-test' AND state <> 'idle'`,
      );
      expect(running).toEqual([]);
      await blocker.query('ROLLBACK');
    } finally {
      await blocker.destroy();
    }
    expect(await openCases()).toEqual(['ledger_not_checked']);
    await checkLedger(app);
    expect(await openCases()).toEqual([]);
  });

  test('a check that is late becomes a case', async () => {
    await noteLateLedgerCheck(app);
    expect(await openCases()).toEqual([]);
    await noteLateLedgerCheck(app, 0);
    expect(await openCases()).toEqual(['ledger_not_checked']);
  });
});

async function checkedByProof() {
  const results = await proveChanges(app, { timeoutMs: 60_000 });
  expect(results.filter(({ broken }) => broken > 0)).toEqual([]);
  const checked = (number: number) => results.find((result) => result.number === number)?.checked;
  return { transactions: checked(1), payouts: checked(6) };
}

async function brokenByProof(): Promise<number[]> {
  const results = await proveChanges(app, { timeoutMs: 60_000 });
  return results.filter(({ broken }) => broken > 0).map(({ number }) => number);
}

async function openCases(): Promise<string[]> {
  const found = await app.query<{ kind: string }>(
    compose('cases').whereNull('resolved_at').select('kind'),
  );
  return found.map(({ kind }) => kind);
}

function connectOwner(): Db {
  return connect({ url: database.ownerUrl, size: 1, applicationName: 'ledger-break' });
}

const A_RESERVE = "(SELECT min(id) FROM ledger_transactions WHERE type = 'payout_reserve')";
const AN_OPEN_PAYOUT = "(SELECT min(id) FROM payouts WHERE status = 'approved')";
const A_COMPLETED_PAYOUT = "(SELECT min(id) FROM payouts WHERE status = 'completed')";
const A_SETTLEMENT = `(SELECT id FROM ledger_transactions
  WHERE type = 'payout_settlement' AND source_id = ${A_COMPLETED_PAYOUT})`;
const ONE_BALANCE = "(mode, currency) = ('test', 'USDT')";

/** What is broken, how, and all invariants that must say so. */
const BREAKS: [what: string, sql: string, caughtBy: number[]][] = [
  ['a credit has another amount', 'UPDATE payment_credits SET amount = amount + 1', [7]],
  ['a credit has no posting', "UPDATE payment_credits SET provider_transfer_id = 'other'", [7]],
  ['a payment says that it was credited more', 'UPDATE payments SET credited_amount = 6', [7]],
  ['a payment says another fee', 'UPDATE payments SET service_fee = 0', [7]],
  ['a payment says that less went back', 'UPDATE payments SET reversed_amount = 0', [7]],
  ['a payment says that no fee was given up', 'UPDATE payments SET reversed_fee = 0', [7]],
  ['a refund has another amount', 'UPDATE payment_refunds SET taken = taken + 1', [7]],
  ['a refund has no posting', "UPDATE payment_refunds SET reference = 'other'", [7]],
  ['a refund was refused and not returned', "UPDATE payment_refunds SET state = 'refused'", [7]],
  ['more went back than was taken', 'UPDATE payment_refunds SET amount = amount + 1', [13]],
  [
    'an answer speaks of a payment that is not there',
    "UPDATE idempotency_keys SET object_id = 'pay_other' WHERE key = 'BTC'",
    [9],
  ],
  [
    'an answer names another payment',
    `UPDATE idempotency_keys SET response_body = '{"data":{"id":"pay_other"}}' WHERE key = 'BTC'`,
    [9],
  ],
  [
    'an answer was given to somebody else',
    "UPDATE idempotency_keys SET account_id = 'acc_other' WHERE key = 'BTC'",
    [9],
  ],
  [
    'two payouts have one reference',
    `ALTER TABLE payouts DROP CONSTRAINT payouts_account_id_mode_reference_key;
     UPDATE payouts SET reference = 'same' WHERE (mode, currency) = ('live', 'USDT')`,
    [9],
  ],
  [
    'two payments have one reference',
    `ALTER TABLE payments DROP CONSTRAINT payments_account_id_mode_reference_key;
     UPDATE payments SET account_id = (SELECT min(account_id) FROM payments), reference = 'same'`,
    [9, 11],
  ],
  ['an event is missing', `DELETE FROM events WHERE object_id = ${A_COMPLETED_PAYOUT}`, [10]],
  [
    'a status change has no event',
    `UPDATE payouts SET sequence = 2 WHERE id = ${A_COMPLETED_PAYOUT}`,
    [10],
  ],
  [
    'the events begin at 2',
    `UPDATE events SET sequence = 2 WHERE object_id = ${A_COMPLETED_PAYOUT};
     UPDATE payouts SET sequence = 2 WHERE id = ${A_COMPLETED_PAYOUT}`,
    [10],
  ],
  ['the last event says something else', "UPDATE payments SET status = 'underpaid'", [10]],
  [
    'an event is about nothing',
    `UPDATE events SET object_id = 'po_other' WHERE object_id = ${A_COMPLETED_PAYOUT}`,
    [10],
  ],
  [
    'an amount of a platform account was changed',
    `UPDATE ledger_entries SET amount = amount + 0.00000001
      WHERE transaction_id = ${A_SETTLEMENT} AND account = 'fee_income'`,
    [1, 2],
  ],
  [
    'the entries of a transaction are gone',
    `DELETE FROM ledger_entries WHERE transaction_id = ${A_RESERVE}`,
    [1, 3, 6],
  ],
  [
    'a balance was given money',
    `UPDATE balances SET available = available + 1 WHERE ${ONE_BALANCE}`,
    [2, 3],
  ],
  [
    'money moved between two balances by hand',
    `UPDATE balances SET available = available + CASE mode WHEN 'test' THEN 1 ELSE -1 END
      WHERE currency = 'USDT'`,
    [2, 3],
  ],
  [
    'reserved was made available by hand',
    `UPDATE balances SET available = available + 1, reserved = reserved - 1 WHERE ${ONE_BALANCE}`,
    [3, 5],
  ],
  [
    'a balance_after is wrong',
    `UPDATE ledger_entries SET balance_after = balance_after + 1
      WHERE transaction_id = ${A_RESERVE} AND account = 'available'`,
    [3],
  ],
  [
    'a balance_after between two lines of one account is wrong',
    `UPDATE ledger_entries e SET balance_after = balance_after + 1
       FROM ledger_transactions t
      WHERE t.id = e.transaction_id AND t.type = 'payin_settlement'
        AND e.account = 'available' AND e.direction = 'in'`,
    [3],
  ],
  [
    'a balance_after is missing',
    `ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_check;
     UPDATE ledger_entries SET balance_after = NULL
      WHERE transaction_id = ${A_RESERVE} AND account = 'reserved'`,
    [3],
  ],
  [
    'a version was left out',
    `UPDATE ledger_transactions SET balance_version = balance_version + 100
      WHERE id = (SELECT max(id) FROM ledger_transactions)`,
    [3],
  ],
  [
    'the versions begin at 0',
    'UPDATE ledger_transactions SET balance_version = 0 WHERE balance_version = 1',
    [3],
  ],
  [
    'posted_at steps back',
    `UPDATE ledger_transactions SET posted_at = posted_at - interval '1 day'
      WHERE id = ${A_RESERVE}`,
    [3],
  ],
  ['a balance is gone', `DELETE FROM balances WHERE ${ONE_BALANCE}`, [2, 3, 5, 11]],
  [
    'a balance nobody posted to',
    "INSERT INTO balances VALUES ('acc_x', 'test', 'USDT', 0, 0, 1, now())",
    [3],
  ],
  [
    'an entry went below zero',
    `ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_balance_after_check;
     UPDATE ledger_entries SET balance_after = -balance_after
      WHERE transaction_id = ${A_RESERVE} AND account = 'available'`,
    [3, 4],
  ],
  [
    'a balance is below zero',
    `ALTER TABLE balances DROP CONSTRAINT balances_reserved_check;
     UPDATE balances SET reserved = -1 WHERE ${ONE_BALANCE}`,
    [2, 3, 4, 5],
  ],
  [
    'a payout was ended without a posting',
    `UPDATE payouts SET status = 'cancelled' WHERE id = ${AN_OPEN_PAYOUT}`,
    [5, 6, 10],
  ],
  [
    'a payout is open again after its end',
    `UPDATE payouts SET status = 'processing' WHERE id = ${A_COMPLETED_PAYOUT}`,
    [5, 6, 10],
  ],
  [
    'a settled payout says failed',
    `UPDATE payouts SET status = 'failed' WHERE id = ${A_COMPLETED_PAYOUT}`,
    [6, 10],
  ],
  [
    'a payout is worth more than was reserved',
    `UPDATE payouts SET amount = amount + 1, total_debit = total_debit + 1
      WHERE id = ${A_COMPLETED_PAYOUT}`,
    [6],
  ],
  ['a payout is gone', `DELETE FROM payouts WHERE id = ${A_COMPLETED_PAYOUT}`, [6, 10]],
  [
    'a payout was settled twice',
    `UPDATE ledger_transactions SET type = 'payout_settlement', source_object = 'payout',
            source_id = ${A_COMPLETED_PAYOUT}
      WHERE id = (SELECT max(t.id) FROM ledger_transactions t JOIN payouts p
                  USING (account_id, mode, currency)
                  WHERE t.type = 'adjustment' AND p.id = ${A_COMPLETED_PAYOUT})`,
    [6],
  ],
  [
    'a payout was reserved twice',
    `UPDATE ledger_transactions SET source_id = ${A_COMPLETED_PAYOUT}
      WHERE type = 'payout_reserve' AND source_id = ${AN_OPEN_PAYOUT}`,
    [6],
  ],
  [
    'a payout changed its mode',
    `UPDATE payouts SET mode = CASE mode WHEN 'test' THEN 'live' ELSE 'test' END
      WHERE id = ${A_COMPLETED_PAYOUT}`,
    [11],
  ],
  [
    'a payment changed its currency',
    "UPDATE payments SET currency = 'ETH' WHERE currency = 'BTC'",
    [11],
  ],
  [
    'a payout was asked for with a key of the other mode',
    `INSERT INTO api_keys (id, account_id, mode, name, secret_hash, display_prefix, last_four, scopes)
     SELECT api_key_id, account_id, CASE mode WHEN 'test' THEN 'live' ELSE 'test' END, 'x', 'x',
            'x', 'x', '{}'
       FROM payouts WHERE id = ${A_COMPLETED_PAYOUT}`,
    [11],
  ],
  [
    'an event of the other mode',
    `UPDATE events SET mode = CASE mode WHEN 'test' THEN 'live' ELSE 'test' END
      WHERE object_id = ${A_COMPLETED_PAYOUT}`,
    [11],
  ],
];

test.each(BREAKS)('%s', async (_what, sql, caughtBy) => {
  await breakLedger(sql);
  const broken = (await verifyLedger(app, 2)).filter((result) => result.broken > 0);
  expect(broken.map((result) => result.number)).toEqual(caughtBy);
  for (const { rows } of broken) expect(rows.length).toBeGreaterThan(0);
});

test('no invariant goes without a break that shows it', () => {
  const shown = new Set(BREAKS.flatMap(([, , caughtBy]) => caughtBy));
  expect(LEDGER_INVARIANTS.filter(({ number }) => !shown.has(number))).toEqual([]);
});

/** One payout in each state, fees included, between two adjustments. */
async function fillBalance(key: BalanceKey): Promise<void> {
  for (const status of PAYOUT_STATUSES) {
    const payout = buildPayoutMoney('10', { service: '0.1', network: '1.23456789' });
    await insertPayout(app, key, payout, status);
    await postAlone(app, key, reservePosting(payout));
    if (!isFinalPayout(status)) continue;
    const end = status === 'completed' ? settlementPosting : returnPosting;
    await postAlone(app, key, end(payout));
  }
  const paymentId = await creditPayment(app, key, '5', '0.05');
  await refundPayment(app, key, paymentId, { taken: '0.99', fee: '0.01' });
  await storeAnswer(key, paymentId);
  await fund(app, key, '3', 'out');
  await fund(app, key, '2.5');
}

/** What the client that created the object was told. */
async function storeAnswer({ accountId, mode, currency }: BalanceKey, id: string): Promise<void> {
  await app.query(
    compose('idempotency_keys').insert({
      account_id: accountId,
      mode,
      key: currency,
      body_hash: Buffer.alloc(32),
      object_id: id,
      state: 'done',
      lease_until: new Date(),
      response_status: 201,
      response_body: Buffer.from(JSON.stringify({ data: { id } })),
      completed_at: new Date(),
    }),
  );
}

async function breakLedger(sql: string): Promise<void> {
  const owner = connectOwner();
  try {
    await owner.query("SET session_replication_role = 'replica'");
    await owner.query(sql);
  } finally {
    await owner.destroy();
  }
}
