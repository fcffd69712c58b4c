/**
 * The ledger: balances, transactions, entries, and the only writers of them (decisions/money#ledger): ledger_post,
 * ledger_adjust and ledger_reserve_rows. Readable in one sitting, on purpose.
 */
export const ledger = /* sql */ `
-- One row holds both of a merchant's accounts of a currency, so that a posting takes one lock and
-- two postings cannot deadlock. No foreign key points here: its share locks would halve the
-- throughput of a busy balance.
CREATE TABLE balances (
  account_id text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  currency text NOT NULL,
  available numeric(38,8) NOT NULL CHECK (available >= 0),
  reserved numeric(38,8) NOT NULL CHECK (reserved >= 0),
  -- Counts the postings without a gap, and keeps posted_at strictly growing per balance also
  -- when the clock steps back.
  version bigint NOT NULL,
  last_posted_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, mode, currency)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
GRANT SELECT ON balances TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

CREATE TABLE ledger_transactions (
  id text PRIMARY KEY,
  operation_key text NOT NULL UNIQUE,
  account_id text NOT NULL,
  mode text NOT NULL,
  currency text NOT NULL,
  type text NOT NULL CHECK (type IN ('payin_settlement', 'payin_refund', 'payout_reserve',
    'payout_release', 'payout_settlement', 'adjustment')),
  description text NOT NULL,
  source_object text NOT NULL CHECK (source_object IN ('payment', 'payout', 'adjustment')),
  source_id text NOT NULL,
  balance_version bigint NOT NULL,
  posted_at timestamptz NOT NULL,
  UNIQUE (account_id, mode, currency, balance_version)
);
CREATE INDEX ledger_transactions_newest ON ledger_transactions (account_id, mode, posted_at DESC, id DESC);
CREATE INDEX ledger_transactions_by_source ON ledger_transactions (source_id);
CREATE INDEX ledger_transactions_by_type
  ON ledger_transactions (account_id, mode, type, posted_at DESC, id DESC);
GRANT SELECT ON ledger_transactions TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

CREATE TABLE ledger_entries (
  transaction_id text NOT NULL REFERENCES ledger_transactions,
  line smallint NOT NULL,
  account text NOT NULL CHECK (account IN ('available', 'reserved',
    'provider_clearing', 'fee_income', 'network_cost', 'adjustments')),
  direction text NOT NULL CHECK (direction IN ('in', 'out')),
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  -- The merchant's accounts only; a platform account has no balance row that all merchants would
  -- wait for.
  balance_after numeric(38,8) CHECK (balance_after >= 0),
  PRIMARY KEY (transaction_id, line),
  CHECK ((account IN ('available', 'reserved')) = (balance_after IS NOT NULL))
);
GRANT SELECT ON ledger_entries TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transactions
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE FUNCTION ledger_refuse_unbalanced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM added GROUP BY transaction_id
    HAVING sum(CASE direction WHEN 'in' THEN amount ELSE -amount END) <> 0
  ) THEN
    RAISE EXCEPTION 'unbalanced posting: in and out differ';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER balanced AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_unbalanced();

-- For ledger_post and ledger_adjust only: posts one balanced transaction; lines is an array of
-- {account, direction, amount}.
--   posted        the money moved
--   replayed      this posting was made before; nothing moved
--   insufficient  available would fall below zero; nothing moved
-- Anything else that is wrong raises. The caller writes the rest of its transaction first and
-- commits right after, because from the UPDATE on, the balance is locked.
CREATE FUNCTION ledger_write(
  p_id text, p_operation_key text, p_account_id text, p_mode text, p_currency text,
  p_type text, p_description text, p_source_object text, p_source_id text, p_lines jsonb
) RETURNS TABLE (outcome text, available numeric(38,8), reserved numeric(38,8))
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  known ledger_transactions%ROWTYPE;
  b balances%ROWTYPE;
  d_available numeric(38,8);
  d_reserved numeric(38,8);
BEGIN
  -- Postings with the same operation key go one after the other, so that the second finds what
  -- the first wrote. Without this both would miss it, and the second would meet a balance that
  -- the first has changed already: a false "insufficient", or an error. It locks this key alone;
  -- where different postings meet is the UPDATE below.
  PERFORM pg_advisory_xact_lock(hashtextextended(p_operation_key, 0));
  SELECT * INTO known FROM ledger_transactions WHERE operation_key = p_operation_key;
  IF FOUND THEN
    IF (known.account_id, known.mode, known.currency, known.type, known.source_object, known.source_id)
         IS DISTINCT FROM (p_account_id, p_mode, p_currency, p_type, p_source_object, p_source_id)
       OR (SELECT jsonb_agg(jsonb_build_array(e.account, e.direction, e.amount) ORDER BY e.line)
             FROM ledger_entries e WHERE e.transaction_id = known.id)
         IS DISTINCT FROM
          (SELECT jsonb_agg(jsonb_build_array(l.account, l.direction, l.amount) ORDER BY l.line)
             FROM ROWS FROM (jsonb_to_recordset(p_lines)
                              AS (account text, direction text, amount numeric(38,8)))
               WITH ORDINALITY AS l(account, direction, amount, line)) THEN
      RAISE EXCEPTION 'operation key % belongs to another posting', p_operation_key;
    END IF;
    RETURN QUERY SELECT 'replayed', w.available, w.reserved FROM balances w
      WHERE (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency);
    RETURN;
  END IF;

  IF jsonb_array_length(p_lines) = 0 THEN
    RAISE EXCEPTION 'posting % has no lines', p_operation_key;
  END IF;
  SELECT coalesce(sum(signed) FILTER (WHERE account = 'available'), 0),
         coalesce(sum(signed) FILTER (WHERE account = 'reserved'), 0)
    INTO d_available, d_reserved
    FROM (SELECT account, CASE direction WHEN 'in' THEN amount ELSE -amount END AS signed
            FROM jsonb_to_recordset(p_lines)
              AS l(account text, direction text, amount numeric(38,8))) s;

  INSERT INTO balances AS w
    SELECT p_account_id, p_mode, p_currency, 0, 0, 0, '-infinity'
     WHERE d_available >= 0 AND NOT EXISTS (
       SELECT FROM balances e
        WHERE (e.account_id, e.mode, e.currency) = (p_account_id, p_mode, p_currency))
    ON CONFLICT DO NOTHING;

  UPDATE balances w
     SET available = w.available + d_available,
         reserved = w.reserved + d_reserved,
         version = w.version + 1,
         last_posted_at = greatest(clock_timestamp(), w.last_posted_at + interval '1 microsecond')
   WHERE (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency)
     AND w.available + d_available >= 0
  RETURNING * INTO b;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'insufficient', w.available, w.reserved
      FROM (VALUES (1)) AS one(x) LEFT JOIN balances w
        ON (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency);
    RETURN;
  END IF;

  INSERT INTO ledger_transactions VALUES (p_id, p_operation_key, p_account_id, p_mode, p_currency,
    p_type, p_description, p_source_object, p_source_id, b.version, b.last_posted_at);

  -- Each line's balance is what the account held before this posting plus the lines up to it.
  INSERT INTO ledger_entries
    SELECT p_id, l.line, l.account, l.direction, l.amount,
           CASE l.account
             WHEN 'available' THEN b.available - d_available
             WHEN 'reserved' THEN b.reserved - d_reserved
           END + sum(CASE l.direction WHEN 'in' THEN l.amount ELSE -l.amount END)
                   OVER (PARTITION BY l.account ORDER BY l.line)
      FROM ROWS FROM (jsonb_to_recordset(p_lines)
                       AS (account text, direction text, amount numeric(38,8)))
        WITH ORDINALITY AS l(account, direction, amount, line);

  RETURN QUERY SELECT 'posted', b.available, b.reserved;
END $$;

-- The postings of payouts and payments. Each kind moves money between its own accounts only.
CREATE FUNCTION ledger_post(
  p_id text, p_operation_key text, p_account_id text, p_mode text, p_currency text,
  p_type text, p_description text, p_source_object text, p_source_id text, p_lines jsonb
) RETURNS TABLE (outcome text, available numeric(38,8), reserved numeric(38,8))
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  source constant text := CASE WHEN p_type LIKE 'payout%' THEN 'payout' ELSE 'payment' END;
  accounts constant text[] := CASE
    WHEN p_type IN ('payout_reserve', 'payout_release') THEN ARRAY['available', 'reserved']
    WHEN p_type = 'payout_settlement'
      THEN ARRAY['reserved', 'provider_clearing', 'fee_income', 'network_cost']
    WHEN p_type IN ('payin_settlement', 'payin_refund')
      THEN ARRAY['available', 'provider_clearing', 'fee_income'] END;
BEGIN
  IF accounts IS NULL OR p_source_object <> source OR EXISTS (
    SELECT FROM jsonb_to_recordset(p_lines) AS l(account text) WHERE l.account <> ALL (accounts)
  ) THEN
    RAISE EXCEPTION 'ledger_post does not post % of a % with these lines', p_type, p_source_object;
  END IF;
  RETURN QUERY SELECT * FROM ledger_write(p_id, p_operation_key, p_account_id, p_mode, p_currency,
    p_type, p_description, p_source_object, p_source_id, p_lines);
END $$;
GRANT EXECUTE ON FUNCTION ledger_post TO gateway_worker;

-- An operator's adjustment.
CREATE FUNCTION ledger_adjust(
  p_id text, p_operation_key text, p_account_id text, p_mode text, p_currency text,
  p_type text, p_description text, p_source_object text, p_source_id text, p_lines jsonb
) RETURNS TABLE (outcome text, available numeric(38,8), reserved numeric(38,8))
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF (p_type, p_source_object) IS DISTINCT FROM ('adjustment', 'adjustment') THEN
    RAISE EXCEPTION 'ledger_adjust posts adjustments only, not %', p_type;
  END IF;
  RETURN QUERY SELECT * FROM ledger_write(p_id, p_operation_key, p_account_id, p_mode, p_currency,
    p_type, p_description, p_source_object, p_source_id, p_lines);
END $$;
GRANT EXECUTE ON FUNCTION ledger_adjust TO gateway_admin;

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
GRANT EXECUTE ON FUNCTION ledger_reserve_rows TO gateway_worker;
`;
