/**
 * A busy installation for measurements: one merchant with 100,000 payouts, as many payments, 1,000,000
 * events with deliveries, full queues, and a thousand other merchants. Set-based, with the triggers off.
 */
import type { Db } from '../../src/db/transaction';
import { CASE_KINDS } from '../../src/domain/cases';
import { WEBHOOK_DELIVERY_STATUSES } from '../../src/domain/webhook-delivery';
import { insertCompletedPayouts } from '../support/merchant/large-ledger';
import { fundedBalance } from '../support/merchant/ledger';
import { createKey } from '../support/merchant/merchant';

export interface Volume {
  accountId: string;
  apiKeyId: string;
  endpointId: string;
}

export const idOf = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, '0')}`;

/** In a database that was kept; null: it has none. */
export async function findVolume(owner: Db): Promise<Volume | null> {
  const [found] = await owner.query<{ accountId: string }>(
    `SELECT account_id FROM webhook_endpoints WHERE id = ?`,
    [idOf('we', 1)],
  );
  const [apiKey] = await owner.query<{ id: string }>(
    'SELECT id FROM api_keys WHERE account_id = ?',
    [found?.accountId ?? ''],
  );
  if (found === undefined || apiKey === undefined) return null;
  return { accountId: found.accountId, apiKeyId: apiKey.id, endpointId: idOf('we', 1) };
}

/** @param owner a superuser */
export async function insertVolume(owner: Db, { payouts }: { payouts: number }): Promise<Volume> {
  const key = await fundedBalance(owner, '50000000');
  const { accountId, mode, currency } = key;
  await createKey(owner, 'pepper of the measurements', { accountId, mode });
  const ofKey = 'SELECT id FROM api_keys WHERE account_id = ?';
  const [apiKey] = await owner.query<{ id: string }>(ofKey, [accountId]);
  const apiKeyId = apiKey!.id;
  const batch = { ...key, apiKeyId, first: 0, count: payouts };
  await insertCompletedPayouts(owner, batch, { isNoted: false });
  const endpointId = idOf('we', 1);
  const kinds = [...CASE_KINDS];
  const statements: [sql: string, bindings: (string | number | string[])[]][] = [
    // The payouts are spread over 90 days, and over destinations.
    [
      `UPDATE payouts SET created_at = now() - (? - n) * interval '77 seconds',
              destination_value = 'T' || upper(md5((n % 5000)::text))
         FROM generate_series(0, ?) n WHERE id = 'po_' || lpad(n::text, 26, '0')`,
      [payouts, payouts],
    ],
    [
      `UPDATE payouts SET status = 'under_review', review_reasons = '{new_destination}'
        WHERE id >= ? AND id < ?`,
      [idOf('po', payouts - 600), idOf('po', payouts - 100)],
    ],
    [
      `UPDATE payouts SET status = 'processing', processing_since = now(), in_doubt_since = now()
        WHERE id >= ?`,
      [idOf('po', payouts - 100)],
    ],
    [
      `INSERT INTO accounts (id, name, verified_at, created_at)
       SELECT 'acc_' || lpad(n::text, 26, '0'), 'Merchant ' || n, now(), now() - n * interval '1 hour'
         FROM generate_series(1, 1000) n`,
      [],
    ],
    [
      `INSERT INTO payments (id, account_id, mode, reference, status, provider, amount, currency,
                             network, received_amount, credited_amount, fee_terms, checkout_url,
                             customer_email, api_key_id, provider_checkout_id, sequence, created_at,
                             updated_at, expires_at)
       SELECT 'pay_' || lpad(n::text, 26, '0'), ?, ?, 'order-' || n,
              (ARRAY['completed','completed','completed','expired','created','pending','processing',
                     'underpaid','on_hold','failed'])[1 + CASE WHEN n % 100 = 0 THEN n / 100 % 10
                                                               ELSE n % 4 END],
              'onchain_provider', 25, ?, 'tron', 0, 0, '{}', 'https://pay.example.com/c/' || n,
              'customer-' || n || '@example.com', ?, 'checkout-' || n, 4,
              now() - (? - n) * interval '77 seconds', now(), now() + interval '1 hour'
         FROM generate_series(0, ? - 1) n`,
      [accountId, mode, currency, apiKeyId, payouts, payouts],
    ],
    [
      `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, created_at)
       SELECT 'evt_5' || s.n || lpad(p.n::text, 24, '0'), ?, ?, 'payment.' || status,
              'pay_' || lpad(p.n::text, 26, '0'), s.n, '{}',
              now() - (? - p.n) * interval '77 seconds'
         FROM generate_series(0, ? - 1) p(n)
        CROSS JOIN unnest(ARRAY['created','pending','processing','completed'])
              WITH ORDINALITY AS s(status, n)`,
      [accountId, mode, payouts, payouts],
    ],
    // These belong to the other merchants.
    [
      `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, created_at)
       SELECT 'evt_7' || lpad(n::text, 25, '0'), 'acc_' || lpad((n % 1000 + 1)::text, 26, '0'),
              'test', 'payment.created', 'pay_7' || lpad(n::text, 25, '0'), 1, '{}', now()
         FROM generate_series(1, ? * 2) n`,
      [payouts],
    ],
    [
      `INSERT INTO webhook_endpoints (id, account_id, mode, url, secret_sealed, secret_key_id)
       VALUES (?, ?, ?, 'https://merchant.example.com/webhooks', '\\x00', 'key')`,
      [endpointId, accountId, mode],
    ],
    [
      `INSERT INTO webhook_deliveries (id, event_id, endpoint_id, status, attempts, next_attempt_at,
                                       check_at, created_at, finished_at)
       SELECT 'whd_' || lpad(n::text, 26, '0'), e.id, ?, s.status, 1,
              CASE WHEN s.status = 'pending' THEN now() + interval '1 hour' END, now(), at,
              CASE WHEN s.status <> 'pending' THEN at END
         FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM events WHERE account_id = ?) e
        CROSS JOIN LATERAL (
          SELECT CASE WHEN n % 500 = 0 THEN (?::text[])[1 + n / 500 % 5] ELSE 'succeeded' END AS status,
                 now() - (8 * ? - n) * interval '9 seconds' AS at) s`,
      [endpointId, accountId, [...WEBHOOK_DELIVERY_STATUSES], payouts],
    ],
    [
      `INSERT INTO webhook_attempts (delivery_id, number, manual, url, started_at, finished_at,
                                     outcome, status, duration_ms)
       SELECT id, 1, false, 'https://merchant.example.com/webhooks', created_at, created_at,
              'succeeded', 200, 40 + length(id) FROM webhook_deliveries`,
      [],
    ],
    // Two days of the request log at its maximum, and five quiet ones.
    [
      `INSERT INTO request_log
       SELECT 'req_' || lpad(n::text, 26, '0'), floor(extract(epoch FROM at) / 86400)::int % 9, ?, ?,
              ?, at, CASE WHEN n % 3 = 0 THEN 'POST' ELSE 'GET' END, '/api/v1/payouts/' || n, '',
              CASE WHEN n % 2 = 0 THEN 200 ELSE 400 + n % 5 END, false, NULL, '127.0.0.1',
              'merchant/1.0', 12, '{"amount":"10.00"}', NULL
         FROM generate_series(1, 120000) n
        CROSS JOIN LATERAL (SELECT now() - (120000 - n) * interval '5 seconds' AS at) t`,
      [accountId, mode, apiKeyId],
    ],
    [
      `INSERT INTO cases (id, kind, object_id, details, created_at, resolved_at, resolution)
       SELECT 'case_' || lpad(n::text, 26, '0'), (?::text[])[1 + n % ?],
              'po_' || lpad(n::text, 26, '0'), '{}', now() - n * interval '1 minute',
              CASE WHEN n % 10 > 0 THEN now() END, CASE WHEN n % 10 > 0 THEN 'Explained' END
         FROM generate_series(1, 20000) n`,
      [kinds, kinds.length],
    ],
    [
      `INSERT INTO audit_log (at, actor, action, object, object_id, account_id, via)
       SELECT now() - (200000 - n) * interval '1 minute', 'user-' || n % 50 || '@example.com',
              (ARRAY['api_key.create','limits.set','payout.approve','account.verify','fee.set'])[1 + n % 5],
              'account', 'object_' || n % 5000,
              CASE WHEN n % 4 = 0 THEN ? ELSE 'acc_' || lpad((n % 1000 + 1)::text, 26, '0') END,
              (ARRAY['console','dashboard','admin','gateway'])[1 + n % 4]
         FROM generate_series(1, 200000) n`,
      [accountId],
    ],
  ];
  for (const [sql, bindings] of statements) {
    await owner.transaction(async (tx) => {
      await tx.query('SET LOCAL session_replication_role = replica');
      await tx.query('SET LOCAL statement_timeout = 0');
      await tx.query(sql, bindings);
    });
  }
  await owner.query('VACUUM ANALYZE');
  return { accountId, apiKeyId, endpointId };
}

/** Adjustments of 1, alternately in and out, as what an export reads. */
export async function insertTransactions(owner: Db, count: number): Promise<string> {
  const { accountId, mode, currency } = await fundedBalance(owner, '1000');
  await owner.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query('SET LOCAL statement_timeout = 0');
    await tx.query(
      `INSERT INTO ledger_transactions
       SELECT 'txn_5' || lpad(n::text, 25, '0'), 'adj_' || n, ?, ?, ?, 'adjustment',
              'Adjustment ' || n, 'adjustment', 'adj_5' || lpad(n::text, 25, '0'), n + 1,
              clock_timestamp() - (? - n) * interval '10 milliseconds'
         FROM generate_series(1, ?) n`,
      [accountId, mode, currency, count, count],
    );
    await tx.query(
      `INSERT INTO ledger_entries
       SELECT 'txn_5' || lpad(n::text, 25, '0'), l.line, l.account,
              CASE WHEN (n + l.line) % 2 = 0 THEN 'in' ELSE 'out' END, 1,
              CASE WHEN l.line = 1 THEN 1000 + n % 2 END
         FROM generate_series(1, ?) n, (VALUES (1, 'available'), (2, 'adjustments')) AS l(line, account)`,
      [count],
    );
  });
  await owner.query('VACUUM ANALYZE ledger_transactions');
  await owner.query('VACUUM ANALYZE ledger_entries');
  return accountId;
}
