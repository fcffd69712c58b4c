/** The lists of states in CHECK constraints and index predicates are those of src/domain. */
import { DIFFERENCE_KINDS } from '../../../src/domain/cases';
import { TRANSACTION_TYPES } from '../../../src/domain/ledger';
import { MODES } from '../../../src/domain/mode';
import {
  CREDITED_LATER_STATUSES,
  OPEN_PAYMENT_STATUSES,
  PAYMENT_DECISIONS,
  PAYMENT_STATUSES,
  SEEN_PAYMENT_STATUSES,
} from '../../../src/domain/payment';
import { DECISION_OUTCOMES } from '../../../src/domain/payout-decision';
import {
  isFinalPayout,
  OPEN_PAYOUT_GROUP,
  OPEN_PAYOUT_STATUSES,
  PAYOUT_FINAL_POSTING,
  PAYOUT_STATUSES,
  type PayoutStatus,
  payoutStatusGroup,
} from '../../../src/domain/payout';
import { WEBHOOK_DELIVERY_STATUSES } from '../../../src/domain/webhook-delivery';
import { differencesSql } from '../../../src/db/books/reconciliation-differences';
import { buildPayoutMoney, fundedBalance, insertPayout } from '../../support/merchant/ledger';
import { startHarness } from '../http-harness';
import { started } from '../../support/started';
import { compose } from '../../support/servers/database';

const harness = started(startHarness);

/** Every text constant in a piece of SQL, as PostgreSQL prints it: 'open'::text. */
function constantsOf(sql: string | undefined): string[] {
  const found = [...(sql ?? '').matchAll(/'([^']*)'/g)].map(([, value]) => value ?? '');
  return [...new Set(found)].sort();
}

test.each<[constraint: string, values: readonly string[]]>([
  ['payouts_status_check', PAYOUT_STATUSES],
  ['payments_status_check', PAYMENT_STATUSES],
  ['payment_decisions_kind_check', PAYMENT_DECISIONS],
  ['webhook_deliveries_status_check', WEBHOOK_DELIVERY_STATUSES],
  ['ledger_transactions_type_check', TRANSACTION_TYPES],
  ['payouts_mode_check', MODES],
  ['payments_mode_check', MODES],
  ['payout_decisions_outcome_check', DECISION_OUTCOMES],
])('%s allows what the domain knows', async (constraint, values) => {
  const [found] = await harness.owner.query<{ sql: string }>(
    'SELECT pg_get_constraintdef(oid) AS sql FROM pg_constraint WHERE conname = ?',
    [constraint],
  );
  expect(constantsOf(found?.sql)).toEqual([...values].sort());
});

test.each<[index: string, values: readonly string[]]>([
  ['payouts_open', [OPEN_PAYOUT_GROUP]],
  ['payments_open', OPEN_PAYMENT_STATUSES],
  ['payments_uncredited', [...SEEN_PAYMENT_STATUSES, ...CREDITED_LATER_STATUSES]],
  ['payments_late_money', CREDITED_LATER_STATUSES],
  ['webhook_deliveries_open', ['pending']],
  [
    'webhook_deliveries_unsuccessful',
    WEBHOOK_DELIVERY_STATUSES.filter((status) => status !== 'pending' && status !== 'succeeded'),
  ],
])('%s holds the rows that the queries look for', async (index, values) => {
  const [found] = await harness.owner.query<{ sql: string }>(
    `SELECT pg_get_expr(indpred, indrelid) AS sql FROM pg_index
      WHERE indexrelid = ?::regclass`,
    [index],
  );
  expect(constantsOf(found?.sql)).toEqual([...values].sort());
});

test('the groups of payout statuses in the database are those of the domain', async () => {
  const [found] = await harness.owner.query<{ sql: string }>(
    `SELECT pg_get_expr(adbin, adrelid) AS sql
       FROM pg_attrdef JOIN pg_attribute ON (attrelid, attnum) = (adrelid, adnum)
      WHERE attrelid = 'payouts'::regclass AND attname = 'status_group'`,
  );
  expect(constantsOf(found?.sql)).toEqual([OPEN_PAYOUT_GROUP, ...OPEN_PAYOUT_STATUSES].sort());
});

test('a status change of an open payout is a HOT update: it touches no index', async () => {
  const key = await fundedBalance(harness.owner, '1');
  const payout = buildPayoutMoney('1');
  await insertPayout(harness.owner, key, payout, 'requested');
  const life: readonly PayoutStatus[] = ['under_review', 'approved', 'processing', 'completed'];
  // Their counters are per transaction until it ends.
  await harness.owner.transaction(async (tx) => {
    let before = 0;
    for (const status of life) {
      await tx.query(compose('payouts').where({ id: payout.id }).update({ status }));
      const [{ hot, group } = { hot: 0, group: '' }] = await tx.query<{
        hot: number;
        group: string;
      }>(
        `SELECT pg_stat_get_xact_tuples_hot_updated('payouts'::regclass)::int AS hot,
                status_group AS "group" FROM payouts WHERE id = ?`,
        [payout.id],
      );
      expect({ status, hot: hot - before, group }).toEqual({
        status,
        hot: isFinalPayout(status) ? 0 : 1,
        group: payoutStatusGroup(status),
      });
      before = hot;
    }
  });
});

test('a payout has a final posting exactly when its status is final', () => {
  for (const status of PAYOUT_STATUSES) {
    expect([status, PAYOUT_FINAL_POSTING[status] !== null]).toEqual([
      status,
      isFinalPayout(status),
    ]);
  }
});

test('there is a query for each kind of difference, and it runs', async () => {
  for (const kind of DIFFERENCE_KINDS) {
    expect(await harness.db.query(differencesSql({ unlessNoted: true, only: [kind] }))).toEqual([]);
  }
});
