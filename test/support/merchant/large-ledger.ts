/**
 * Many completed payouts with everything that belongs to them (postings, events, stored responses), for
 * tests and measurements of volume: set-based, and with the triggers off, which would take hours.
 */
import type { BalanceKey } from '../../../src/db/ledger/ledger';
import type { Tx, Db } from '../../../src/db/transaction';

const BATCH = 50_000;

/** Status changes of a payout, which is what `ledger_changes` notes and the events record. */
const STATUSES = ['requested', 'approved', 'processing', 'completed'];

export interface Batch extends BalanceKey {
  apiKeyId: string;
  /** Number of the first payout: part of its id and reference. */
  first: number;
  count: number;
}

/**
 * Each takes 11 of the balance: 10 and two fees of 0.5.
 * @param owner a superuser
 * @param isNoted whether the check of what changed looks at them
 */
export async function insertCompletedPayouts(
  owner: Db,
  all: Batch,
  { isNoted }: { isNoted: boolean },
): Promise<void> {
  for (let done = 0; done < all.count; done += BATCH) {
    const batch = { ...all, first: all.first + done, count: Math.min(BATCH, all.count - done) };
    await owner.transaction((tx) => insertBatch(tx, batch, isNoted));
  }
  for (const table of ['payouts', 'ledger_transactions', 'ledger_entries', 'events']) {
    await owner.query(`VACUUM ANALYZE ${table}`);
  }
}

async function insertBatch(tx: Tx, batch: Batch, isNoted: boolean): Promise<void> {
  await tx.query('SET LOCAL session_replication_role = replica');
  await tx.query('SET LOCAL statement_timeout = 0');
  const { accountId, mode, currency, apiKeyId, first, count } = batch;
  const [start] = await tx.query<{ available: string; version: string }>(
    'SELECT available, version FROM balances WHERE (account_id, mode, currency) = (?, ?, ?)',
    [accountId, mode, currency],
  );
  if (start === undefined) throw new Error('fund the balance first');
  await tx.query(
    `CREATE TEMPORARY TABLE new_payouts ON COMMIT DROP AS
     SELECT n, 'po_' || lpad((? + n)::text, 26, '0') AS id, 'volume-' || (? + n) AS reference,
            now() - interval '23 hours' + (? + n) * interval '10 milliseconds' AS at
       FROM generate_series(0, ?::int - 1) AS n`,
    [first, first, first, count],
  );
  await tx.query(
    `INSERT INTO payouts (id, account_id, mode, reference, status, provider, amount, currency, network,
                          destination_type, destination_value, service_fee, network_fee, total_debit,
                          fee_terms, api_key_id, review_reasons, sequence, created_at, updated_at)
     SELECT id, ?, ?, reference, 'completed', 'onchain_provider', 10, ?, 'tron', 'crypto_address',
            'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 0.5, 0.5, 11, '{}', ?, '{}', 4, at, at
       FROM new_payouts`,
    [accountId, mode, currency, apiKeyId],
  );
  await tx.query(
    `INSERT INTO ledger_transactions
     SELECT 'txn_' || step || substr(id, 5), id || ':' || key, ?, ?, ?, type,
            'Payout ' || reference, 'payout', id, ? + 2 * n + step,
            clock_timestamp() + (2 * n + step) * interval '1 microsecond'
       FROM new_payouts CROSS JOIN (VALUES (1, 'reserve', 'payout_reserve'),
                                           (2, 'final', 'payout_settlement')) AS s(step, key, type)`,
    [accountId, mode, currency, start.version],
  );
  await tx.query(
    `INSERT INTO ledger_entries
     SELECT 'txn_' || step || substr(id, 5), line, account, direction, amount,
            CASE account WHEN 'available' THEN ?::numeric - 11 * (n + 1) WHEN 'reserved' THEN after END
       FROM new_payouts CROSS JOIN (VALUES
         (1, 1, 'available', 'out', 11, NULL), (1, 2, 'reserved', 'in', 11, 11),
         (2, 1, 'reserved', 'out', 10, 1), (2, 2, 'reserved', 'out', 0.5, 0.5),
         (2, 3, 'reserved', 'out', 0.5, 0), (2, 4, 'provider_clearing', 'in', 10, NULL),
         (2, 5, 'fee_income', 'in', 0.5, NULL), (2, 6, 'network_cost', 'in', 0.5, NULL)
       ) AS l(step, line, account, direction, amount, after)`,
    [start.available],
  );
  await tx.query(
    `INSERT INTO events (id, account_id, mode, type, object_id, sequence, body, created_at)
     SELECT 'evt_' || s.n || substr(id, 5), ?, ?, 'payout.' || status, id, s.n,
            convert_to(json_build_object('type', 'payout.' || status, 'data', json_build_object(
              'id', id, 'status', status, 'filling', repeat('x', 500)))::text, 'UTF8'), at
       FROM new_payouts CROSS JOIN unnest(?::text[]) WITH ORDINALITY AS s(status, n)`,
    [accountId, mode, STATUSES],
  );
  await tx.query(
    `INSERT INTO idempotency_keys (account_id, mode, key, body_hash, object_id, state, lease_until,
                                   response_status, response_body, completed_at)
     SELECT ?, ?, reference, '\\x00', id, 'done', at, 201,
            convert_to(json_build_object('data', json_build_object('id', id, 'filling',
              repeat('x', 500)))::text, 'UTF8'), now()
       FROM new_payouts`,
    [accountId, mode],
  );
  await tx.query(
    `UPDATE balances SET available = available - 11 * ?, version = version + 2 * ?,
                         last_posted_at = clock_timestamp() + 2 * ? * interval '1 microsecond'
      WHERE (account_id, mode, currency) = (?, ?, ?)`,
    [count, count, count, accountId, mode, currency],
  );
  if (!isNoted) return;
  await tx.query(
    `INSERT INTO ledger_changes SELECT id FROM new_payouts CROSS JOIN generate_series(1, ?::int)`,
    [STATUSES.length],
  );
}
