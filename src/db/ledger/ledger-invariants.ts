/**
 * The ledger's invariants, as data: each is a sentence and a query that returns the rows that break
 * it. Numbers 8 and 12 depend on providers and workflows: see ledger-verify.ts and
 * kit/service/workflow-check.ts.
 */
import { OPEN_PAYOUT_GROUP, PAYOUT_FINAL_POSTING } from '../../domain/payout';

export interface LedgerInvariant {
  number: number;
  name: string;
  sentence: string;
  /** What the report counts as checked, such as `12 transactions`. */
  checks: { noun: string; countSql: string };
  /** Returns the rows that break it, each readable by itself; no rows if it holds. */
  sql: string;
}

/** Excludes events that are not about a payout or a payment, such as a ping. */
const IS_STATUS_EVENT = `(object_id LIKE 'po\\_%' OR object_id LIKE 'pay\\_%')`;

const TRANSACTIONS = {
  noun: 'transactions',
  countSql: 'SELECT count(*)::int AS n FROM ledger_transactions',
};
const ENTRIES = { noun: 'entries', countSql: 'SELECT count(*)::int AS n FROM ledger_entries' };
const BALANCES = { noun: 'balances', countSql: 'SELECT count(*)::int AS n FROM balances' };
const PAYOUTS = { noun: 'payouts', countSql: 'SELECT count(*)::int AS n FROM payouts' };
const CREDITS = { noun: 'credits', countSql: 'SELECT count(*)::int AS n FROM payment_credits' };
const REFUNDS = { noun: 'refunds', countSql: 'SELECT count(*)::int AS n FROM payment_refunds' };
const STORED_RESPONSES = {
  noun: 'stored responses',
  countSql: `SELECT count(*)::int AS n FROM idempotency_keys WHERE state = 'done'`,
};
const EVENTS = {
  noun: 'events',
  countSql: `SELECT count(*)::int AS n FROM events WHERE ${IS_STATUS_EVENT}`,
};
const CURRENCIES = {
  noun: 'currencies',
  countSql:
    'SELECT count(*)::int AS n FROM (SELECT DISTINCT mode, currency FROM ledger_transactions) AS c',
};

const FINAL_POSTINGS = Object.entries(PAYOUT_FINAL_POSTING)
  .flatMap(([status, type]) => (type === null ? [] : `WHEN '${status}' THEN ARRAY['${type}']`))
  .join(' ');

const SIGNED = `CASE direction WHEN 'in' THEN e.amount ELSE -e.amount END`;

/** The primary key has this order, so that grouping by transaction needs no sort and no hash table. */
const ENTRIES_IN_ORDER = '(SELECT * FROM ledger_entries ORDER BY transaction_id, line)';

/**
 * A union of both tables has no statistics: joined with it, PostgreSQL builds its hash table of the
 * larger side, and sorts gigabytes on disk. So large tables join the tables `o` and `p` one by one.
 */
const WITH_OBJECTS = (id: string): string => `
        LEFT JOIN payouts o ON o.id = ${id} LEFT JOIN payments p ON p.id = ${id}`;

/** The transaction was posted after the last proof of its balance. */
const IS_NEW = 't.balance_version > coalesce(proven.version, -1)';

/**
 * In the columns of invariant 7. What a refused refund deducted has been returned. A refund that a payout
 * sends has given its money to the payout, and only its fee stays.
 */
const REFUNDS_BROKEN = `
      (WITH posted AS (
        SELECT t.source_id AS payment_id, regexp_replace(t.operation_key, ':(return|payout)$', '') AS key,
               coalesce(sum(-(${SIGNED})) FILTER (WHERE e.account IN ('available', 'fee_income')), 0)
                 AS taken,
               coalesce(sum(-(${SIGNED})) FILTER (WHERE e.account = 'fee_income'), 0) AS fee
          FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
         WHERE t.type = 'payin_refund' GROUP BY 1, 2
      ), refunds AS (
        SELECT payment_id, payment_id || ':refund:' || reference AS key,
               CASE WHEN state IN ('ordered', 'done') AND payout_id IS NULL
                    THEN taken + fee ELSE 0 END AS taken
          FROM payment_refunds
      ), by_payout AS (
        SELECT payment_id, sum(taken + fee) AS taken FROM payment_refunds
         WHERE state IN ('ordered', 'done') AND payout_id IS NOT NULL GROUP BY payment_id
      ), sums AS (
        SELECT payment_id, sum(taken) AS taken, sum(fee) AS fee FROM posted GROUP BY payment_id
      )
      SELECT coalesce(r.payment_id, p.payment_id), coalesce(r.key, p.key), r.taken, NULL, p.taken,
             NULL
        FROM refunds r FULL JOIN posted p USING (key)
       WHERE coalesce(r.taken, 0) <> coalesce(p.taken, 0)
      UNION ALL
      SELECT p.id, 'all refunds', p.reversed_amount, p.reversed_fee, s.taken, s.fee
        FROM payments p LEFT JOIN sums s ON s.payment_id = p.id
        LEFT JOIN by_payout b ON b.payment_id = p.id
       WHERE p.reversed_amount <> coalesce(s.taken, 0) + coalesce(b.taken, 0)
          OR p.reversed_fee <> coalesce(s.fee, 0)
      UNION ALL
      -- The refund and its payout have ended together.
      SELECT r.payment_id, r.payout_id, r.amount, NULL, p.amount, NULL
        FROM payment_refunds r JOIN public.payouts p ON p.id = r.payout_id
       WHERE r.amount <> p.amount
          OR r.state IS DISTINCT FROM CASE p.status_group WHEN 'open' THEN 'ordered'
               WHEN 'completed' THEN 'done' ELSE 'refused' END)`;

export const LEDGER_INVARIANTS: readonly LedgerInvariant[] = [
  {
    number: 1,
    name: 'transactions are balanced',
    sentence: 'Each transaction has entries, and its incoming amounts equal its outgoing amounts.',
    checks: TRANSACTIONS,
    sql: `
      WITH posted AS (
        SELECT transaction_id, coalesce(sum(amount) FILTER (WHERE direction = 'in'), 0) AS "in",
               coalesce(sum(amount) FILTER (WHERE direction = 'out'), 0) AS "out"
          FROM ${ENTRIES_IN_ORDER} AS e GROUP BY transaction_id
      )
      SELECT t.id AS transaction_id, t.operation_key, p."in", p."out"
        FROM ledger_transactions t LEFT JOIN posted p ON p.transaction_id = t.id
       WHERE p."in" IS DISTINCT FROM p."out" OR p."in" IS NULL`,
  },
  {
    number: 2,
    name: 'all accounts sum to zero',
    sentence:
      'Per mode and currency, the merchants’ balances and the platform’s accounts sum to zero.',
    checks: CURRENCIES,
    sql: `
      WITH accounts AS (
        SELECT mode, currency, 'merchants' AS owner, available + reserved AS held FROM balances
        UNION ALL
        SELECT t.mode, t.currency, 'platform', ${SIGNED}
          FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
          LEFT JOIN ledger_proven proven USING (account_id, mode, currency)
         WHERE e.account NOT IN ('available', 'reserved') AND ${IS_NEW}
        UNION ALL
        SELECT mode, currency, 'platform', -(available + reserved) FROM ledger_proven
      )
      SELECT mode, currency,
             coalesce(sum(held) FILTER (WHERE owner = 'merchants'), 0) AS merchants,
             coalesce(sum(held) FILTER (WHERE owner = 'platform'), 0) AS platform,
             sum(held) AS difference
        FROM accounts GROUP BY mode, currency HAVING sum(held) <> 0`,
  },
  {
    number: 3,
    name: 'balances equal the sum of their entries',
    sentence:
      'Each balance equals the sum of its entries, balance_after and posted_at follow the posting ' +
      'order, and versions start at 1 without gaps.',
    checks: ENTRIES,
    sql: `
      WITH keys AS MATERIALIZED (
        -- A number sorts faster than three texts.
        SELECT row_number() OVER ()::int AS n, k.account_id, k.mode, k.currency,
               coalesce(p.version, 0) AS version, p.posted_at,
               coalesce(p.available, 0) AS available, coalesce(p.reserved, 0) AS reserved
          FROM (SELECT DISTINCT account_id, mode, currency FROM ledger_transactions
                UNION SELECT account_id, mode, currency FROM ledger_proven) AS k
          LEFT JOIN ledger_proven p USING (account_id, mode, currency)
      ), posted AS MATERIALIZED (
        SELECT t.id, t.balance_version, t.posted_at, k.n, k.version AS proven_version,
               k.posted_at AS proven_at, k.available, k.reserved
          FROM ledger_transactions t JOIN keys k USING (account_id, mode, currency)
         WHERE t.balance_version > k.version
      ), transactions AS MATERIALIZED (
        SELECT * FROM (
          SELECT n, id, balance_version, posted_at,
                 proven_version + row_number() OVER per_balance AS expected_version,
                 coalesce(lag(posted_at) OVER per_balance, proven_at) AS posted_before,
                 lead(balance_version) OVER per_balance IS NULL AS is_last
            FROM posted
          WINDOW per_balance AS (PARTITION BY n ORDER BY balance_version
                                 ROWS UNBOUNDED PRECEDING)
        ) AS t
         WHERE is_last OR balance_version <> expected_version OR posted_at <= posted_before
      ), lines AS MATERIALIZED (
        SELECT * FROM (
          SELECT p.n, p.id, e.line, e.account, e.balance_after,
                 CASE e.account WHEN 'available' THEN p.available ELSE p.reserved END
                   + sum(${SIGNED}) OVER per_account AS expected,
                 lead(e.line) OVER per_account IS NULL AS is_last
            FROM posted p JOIN ledger_entries e ON e.transaction_id = p.id
           WHERE e.account IN ('available', 'reserved')
          WINDOW per_account AS (PARTITION BY p.n, e.account = 'available'
                                 ORDER BY p.balance_version, e.line ROWS UNBOUNDED PRECEDING)
        ) AS l
         WHERE is_last OR balance_after IS DISTINCT FROM expected
      ), totals AS (
        SELECT k.account_id, k.mode, k.currency, coalesce(a.expected, k.available) AS available,
               coalesce(r.expected, k.reserved) AS reserved,
               coalesce(t.balance_version, k.version) AS version
          FROM keys k
          LEFT JOIN lines a ON a.n = k.n AND a.account = 'available' AND a.is_last
          LEFT JOIN lines r ON r.n = k.n AND r.account = 'reserved' AND r.is_last
          LEFT JOIN transactions t ON t.n = k.n AND t.is_last
      ), problems AS (
        SELECT 'balance_version has a gap' AS problem, n, id AS transaction_id,
               balance_version::text AS found, expected_version::text AS expected
          FROM transactions WHERE balance_version <> expected_version
        UNION ALL
        SELECT 'posted_at does not increase', n, id, posted_at::text, 'after ' || posted_before::text
          FROM transactions WHERE posted_at <= posted_before
        UNION ALL
        SELECT 'balance_after of ' || account || ' in line ' || line, n, id, balance_after::text,
               expected::text
          FROM lines WHERE balance_after IS DISTINCT FROM expected
      )
      SELECT problem, account_id, mode, currency, transaction_id, found, expected
        FROM problems JOIN keys USING (n)
      UNION ALL
      SELECT 'balance (available, reserved, version)', account_id, mode, currency, NULL,
             concat_ws(', ', b.available, b.reserved, b.version),
             concat_ws(', ', f.available, f.reserved, f.version)
        FROM balances b FULL JOIN totals f USING (account_id, mode, currency)
       WHERE (b.available, b.reserved, b.version)
             IS DISTINCT FROM (f.available, f.reserved, f.version)`,
  },
  {
    number: 4,
    name: 'balances are never negative',
    sentence: 'Neither available nor reserved was negative after any entry.',
    checks: ENTRIES,
    sql: `
      SELECT t.account_id, t.mode, t.currency, t.id AS transaction_id, e.line, e.account,
             e.balance_after
        FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
       WHERE e.balance_after < 0
      UNION ALL
      SELECT account_id, mode, currency, NULL, NULL, account, held
        FROM balances CROSS JOIN LATERAL (VALUES ('available', available), ('reserved', reserved))
             AS b(account, held)
       WHERE held < 0`,
  },
  {
    number: 5,
    name: 'reserved funds match open payouts',
    sentence: 'The reserved amount of each balance equals the total_debit of its open payouts.',
    checks: BALANCES,
    sql: `
      WITH open_payouts AS (
        SELECT account_id, mode, currency, sum(total_debit) AS owed, count(*) AS payouts
          FROM public.payouts WHERE status_group = '${OPEN_PAYOUT_GROUP}'
         GROUP BY account_id, mode, currency
      )
      SELECT account_id, mode, currency, coalesce(b.reserved, 0) AS reserved,
             coalesce(o.owed, 0) AS open_payouts_total, coalesce(o.payouts, 0) AS open_payouts
        FROM balances b FULL JOIN open_payouts o USING (account_id, mode, currency)
       WHERE coalesce(b.reserved, 0) <> coalesce(o.owed, 0)`,
  },
  {
    number: 6,
    name: 'payouts are reserved once and settled or released once',
    sentence:
      'Each payout has one reserve posting of its total_debit. A completed payout has one ' +
      'settlement of that amount, any other final payout one release, and an open payout neither.',
    checks: PAYOUTS,
    sql: `
      WITH moved AS (
        SELECT transaction_id, sum(${SIGNED}) AS reserved
          FROM ${ENTRIES_IN_ORDER} AS e
         WHERE account = 'reserved' GROUP BY transaction_id
      ), posted AS (
        SELECT t.source_id AS id,
               count(*) FILTER (WHERE t.type = 'payout_reserve') AS reserves,
               coalesce(sum(m.reserved) FILTER (WHERE t.type = 'payout_reserve'), 0) AS taken,
               array_agg(t.type) FILTER (WHERE t.type <> 'payout_reserve') AS final_postings,
               coalesce(-sum(m.reserved) FILTER (WHERE t.type <> 'payout_reserve'), 0) AS given
          FROM ledger_transactions t LEFT JOIN moved m ON m.transaction_id = t.id
         WHERE t.source_object = 'payout' GROUP BY t.source_id
      ), expected AS (
        SELECT id, status, total_debit,
               CASE status ${FINAL_POSTINGS} END AS final_postings
          FROM payouts
      )
      SELECT id AS payout_id, x.status, x.total_debit, coalesce(p.reserves, 0) AS reserves,
             p.taken AS reserved, p.final_postings, p.given AS ended
        FROM expected x FULL JOIN posted p USING (id)
       WHERE x.status IS NULL
          OR p.reserves IS DISTINCT FROM 1
          OR p.taken IS DISTINCT FROM x.total_debit
          OR p.final_postings IS DISTINCT FROM x.final_postings
          OR p.given <> CASE WHEN x.final_postings IS NULL THEN 0 ELSE x.total_debit END`,
  },
  {
    number: 7,
    name: 'transfers are credited once, refunds deducted once',
    sentence:
      'Each credited transfer has one posting of its amount and fee, each refund that was not ' +
      'refused has one posting of the deducted amount, and both add up to the payment’s totals.',
    checks: CREDITS,
    sql: `
      WITH posted AS (
        SELECT t.source_id AS payment_id, t.operation_key,
               sum(e.amount) FILTER (WHERE e.direction = 'in') AS credited,
               coalesce(sum(e.amount) FILTER (WHERE e.direction = 'out'), 0) AS fee
          FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
         WHERE t.type = 'payin_settlement' AND e.account = 'available'
         GROUP BY t.source_id, t.operation_key
      ), credits AS (
        SELECT payment_id, sum(amount) AS credited, sum(fee) AS fee
          FROM payment_credits GROUP BY payment_id
      )
      SELECT coalesce(c.payment_id, p.payment_id) AS payment_id, p.operation_key,
             c.amount AS credit, c.fee AS credit_fee, p.credited AS posted, p.fee AS posted_fee
        FROM payment_credits c FULL JOIN posted p
          ON p.operation_key = c.payment_id || ':credit:' || c.provider_transfer_id
       WHERE c.amount IS DISTINCT FROM p.credited OR c.fee IS DISTINCT FROM p.fee
      UNION ALL
      SELECT p.id, NULL, p.credited_amount, p.service_fee, c.credited, c.fee
        FROM payments p LEFT JOIN credits c ON c.payment_id = p.id
       WHERE p.credited_amount <> coalesce(c.credited, 0) OR p.service_fee <> coalesce(c.fee, 0)
      UNION ALL
      ${REFUNDS_BROKEN}`,
  },
  {
    number: 9,
    name: 'stored responses match their objects',
    sentence:
      'The object of each stored 2xx response exists in the same account and mode, and the ' +
      'response contains its id. References are unique among the payments, the refunds, the payouts, ' +
      'and the batches of an account and mode.',
    checks: STORED_RESPONSES,
    sql: `
      WITH objects AS NOT MATERIALIZED (
        SELECT id, account_id, mode, reference, 'payout' AS object FROM payouts
        UNION ALL
        SELECT id, account_id, mode, reference, 'payment' FROM payments
        UNION ALL
        SELECT id, account_id, mode, reference, 'payout_batch' FROM payout_batches
        UNION ALL
        SELECT id, account_id, mode, NULL, 'recipient' FROM recipients
        UNION ALL
        SELECT id, account_id, mode, reference, 'payout_schedule' FROM payout_schedules
        UNION ALL
        SELECT id, account_id, mode, NULL, 'webhook_endpoint' FROM webhook_endpoints
        UNION ALL
        SELECT id, account_id, mode, NULL, 'api_key' FROM api_keys
        UNION ALL
        -- Refunds that no merchant asked for have no reference.
        SELECT id, account_id, mode, merchant_reference, 'refund' FROM payment_refunds
         WHERE merchant_reference IS NOT NULL
      )
      SELECT 'response without its object' AS problem, k.object_id, k.account_id, k.mode,
             k.key AS idempotency_key, NULL AS reference
        FROM idempotency_keys k
        LEFT JOIN objects o ON (o.id, o.account_id, o.mode) = (k.object_id, k.account_id, k.mode)
       WHERE k.state = 'done' AND k.response_status BETWEEN 200 AND 299
         AND (o.id IS NULL OR position(convert_to(k.object_id, 'UTF8') IN k.response_body) = 0)
      UNION ALL
      SELECT 'reference used twice', min(id), account_id, mode, NULL, reference
        FROM objects WHERE reference IS NOT NULL
       GROUP BY object, account_id, mode, reference HAVING count(*) > 1`,
  },
  {
    number: 10,
    name: 'one event for each status change',
    sentence:
      'The events of each payout and payment are numbered from 1 to its sequence without gaps, and ' +
      'the last event has its current status.',
    checks: EVENTS,
    sql: `
      WITH objects AS NOT MATERIALIZED (
        SELECT id, status, sequence FROM payouts
        UNION ALL
        SELECT id, status, sequence FROM payments
      ), recorded AS (
        SELECT object_id AS id, count(*) AS events, min(sequence) AS first, max(sequence) AS last
          FROM events WHERE ${IS_STATUS_EVENT} GROUP BY object_id
      )
      SELECT id AS object_id, o.status, o.sequence, coalesce(t.events, 0) AS events, t.last,
             NULL AS last_event_status
        FROM objects o FULL JOIN recorded t USING (id)
       WHERE (o.sequence, o.sequence, 1) IS DISTINCT FROM (t.events, t.last, t.first)
      UNION ALL
      SELECT id, status, sequence, NULL, sequence, last_event_status
        FROM (
          SELECT v.object_id AS id, v.sequence, coalesce(o.status, p.status) AS status,
                 -- PostgreSQL 15 has no IS JSON.
                 CASE WHEN substr(body, 1, 1) = '{'::bytea
                      THEN convert_from(body, 'UTF8')::json #>> '{data,status}'
                  END AS last_event_status
            FROM events v ${WITH_OBJECTS('v.object_id')}
           -- Bodies are deleted after 30 days (decisions/webhooks#retention).
           WHERE body IS NOT NULL AND v.sequence = coalesce(o.sequence, p.sequence)
        ) AS last
       WHERE last_event_status IS DISTINCT FROM status`,
  },
  {
    number: 11,
    name: 'accounts and modes are separate',
    sentence:
      'A transaction, its balance, its payout or payment, and the API key and events of that object ' +
      'have the same account and mode. The first three also have the same currency.',
    checks: TRANSACTIONS,
    sql: `
      WITH objects AS NOT MATERIALIZED (
        SELECT id, account_id, mode, api_key_id, 'payout' AS object FROM payouts
        UNION ALL
        SELECT id, account_id, mode, api_key_id, 'payment' FROM payments
      )
      SELECT 'transaction and ' || t.source_object AS problem, t.id AS id, t.source_id AS other_id,
             concat_ws(' ', t.account_id, t.mode, t.currency) AS scope,
             concat_ws(' ', coalesce(o.account_id, p.account_id), coalesce(o.mode, p.mode),
                       coalesce(o.currency, p.currency)) AS other_scope
        FROM ledger_transactions t ${WITH_OBJECTS('t.source_id')}
       WHERE (t.account_id, t.mode, t.currency) <> (o.account_id, o.mode, o.currency)
          OR (t.account_id, t.mode, t.currency) <> (p.account_id, p.mode, p.currency)
      UNION ALL
      SELECT 'transaction without its balance', t.id, NULL,
             concat_ws(' ', t.account_id, t.mode, t.currency), NULL
        FROM ledger_transactions t LEFT JOIN balances b USING (account_id, mode, currency)
       WHERE b.account_id IS NULL
      UNION ALL
      SELECT o.object || ' and API key', o.id, k.id, concat_ws(' ', o.account_id, o.mode),
             concat_ws(' ', k.account_id, k.mode)
        FROM objects o JOIN api_keys k ON k.id = o.api_key_id
       WHERE (o.account_id, o.mode) <> (k.account_id, k.mode)
      UNION ALL
      SELECT 'event and its object', v.id, v.object_id, concat_ws(' ', v.account_id, v.mode),
             concat_ws(' ', coalesce(o.account_id, p.account_id), coalesce(o.mode, p.mode))
        FROM events v ${WITH_OBJECTS('v.object_id')}
       WHERE (v.account_id, v.mode) <> (o.account_id, o.mode)
          OR (v.account_id, v.mode) <> (p.account_id, p.mode)`,
  },
  {
    number: 13,
    name: 'what went back was taken, or a case shows it',
    sentence:
      'Each refund that was made reversed its whole amount of the credits, or a case shows the rest, so that ' +
      'no payment sent back more than it was credited without an operator who knows.',
    checks: REFUNDS,
    sql: `
      SELECT r.payment_id, r.reference, r.state, r.amount, r.taken + r.fee AS reversed
        FROM payment_refunds r
       WHERE r.state IN ('done', 'owed', 'waived') AND r.taken + r.fee < r.amount
         AND NOT EXISTS (
           SELECT FROM cases c
            WHERE c.object_id = r.payment_id
              AND c.kind = CASE r.state WHEN 'done' THEN 'refund_exceeds_credit'
                                        ELSE 'refund_not_covered' END
              AND case_facts(c.details)
                    @> jsonb_build_array(jsonb_build_object('refund', r.reference)))`,
  },
];
