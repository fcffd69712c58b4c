/**
 * The sweeps of restart-missing run every 15 seconds: among many payments that need nothing, each
 * finds its few by an index, and waits for no lock.
 */
import { sentStatements } from '../sent-statements';
import { withClient } from '../../../src/db/provision';
import {
  takeUncheckedDecisions,
  takeUncheckedLatePayments,
  takeUncheckedPayments,
  takeUncheckedPayouts,
} from '../../../src/db/operations/needing-workflow';
import type { Reader } from '../../../src/db/transaction';
import { openTestDatabase } from '../../support/servers/database';
import { scaled } from '../../support/scale';
import { started } from '../../support/started';

const PAYMENTS = scaled(20_000, 300_000);
const BATCH = 20;

const database = started(() => openTestDatabase({ owner: 2, app: 2 }));

beforeAll(
  async () => {
    await withClient(database.ownerUrl, async (client) => {
      await client.query(FILL);
      await client.query('VACUUM (ANALYZE) payments, payouts, payment_decisions, payment_refunds');
    });
  },
  scaled(300_000, 300_000),
);

/** 95 of 100 payments have ended for good, two are open, two are late and one is over. */
const FILL = `
INSERT INTO accounts (id, name) VALUES ('acc_1', 'Merchant');
INSERT INTO payments (id, account_id, mode, reference, status, provider, amount, currency, fee_terms,
                      checkout_url, api_key_id, provider_checkout_id, expires_at, workflow_checked_at,
                      received_amount)
SELECT 'pay_' || n, 'acc_1', 'test', n::text,
       CASE n % 100 WHEN 0 THEN 'created' WHEN 1 THEN 'processing' WHEN 2 THEN 'expired'
                    WHEN 3 THEN 'underpaid' WHEN 4 THEN 'expired' ELSE 'completed' END,
       'onchain_provider', 10, 'USDT', '{}', 'https://provider.example.com', 'key', n::text,
       now() - CASE n % 100 WHEN 4 THEN interval '40 days' ELSE interval '1 day' END,
       now() - n * interval '1 minute' - interval '2 hours',
       CASE WHEN n % 100 BETWEEN 2 AND 4 THEN 5 ELSE 0 END
  FROM generate_series(1, ${PAYMENTS}) AS n;
INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency,
                     destination_type, destination_value, service_fee, network_fee, total_debit,
                     fee_terms, api_key_id, review_reasons, workflow_checked_at)
SELECT 'po_' || n, 'acc_1', 'test', n::text,
       CASE n % 100 WHEN 0 THEN 'processing' ELSE 'completed' END, 'onchain_provider', 10, 'USDT',
       'crypto_address', 'x', 0, 0, 10, '{}', 'key', '{}', now() - interval '2 hours'
  FROM generate_series(1, ${PAYMENTS}) AS n;
INSERT INTO payment_decisions (payment_id, id, number, kind, state)
SELECT 'pay_' || n, 'd', 1, 'refund', CASE WHEN n % 100 = 5 AND n < 500 THEN 'pending' ELSE 'accepted' END
  FROM generate_series(1, ${PAYMENTS}) AS n;
INSERT INTO payment_refunds (payment_id, reference, amount, taken, fee, state)
SELECT 'pay_' || n, 'r', 1, 0, 0, 'done' FROM generate_series(1, ${PAYMENTS}) AS n;
`;

interface Sweep {
  name: string;
  take: (db: Reader, limit: number) => Promise<{ id: string }[]>;
  index: string;
}

const SWEEPS: Sweep[] = [
  { name: 'open payments', take: takeUncheckedPayments, index: 'payments_open' },
  { name: 'late payments', take: takeUncheckedLatePayments, index: 'payments_late_money' },
  { name: 'decisions', take: takeUncheckedDecisions, index: 'payment_decisions_pending' },
  { name: 'payouts', take: takeUncheckedPayouts, index: 'payouts_open' },
];

test.each(SWEEPS)('the sweep of $name finds them by $index', async ({ take, index }) => {
  const plan = await explain((db) => take(db, BATCH));
  expect(plan).toContain(index);
  expect(plan).not.toContain('Seq Scan on payments');
  expect(plan).not.toContain('Seq Scan on payouts');
});

test.each(SWEEPS)('the sweep of $name leaves what somebody holds', async ({ take }) => {
  const holder = await database.owner.begin();
  await holder.query('SELECT 1 FROM payments FOR UPDATE');
  await holder.query('SELECT 1 FROM payouts FOR UPDATE');
  const taken = await take(database.app, BATCH);
  await holder.rollback();
  expect(taken).toEqual([]);
});

test('each is taken once in its time, and what is over never again', async () => {
  const late = await takeUncheckedLatePayments(database.app, PAYMENTS);
  expect(late).toHaveLength(PAYMENTS / 50);
  expect(await takeUncheckedLatePayments(database.app, PAYMENTS)).toEqual([]);
  const sql = `SELECT count(*)::int AS n FROM payments WHERE workflow_checked_at = 'infinity'`;
  expect(await database.owner.query(sql)).toEqual([{ n: PAYMENTS / 100 }]);
  const open = await takeUncheckedPayments(database.app, PAYMENTS);
  expect(open).toHaveLength(PAYMENTS / 50);
  expect(await takeUncheckedDecisions(database.app, BATCH)).toHaveLength(5);
});

test('the ones that were not looked at for longest come first', async () => {
  await database.owner.query(
    `UPDATE payments SET workflow_checked_at = now() - interval '3 hours'
    WHERE id IN ('pay_100', 'pay_200')`,
  );
  const taken = await takeUncheckedPayments(database.app, 1);
  expect(['pay_100', 'pay_200']).toContain(taken[0]?.id);
});

/** The plan of the first statement that `work` sends, as the application's role runs it. */
async function explain(work: (db: Reader) => Promise<unknown>): Promise<string> {
  const tx = await database.app.begin();
  const sent = await sentStatements(() => work(tx));
  await tx.rollback();
  const [{ sql, bindings }] = sent as [(typeof sent)[0]];
  return withClient(database.appUrl, async (client) => {
    const { rows: lines } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN ${sql}`,
      bindings,
    );
    return lines.map((line) => line['QUERY PLAN']).join('\n');
  });
}
