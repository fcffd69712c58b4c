/** Batches in the database: who may change a row, and what is released. */
import { buildPayout, type PricedOrder } from '../../../activities/payout/build';
import { approvePayoutBatch } from '../../../activities/payout-batch/decide';
import {
  countHeldRows,
  insertBatchRows,
  readBatchProgress,
  releaseRows,
  reserveRows,
  takeRowsToLeaveOut,
  takeRowsToReturn,
} from '../../../src/db/payout-batches/payout-batch-rows';
import {
  BATCH_HAS_APPROVALS,
  readBatchApprovals,
} from '../../../src/db/payout-batches/payout-batch-decisions';
import {
  endBatchEarly,
  findPayoutBatch,
  getPayoutBatch,
  insertPayoutBatch,
  takeBatchTransition,
} from '../../../src/db/payout-batches/payout-batches';
import { takeTransition } from '../../../src/db/payouts/payouts';
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import { verifyLedger } from '../../../src/db/ledger/ledger-verify';
import { reservePosting } from '../../../src/domain/ledger';
import { amount } from '../../../src/domain/money';
import type { Payout } from '../../../src/domain/payout';
import type { PayoutBatch } from '../../../src/domain/payout-batch';
import { newId } from '../../../src/platform/lib/new-id';
import { manifestSha256 } from '../../../src/features/payout-batches/payout-batches-contract';
import { openTestDatabase } from '../../support/servers/database';
import { whenWaiting } from '../lock-waits';
import { fundedBalance } from '../../support/merchant/ledger';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ app: 4, owner: 1 }));

function buildRow({ accountId, mode, currency }: BalanceKey): Payout {
  const order: PricedOrder = {
    payoutId: newId('payout'),
    accountId,
    mode,
    apiKeyId: newId('apiKey'),
    request: {
      amount: amount('2'),
      currency,
      reference: newId('request'),
      destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
      network: 'tron',
      provider: null,
      description: null,
      metadata: { invoice: '7' },
    },
    route: { provider: 'onchain_provider', network: 'tron' },
    networkFee: amount('0.5'),
    now: new Date(),
  };
  return buildPayout(order, {
    serviceFee: amount('0.5'),
    totalDebit: amount('3'),
    feeTerms: { percentage: '25', fixedAmount: amount('0'), minFee: null, maxFee: null },
    reviewReasons: [],
    needsSecondPerson: false,
  });
}

/** A batch of three rows of 3 each, with its reservation. */
async function openBatch(
  status: PayoutBatch['status'] = 'requested',
  totals: PayoutBatch['totals'] = [],
) {
  const key = await fundedBalance(database.app, '100');
  const id = newId('payoutBatch');
  const payouts = [1, 2, 3].map((batchRow) => ({
    ...buildRow(key),
    batchId: id,
    batchRow,
    awaitsBatch: true,
  }));
  const batch: PayoutBatch = {
    ...key,
    id,
    reference: id,
    status,
    description: null,
    rowCount: payouts.length,
    leftOutRows: [],
    totals,
    manifestSha256: manifestSha256(payouts),
    apiKeyId: newId('apiKey'),
    reviewReasons: [],
    secondPerson: null,
    secondPersonUntil: null,
    awaitsSecondPerson: false,
    approvedBy: null,
    approvedAt: null,
    ending: null,
    endedBy: null,
    endingReason: null,
    endingAt: null,
    closedAt: null,
    closedProgress: null,
    sequence: 1,
    createdAt: new Date(),
    updatedAt: new Date(),
  };
  await database.app.transaction(async (tx) => {
    await insertPayoutBatch(tx, batch);
    expect(await insertBatchRows(tx, payouts)).toBe(3);
    const reserved = payouts.map((payout) => {
      const { operationKey, description } = reservePosting(payout);
      return { operationKey, description, sourceId: payout.id, amount: payout.totalDebit };
    });
    expect(await reserveRows(tx, key, reserved)).toMatchObject({ outcome: 'posted' });
  });
  return { id, key, payouts };
}

const approve = (id: string) =>
  database.app.transaction((tx) =>
    takeBatchTransition(tx, id, 'approve', { approvedBy: 'olivia' }, 'true'),
  );
const stop = (id: string) =>
  database.app.transaction((tx) =>
    endBatchEarly(tx, id, { ending: 'stop', by: null, reason: null }),
  );
const release = (id: string) =>
  database.app
    .transaction((tx) => releaseRows(tx, id, 10))
    .then((released) => released.map((row) => row.id));

test('one update of the balance reserves all rows, each with a transaction of its own', async () => {
  const { key, payouts } = await openBatch();
  const [balance] = await database.app.query(
    'SELECT available, reserved FROM balances WHERE account_id = ?',
    [key.accountId],
  );
  expect(balance).toEqual({ available: '91.00000000', reserved: '9.00000000' });
  const entries = await database.app.query(
    `SELECT t.source_id, e.account, e.balance_after
       FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.account_id = ? AND t.type = 'payout_reserve' ORDER BY t.balance_version, e.line`,
    [key.accountId],
  );
  expect(entries).toEqual(
    payouts.flatMap(({ id: sourceId }, n) => [
      { sourceId, account: 'available', balanceAfter: amount(String(97 - 3 * n)) },
      { sourceId, account: 'reserved', balanceAfter: amount(String(3 + 3 * n)) },
    ]),
  );
  const broken = (await verifyLedger(database.app)).filter(
    (one) => one.broken > 0 && one.number <= 3,
  );
  expect(broken).toEqual([]);
});

test('a balance that covers all rows to the last unit reserves them', async () => {
  const key = await fundedBalance(database.app, '6');
  const reserved = [1, 2].map((n) => ({
    operationKey: `${key.accountId}:${n}`,
    sourceId: newId('payout'),
    description: 'all of it',
    amount: amount('3'),
  }));
  const result = await database.app.transaction((tx) => reserveRows(tx, key, reserved));
  expect(result).toEqual({ outcome: 'posted', available: '0.00000000' });
});

test('a balance that does not cover all rows reserves none', async () => {
  const key = await fundedBalance(database.app, '5');
  const reserved = [1, 2].map((n) => ({
    operationKey: `${key.accountId}:${n}`,
    sourceId: newId('payout'),
    description: 'too much',
    amount: amount('3'),
  }));
  const result = await database.app.transaction((tx) => reserveRows(tx, key, reserved));
  expect(result).toEqual({ outcome: 'insufficient', available: '5.00000000' });
});

test('no transition changes a row that waits for its batch', async () => {
  const { id, payouts } = await openBatch();
  const [first] = payouts;
  for (const trigger of ['approve', 'reject', 'cancel'] as const) {
    expect(
      await database.app.transaction((tx) => takeTransition(tx, first!.id, trigger, {})),
    ).toBeNull();
  }
  await approve(id);
  await release(id);
  expect(
    await database.app.transaction((tx) => takeTransition(tx, first!.id, 'approve', {})),
  ).toMatchObject({
    status: 'approved',
  });
});

test('rows are released only while the batch is processed', async () => {
  const { id, payouts } = await openBatch();
  expect(await release(id)).toEqual([]);
  await approve(id);
  expect(await release(id)).toEqual(payouts.map((payout) => payout.id));
  expect(await release(id)).toEqual([]);
});

test('released rows that have been in doubt for a while wait for a person', async () => {
  const { id, payouts } = await openBatch();
  await approve(id);
  await release(id);
  const set = (row: number, minutes: number) =>
    database.owner.query(
      `UPDATE payouts SET status = 'approved', submission_started_at = now(),
              in_doubt_since = now() - ? * interval '1 minute' WHERE id = ?`,
      [minutes, payouts[row]!.id],
    );
  await set(0, 20);
  await set(1, 1);
  expect(await countHeldRows(database.app, id)).toBe(1);
});

test('nothing is released after a stop', async () => {
  const { id } = await openBatch();
  await approve(id);
  await stop(id);
  expect(await release(id)).toEqual([]);
  expect(await database.app.transaction((tx) => takeRowsToReturn(tx, id, 10))).toHaveLength(3);
});

test('a row is left out only of a batch that nobody has approved or ended', async () => {
  const leaveOut = (id: string) =>
    database.app.transaction((tx) => takeRowsToLeaveOut(tx, id, [2]));
  const { id, payouts } = await openBatch();
  expect(await leaveOut(id)).toMatchObject([{ id: payouts[1]?.id, awaitsBatch: false }]);
  expect(await leaveOut(id)).toEqual([]);
  const approved = await openBatch();
  await approve(approved.id);
  expect(await leaveOut(approved.id)).toEqual([]);
  const stopped = await openBatch();
  await stop(stopped.id);
  expect(await leaveOut(stopped.id)).toEqual([]);
});

test('an operator approves no batch that was stopped, and none with other rows', async () => {
  const [stopped, other, whole] = await Promise.all([
    openBatch('under_review'),
    openBatch('under_review'),
    openBatch('under_review'),
  ]);
  await stop(stopped.id);
  const deps = {
    db: database.app,
    webhookDeliveryStarter: { start: () => undefined, lookFor: () => undefined },
    consoleUrl: null,
  };
  const approveFor = async ({ id, payouts }: typeof whole, rows = payouts) => {
    await approvePayoutBatch(deps, id, 'olivia', manifestSha256(rows));
    return (await findPayoutBatch(database.app, id))?.approvedBy;
  };
  expect(await approveFor(stopped)).toBeNull();
  expect(await approveFor(other, other.payouts.slice(1))).toBeNull();
  expect(await approveFor(whole)).toBe('olivia');
});

test('of an approval and a stop at the same moment, a stop always ends the release', async () => {
  for (let n = 0; n < 20; n += 1) {
    const { id } = await openBatch();
    await Promise.all([approve(id), stop(id), release(id), release(id)]);
    const waiting = await database.app.transaction((tx) => takeRowsToReturn(tx, id, 10));
    const batch = await findPayoutBatch(database.app, id);
    expect(batch?.ending).toBe('stop');
    expect(await release(id)).toEqual([]);
    const counted = await database.app.query(
      'SELECT count(*)::int AS n FROM payouts WHERE batch_id = ? AND awaits_batch',
      [id],
    );
    expect([counted, waiting.length <= 3]).toEqual([[{ n: 0 }], true]);
  }
});

test('a stop waits for a release at the same moment, and its answer counts the released rows', async () => {
  const { id } = await openBatch();
  await approve(id);
  let answer: Promise<unknown> = Promise.resolve();
  await database.app.transaction(async (tx) => {
    await releaseRows(tx, id, 2);
    answer = database.app.transaction(async (other) => {
      await endBatchEarly(other, id, { ending: 'stop', by: null, reason: null });
      return readBatchProgress(other, id);
    });
    await whenWaiting(database.app, 1);
  });
  expect(await answer).toMatchObject({ waiting: 1, processing: 2 });
});

describe('a batch under review whose rows are below each threshold', () => {
  const total = (currency: string, sum: string) => ({
    currency,
    rows: 3,
    amount: amount(sum),
    serviceFee: amount('0'),
    networkFee: amount('0'),
    totalDebit: amount(sum),
  });
  const setThreshold = (currency: string, line: string) =>
    database.owner.query(
      `INSERT INTO four_eyes_thresholds (currency, amount) VALUES (?, ?)
       ON CONFLICT (currency) DO UPDATE SET amount = excluded.amount`,
      [currency, line],
    );
  const isApproved = async (id: string) => {
    const change = { approvedBy: 'olivia' };
    const approved = await database.app.transaction((tx) =>
      takeBatchTransition(tx, id, 'approve', change, BATCH_HAS_APPROVALS),
    );
    return approved !== null;
  };
  const reviewed = () => openBatch('under_review', [total('USDT', '900'), total('BTC', '0.3')]);

  beforeEach(async () => {
    await setThreshold('USDT', '1000');
    await setThreshold('BTC', '1');
  });
  afterAll(() => database.owner.query('DELETE FROM four_eyes_thresholds'));

  test.each([
    ['USDT', '899.99999999'],
    ['BTC', '0.29999999'],
  ])('needs two operators once that of %s is lowered below the sum', async (currency, line) => {
    const { id } = await reviewed();
    await setThreshold(currency, line);
    expect(await isApproved(id)).toBe(false);
    expect(await readBatchApprovals(database.app, id)).toEqual({ approvals: 0 });
  });

  test('goes to review if nobody had to review it before, unless it has ended', async () => {
    const nobody = () => Promise.resolve();
    const webhookDeliveryStarter = { start: nobody, lookFor: nobody };
    const deps = { db: database.app, webhookDeliveryStarter, consoleUrl: null };
    const { id, payouts } = await openBatch('requested', [total('USDT', '900')]);
    const stopped = await openBatch('requested', [total('USDT', '900')]);
    const live = `UPDATE payout_batches SET mode = 'live' WHERE id IN (?, ?)`;
    await database.owner.query(live, [id, stopped.id]);
    const manifest = manifestSha256(payouts);
    const step = (applied: boolean, status: PayoutBatch['status']) =>
      expect.objectContaining({ applied, state: expect.objectContaining({ status }) });
    expect(await approvePayoutBatch(deps, id, null, 'other rows')).toEqual(
      step(false, 'requested'),
    );
    await setThreshold('USDT', '899');
    for (let again = 0; again < 2; again += 1) {
      expect(await approvePayoutBatch(deps, id, null, manifest)).toEqual(
        step(false, 'under_review'),
      );
    }
    expect(await getPayoutBatch(database.app, id)).toMatchObject({
      reviewReasons: ['above_four_eyes_threshold'],
      sequence: 2,
      closedAt: null,
    });
    await stop(stopped.id);
    expect(
      await approvePayoutBatch(deps, stopped.id, null, manifestSha256(stopped.payouts)),
    ).toEqual(step(false, 'requested'));
    await setThreshold('USDT', '900');
    expect(await approvePayoutBatch(deps, id, null, manifest)).toEqual(step(true, 'processing'));
  });

  test('needs one operator when a sum is equal to the threshold', async () => {
    const { id } = await reviewed();
    await setThreshold('USDT', '900');
    expect(await readBatchApprovals(database.app, id)).toBeNull();
    expect(await isApproved(id)).toBe(true);
  });
});

test.each([
  ['two releases', releaseRows, releaseRows],
  ['a release and a return', releaseRows, takeRowsToReturn],
  ['two returns', takeRowsToReturn, takeRowsToReturn],
])('%s at the same moment take each row once', async (_what, first, second) => {
  const { id, payouts } = await openBatch();
  await approve(id);
  if (first === takeRowsToReturn) await stop(id);
  let waiting: Promise<Payout[]> = Promise.resolve([]);
  const taken: Payout[] = await database.app.transaction(async (tx) => {
    const rows = await first(tx, id, 2);
    // A stop waits for the release, and the return comes after it.
    const before = second === takeRowsToReturn ? stop(id) : Promise.resolve(null);
    waiting = before.then(() => database.app.transaction((other) => second(other, id, 10)));
    await whenWaiting(database.app, 1);
    return rows;
  });
  const all = [...taken, ...(await waiting)].map((row) => row.id);
  expect(all.sort()).toEqual(payouts.map((payout) => payout.id).sort());
});
