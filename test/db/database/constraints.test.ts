/** What PostgreSQL refuses whatever the programs do: the last line behind their own checks. */
import { newId } from '../../../src/platform/lib/new-id';
import { openTestDatabase } from '../../support/servers/database';
import {
  buildPayoutMoney,
  creditPayment,
  fundedBalance,
  insertPayout,
  postAlone,
} from '../../support/merchant/ledger';
import { reservePosting } from '../../../src/domain/ledger';
import { makeUser } from '../../support/merchant/page-client';
import { started } from '../../support/started';

const database = started(() => openTestDatabase({ owner: 2 }));
const ids = { account: '', payout: '', payment: '', user: '' };

beforeAll(async () => {
  const key = await fundedBalance(database.owner, '100');
  const payout = buildPayoutMoney('30');
  await insertPayout(database.owner, key, payout, 'under_review');
  await postAlone(database.owner, key, reservePosting(payout));
  const { id: user } = await makeUser(database.owner, 'operator', 'admin');
  const payment = await creditPayment(database.owner, key, '10', '1');
  Object.assign(ids, { account: key.accountId, payout: payout.id, payment, user });
});

test.each<[what: string, constraint: RegExp, sql: () => string]>([
  [
    'an available balance below zero',
    /balances_available_check/,
    () => `UPDATE balances SET available = -0.00000001 WHERE account_id = '${ids.account}'`,
  ],
  [
    'an operation key twice',
    /ledger_transactions_operation_key_key/,
    () => `INSERT INTO ledger_transactions
           SELECT id || 'x', operation_key, account_id, mode, currency, type, description,
                  source_object, source_id, balance_version + 100, posted_at
             FROM ledger_transactions WHERE source_id = '${ids.payout}'`,
  ],
  [
    'a payout that debits more than its amount and fees',
    /payouts_(total_debit_)?check/,
    () => `UPDATE payouts SET total_debit = total_debit + 1 WHERE id = '${ids.payout}'`,
  ],
  [
    'a second credit of one transfer',
    /payment_credits_pkey/,
    () => `INSERT INTO payment_credits (payment_id, provider_transfer_id, amount, fee)
           SELECT payment_id, provider_transfer_id, amount, fee FROM payment_credits`,
  ],
  [
    'more taken back of a payment than was credited',
    /payments_(reversed_amount_)?check/,
    () => `UPDATE payments SET reversed_amount = credited_amount + 1 WHERE id = '${ids.payment}'`,
  ],
  [
    'one payout for two refunds',
    /payment_refunds_of_payout/,
    () => `INSERT INTO payment_refunds (payment_id, reference, amount, taken, fee, state, payout_id)
           SELECT '${ids.payment}', n, 1, 0, 0, 'ordered', 'po_1' FROM unnest(ARRAY['1', '2']) AS n`,
  ],
  [
    'two open decisions about one payment',
    /payment_decisions_pending/,
    () => `INSERT INTO payment_decisions (payment_id, id, number, kind, state)
           SELECT '${ids.payment}', 'decision-' || n, n, 'release', 'pending'
             FROM generate_series(1, 2) n`,
  ],
  [
    'two deliveries of one event to one endpoint',
    /webhook_deliveries_event_id_endpoint_id_key/,
    () => `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, next_attempt_at, check_at)
           SELECT 'whd_' || n, 'evt_1', 'we_1', now(), now() FROM generate_series(1, 2) n`,
  ],
  [
    'two approvals of one operator',
    /payout_decisions_one_each/,
    () => `INSERT INTO payout_decisions (id, payout_id, kind, user_id, email, outcome, decided_at)
           SELECT 'dec_' || n, '${ids.payout}', 'approve', '${ids.user}', 'a@example.com', 'counted', now()
             FROM generate_series(1, 2) n`,
  ],
  [
    'a proposal that its own author approves',
    /policy_proposals_check/,
    () => `INSERT INTO policy_proposals (id, account_id, topic, wish, after, reason, proposed_by,
                                         outcome, decided_by, decided_at)
           VALUES ('${newId('proposal')}', '${ids.account}', 'review', '{}', '{}', 'x',
                   'a@example.com', 'approved', 'A@example.com', now())`,
  ],
  [
    'two open proposals about one threshold',
    /policy_proposals_one_open/,
    () => `INSERT INTO policy_proposals (id, topic, wish, after, proposed_by)
           SELECT 'prop_' || n, 'threshold USDT', '{}', '{}', 'alice' FROM generate_series(1, 2) n`,
  ],
  [
    'a proposal about an account without a reason',
    /policy_proposals_reason_check/,
    () => `INSERT INTO policy_proposals (id, account_id, topic, wish, after, proposed_by)
           VALUES ('${newId('proposal')}', '${ids.account}', 'review', '{}', '{}', 'a@example.com')`,
  ],
])('the database refuses %s', async (_what, constraint, sql) => {
  await expect(database.owner.query(sql())).rejects.toThrow(constraint);
});
