/** Batches of payouts: many rows that are reserved, approved and accounted for together. */
export const sql = /* sql */ `
CREATE TABLE payout_batches (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  reference text NOT NULL,
  status text NOT NULL CHECK (status IN ('requested', 'under_review', 'processing', 'completed',
    'partially_completed', 'stopped', 'rejected')),
  description text,
  row_count integer NOT NULL CHECK (row_count > 0),
  -- For each currency: the number of rows, their amounts and fees.
  totals jsonb NOT NULL,
  -- Of the rows in canonical form. An approval names it.
  manifest_sha256 text NOT NULL CHECK (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  api_key_id text NOT NULL,
  review_reasons text[] NOT NULL,
  approved_by text,
  approved_at timestamptz,
  -- Somebody stopped or rejected the batch: rows that were not released are returned. The status
  -- changes when the last row has ended.
  ending text CHECK (ending IN ('stop', 'reject')),
  ended_by text,
  ending_reason text,
  ending_at timestamptz,
  -- The number of rows in each state, when the last one had ended.
  closed_at timestamptz,
  closed_progress jsonb,
  sequence integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  workflow_checked_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((ending IS NULL) = (ending_at IS NULL)),
  CHECK ((status IN ('completed', 'partially_completed', 'stopped', 'rejected')) = (closed_at IS NOT NULL)),
  UNIQUE (account_id, mode, reference)
) WITH (fillfactor = 70);
CREATE INDEX payout_batches_newest ON payout_batches (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payout_batches_open ON payout_batches (workflow_checked_at) WHERE closed_at IS NULL;

-- Approvals of batches that need two operators.
CREATE TABLE payout_batch_decisions (
  id text PRIMARY KEY,
  batch_id text NOT NULL REFERENCES payout_batches,
  kind text NOT NULL CHECK (kind IN ('approve', 'reject', 'stop')),
  manifest_sha256 text NOT NULL,
  user_id text NOT NULL REFERENCES users,
  email text NOT NULL,
  reason text,
  outcome text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at timestamptz
);
CREATE INDEX payout_batch_decisions_of_batch ON payout_batch_decisions (batch_id, created_at);

ALTER TABLE payouts
  ADD COLUMN batch_id text REFERENCES payout_batches,
  -- Counts from 1.
  ADD COLUMN batch_row integer,
  -- The batch has not released it: nothing but the batch may change it.
  ADD COLUMN awaits_batch boolean NOT NULL DEFAULT false;

CREATE POLICY all_rows ON payout_batches
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard USING (true);
CREATE POLICY own_rows ON payout_batches FOR SELECT TO gateway_merchant
  USING (account_id = current_setting('app.account_id', true));
ALTER TABLE payout_batches ENABLE ROW LEVEL SECURITY;

GRANT SELECT ON payout_batches
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;
GRANT INSERT, UPDATE ON payout_batches TO gateway_worker;
GRANT SELECT ON payout_batch_decisions TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payout_batch_decisions TO gateway_dashboard;
GRANT UPDATE (outcome, decided_at) ON payout_batch_decisions TO gateway_worker;

-- Reserves the funds of many new payouts of one balance: one update of the balance, and for each
-- payout the transaction that ledger_post would write, in the order of the rows. All of them or none.
-- rows is an array of {id, operation_key, source_id, description, amount}.
--   posted        the money moved
--   insufficient  available would fall below zero; nothing moved
-- An operation key that was posted before raises: the payouts must be new.
CREATE FUNCTION ledger_reserve_rows(p_account_id text, p_mode text, p_currency text, p_rows jsonb)
RETURNS TABLE (outcome text, available numeric(38,8), reserved numeric(38,8))
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  b balances%ROWTYPE;
  number_of_rows integer;
  smallest numeric(38,8);
  total numeric(38,8);
BEGIN
  SELECT count(*), min(amount), sum(amount) INTO number_of_rows, smallest, total
    FROM jsonb_to_recordset(p_rows) AS r(amount numeric(38,8));
  IF number_of_rows = 0 OR coalesce(smallest, 0) <= 0 THEN
    RAISE EXCEPTION 'ledger_reserve_rows reserves amounts greater than zero only';
  END IF;

  UPDATE balances w
     SET available = w.available - total,
         reserved = w.reserved + total,
         version = w.version + number_of_rows,
         last_posted_at = greatest(clock_timestamp(),
                                   w.last_posted_at + number_of_rows * interval '1 microsecond')
   WHERE (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency)
     AND w.available >= total
  RETURNING * INTO b;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'insufficient', w.available, w.reserved
      FROM (VALUES (1)) AS one(x) LEFT JOIN balances w
        ON (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency);
    RETURN;
  END IF;

  INSERT INTO ledger_transactions
    SELECT r.id, r.operation_key, p_account_id, p_mode, p_currency, 'payout_reserve',
           r.description, 'payout', r.source_id, b.version - number_of_rows + r.n,
           b.last_posted_at - (number_of_rows - r.n) * interval '1 microsecond'
      FROM ROWS FROM (jsonb_to_recordset(p_rows)
             AS (id text, operation_key text, source_id text, description text))
        WITH ORDINALITY AS r(id, operation_key, source_id, description, n);

  -- Each line's balance is what the account held before this posting, less what the rows up to it took.
  INSERT INTO ledger_entries
    SELECT r.id, line.n, line.account, line.direction, r.amount,
           CASE line.account WHEN 'available' THEN b.available + total - r.taken
                             ELSE b.reserved - total + r.taken END
      FROM (SELECT id, amount, sum(amount) OVER (ORDER BY n) AS taken
              FROM ROWS FROM (jsonb_to_recordset(p_rows) AS (id text, amount numeric(38,8)))
                WITH ORDINALITY AS given(id, amount, n)) AS r
     CROSS JOIN (VALUES (1, 'available', 'out'), (2, 'reserved', 'in')) AS line(n, account, direction);

  RETURN QUERY SELECT 'posted', b.available, b.reserved;
END $$;
REVOKE EXECUTE ON FUNCTION ledger_reserve_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger_reserve_rows TO gateway_worker;
`;

export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_batch ON payouts (batch_id, batch_row)
     WHERE batch_id IS NOT NULL`,
];
