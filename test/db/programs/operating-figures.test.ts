/**
 * The figures that operators watch: right, one statement however many scrape, and found by indexes among
 * many objects that are final.
 */
import { sentStatements } from '../sent-statements';
import { Registry } from 'prom-client';
import { connect } from '../../../src/db/connect';
import { withClient } from '../../../src/db/provision';
import { type Figure, readOperatingFigures } from '../../../src/db/operations/operating-figures';
import { scrape } from '../../../src/platform/lib/metrics';
import { measureOperations } from '../../../src/shell/operating-metrics';
import { changeCollation, openTestDatabase } from '../../support/servers/database';
import { scaled } from '../../support/scale';
import { started } from '../../support/started';

const OBJECTS = scaled(20_000, 1_000_000);

const database = started(() => openTestDatabase({ worker: 2 }));

beforeAll(
  async () => {
    await withClient(database.ownerUrl, async (client) => {
      await client.query(FILL);
      await client.query(
        `VACUUM (ANALYZE) payments, payouts, webhook_deliveries, cases, payout_schedules,
                          payout_schedule_runs`,
      );
    });
  },
  scaled(300_000, 900_000),
);

/** One of 1,000 payouts is processing and one is in doubt; two of 1,000 payments are open; and so on. */
const FILL = `
INSERT INTO accounts (id, name) VALUES ('acc_1', 'Merchant');
INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency,
                     destination_type, destination_value, service_fee, network_fee, total_debit,
                     fee_terms, api_key_id, review_reasons, created_at, in_doubt_since)
SELECT 'po_' || n, 'acc_1', 'live', n::text,
       CASE n % 1000 WHEN 1 THEN 'processing' WHEN 2 THEN 'approved' ELSE 'completed' END,
       'onchain_provider', 10, 'USDT', 'crypto_address', 'x', 1, 0, 11, '{}', 'key', '{}',
       '2026-01-01Z'::timestamptz + n * interval '1 second',
       CASE n % 1000 WHEN 2 THEN '2026-02-01Z'::timestamptz + n * interval '1 second' END
  FROM generate_series(1, ${OBJECTS}) AS n;
INSERT INTO payments (id, account_id, mode, reference, status, provider, amount, currency, fee_terms,
                      checkout_url, api_key_id, provider_checkout_id, expires_at)
SELECT 'pay_' || n, 'acc_1', 'test', n::text,
       CASE n % 1000 WHEN 1 THEN 'created' WHEN 2 THEN 'processing' ELSE 'completed' END,
       'onchain_provider', 10, 'USDT', '{}', 'https://provider.example.com', 'key', n::text, now()
  FROM generate_series(1, ${OBJECTS}) AS n;
INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, next_attempt_at, check_at, finished_at)
SELECT 'whd_' || n, 'evt_' || n, 'whe_1', CASE n % 1000 WHEN 1 THEN 'pending' ELSE 'succeeded' END,
       CASE n % 1000 WHEN 1 THEN '2026-03-01Z'::timestamptz + n * interval '1 second' END, now(),
       CASE n % 1000 WHEN 1 THEN NULL ELSE now() END
  FROM generate_series(1, ${OBJECTS}) AS n;
INSERT INTO cases (id, kind, object_id, details, resolved_at, resolution)
SELECT 'case_' || n, 'unknown_transfer', n::text, '{}', CASE WHEN n > 3 THEN now() END, 'done'
  FROM generate_series(1, 2000) AS n;
INSERT INTO payout_schedules (id, account_id, mode, reference, interval_seconds, start_at, payouts,
                              totals, api_key_id, status, next_run_at)
SELECT 'ps_' || n, 'acc_1', 'live', n::text, 60, '2026-01-01Z', '[]', '[]', 'key',
       CASE n % 1000 WHEN 2 THEN 'paused' ELSE 'active' END,
       CASE n % 1000 WHEN 1 THEN '2026-05-01Z'::timestamptz + n * interval '1 second'
                     WHEN 2 THEN NULL ELSE now() + interval '1 day' END
  FROM generate_series(1, 5000) AS n;
INSERT INTO payout_schedule_runs (id, schedule_id, scheduled_for, status, batch_id, failure, created_at, ended_at)
SELECT 'psr_' || n, 'ps_' || n % 5000 + 1, '2026-05-01Z'::timestamptz + n * interval '1 second',
       CASE WHEN n <= 5 THEN 'failed' ELSE 'created' END, 'pb_' || n,
       CASE WHEN n <= 5 THEN jsonb_build_object('code', 'insufficient_balance') END, now(),
       CASE WHEN n = 5 THEN now() - interval '2 days' ELSE now() END
  FROM generate_series(1, 5000) AS n;
INSERT INTO payout_schedule_runs (id, schedule_id, scheduled_for, batch_id)
VALUES ('psr_pending', 'ps_3', '2026-04-30Z', 'pb_pending');
INSERT INTO payout_pauses (scope, target, reason) VALUES ('provider', 'exchange_pay', 'maintenance');
UPDATE ledger_report SET checked_at = '2026-04-01Z',
  report = '{"balances": 1, "transactions": 1, "invariants": [{"broken": 0}, {"broken": 2}]}';
`;

function valueOf(figures: readonly Figure[], name: string, labels: Record<string, string> = {}) {
  const wanted = JSON.stringify(labels);
  return figures.find((one) => one.name === name && JSON.stringify(one.labels) === wanted)?.value;
}

function seconds(time: string): number {
  return Date.parse(time) / 1_000;
}

test('the figures are right', async () => {
  const found = await readOperatingFigures(database.worker);
  const each = OBJECTS / 1_000;
  const value = (name: string, labels?: Record<string, string>) => valueOf(found, name, labels);
  expect(value('gateway_payouts_open', { mode: 'live', status: 'processing' })).toBe(each);
  expect(
    value('gateway_payouts_oldest_open_timestamp_seconds', { mode: 'live', status: 'approved' }),
  ).toBe(seconds('2026-01-01T00:00:02Z'));
  expect(value('gateway_payouts_reserved', { mode: 'live', currency: 'USDT' })).toBe(22 * each);
  expect(value('gateway_payouts_in_doubt', { mode: 'live' })).toBe(each);
  expect(value('gateway_payouts_oldest_in_doubt_timestamp_seconds', { mode: 'live' })).toBe(
    seconds('2026-02-01T00:00:02Z'),
  );
  expect(value('gateway_payments_open', { mode: 'test', status: 'created' })).toBe(each);
  expect(value('gateway_webhook_deliveries_pending')).toBe(each);
  expect(value('gateway_webhook_deliveries_due')).toBe(each);
  expect(value('gateway_webhook_deliveries_oldest_due_timestamp_seconds')).toBe(
    seconds('2026-03-01T00:00:01Z'),
  );
  expect(value('gateway_cases_open', { kind: 'unknown_transfer' })).toBe(3);
  const failed = { code: 'insufficient_balance', mode: 'live' };
  expect(valueOf(found, 'gateway_payout_schedule_runs_failed', failed)).toBe(4);
  expect(value('gateway_payout_schedules_oldest_due_timestamp_seconds', { mode: 'live' })).toBe(
    seconds('2026-04-30T00:00:00Z'),
  );
  expect(value('gateway_payout_pauses', { scope: 'provider' })).toBe(1);
  expect(value('gateway_ledger_broken_invariants')).toBe(1);
  expect(value('gateway_ledger_check_timestamp_seconds')).toBe(seconds('2026-04-01T00:00:00Z'));
  expect(value('gateway_database_commits_waiting_for_standby')).toBe(0);
  expect(value('gateway_database_collation_changed')).toBe(0);
  await changeCollation(database.name);
  const later = await readOperatingFigures(database.worker);
  expect(valueOf(later, 'gateway_database_collation_changed')).toBe(1);
});

test('no large table is read as a whole', async () => {
  const statements = await sentStatements(() => readOperatingFigures(database.worker));
  expect(statements).toHaveLength(1);
  const plan = await database.worker.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN ${statements[0]!.sql}`,
  );
  const scanned = plan.map((line) => Object.values(line)[0]).join('\n');
  expect(scanned).toMatch(/payouts_open on payouts/);
  expect(scanned).not.toMatch(
    /Seq Scan on (payouts|payments|webhook_deliveries|cases|payout_schedule_runs)\b/,
  );
});

test('many scrapes share one statement, and after a failure figures are absent, not 0', async () => {
  const registry = new Registry();
  measureOperations(registry, database.worker);
  const texts: { text: string }[] = [];
  const statements = await sentStatements(async () => {
    texts.push(...(await Promise.all(Array.from({ length: 5 }, () => scrape(registry, null)))));
    await scrape(registry, null);
  });
  expect(statements).toHaveLength(1);
  for (const { text } of texts) expect(text).toMatch(/^gateway_webhook_deliveries_pending [1-9]/m);

  const gone = connect({ url: 'postgres://localhost:1/none', size: 1, applicationName: 'test' });
  const blind = new Registry();
  measureOperations(blind, gone);
  const { text } = await scrape(blind, null);
  expect(text).toContain('# TYPE gateway_ledger_broken_invariants gauge');
  expect(text).not.toMatch(/^(gateway|ledger)_/m);
  await gone.destroy();
});
