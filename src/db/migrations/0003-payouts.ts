/** Payouts, and the rules a payout must pass: routes, fees, limits, pauses. */
export const sql = /* sql */ `
-- What each provider can move (decisions/currencies). The order of a merchant's list is the rank.
CREATE TABLE currency_routes (
  provider text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('payin', 'payout')),
  currency text NOT NULL,
  network text NOT NULL,
  min_amount numeric(38,8) NOT NULL CHECK (min_amount > 0),
  max_amount numeric(38,8),
  enabled boolean NOT NULL DEFAULT true,
  PRIMARY KEY (provider, direction, currency, network)
);

-- A row without an account is the default; an account's own row takes its place.
CREATE TABLE fee_rules (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id text REFERENCES accounts,
  direction text NOT NULL CHECK (direction IN ('payin', 'payout')),
  provider text NOT NULL,
  currency text NOT NULL,
  percentage numeric(8,4) NOT NULL CHECK (percentage >= 0 AND percentage <= 100),
  fixed_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (fixed_amount >= 0),
  min_fee numeric(38,8) CHECK (min_fee >= 0),
  max_fee numeric(38,8) CHECK (max_fee >= 0),
  valid_from timestamptz NOT NULL DEFAULT now(),
  valid_until timestamptz
);
CREATE INDEX fee_rules_lookup ON fee_rules (direction, provider, currency, account_id);

-- Limits (decisions/payout-limits) and what may pass without an operator (decisions/payout-review). Null means no maximum.
CREATE TABLE payout_policies (
  account_id text REFERENCES accounts,
  currency text NOT NULL,
  per_transaction_max numeric(38,8),
  daily_max numeric(38,8),
  auto_approve_max numeric(38,8),
  auto_approve_daily_max numeric(38,8),
  -- Which of its maxima an account takes from the default, and which a default has not set. Without
  -- this, setting one of the four would freeze the other three, and a limit that is lowered for all
  -- would not reach the account.
  inherited text[] NOT NULL DEFAULT '{}'
    CHECK (inherited <@ ARRAY['per_transaction_max', 'daily_max', 'auto_approve_max',
                              'auto_approve_daily_max']),
  UNIQUE NULLS NOT DISTINCT (account_id, currency)
);

-- Pauses (decisions/payout-pauses). target is the provider's code or the account's id, '' for a global pause.
CREATE TABLE payout_pauses (
  scope text NOT NULL CHECK (scope IN ('global', 'provider', 'account')),
  target text NOT NULL DEFAULT '',
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope, target)
);

-- The maxima in force for an account; always one row. Null is no maximum.
CREATE FUNCTION payout_policy(p_account_id text, p_currency text)
RETURNS TABLE (
  per_transaction_max numeric, daily_max numeric,
  auto_approve_max numeric, auto_approve_daily_max numeric,
  -- Names: taken from the default; set by nobody, which is not the same as no maximum.
  from_default text[], unset text[]
) LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN 'per_transaction_max' = ANY (f.names) THEN std.per_transaction_max
              ELSE own.per_transaction_max END,
         CASE WHEN 'daily_max' = ANY (f.names) THEN std.daily_max ELSE own.daily_max END,
         CASE WHEN 'auto_approve_max' = ANY (f.names) THEN std.auto_approve_max
              ELSE own.auto_approve_max END,
         CASE WHEN 'auto_approve_daily_max' = ANY (f.names) THEN std.auto_approve_daily_max
              ELSE own.auto_approve_daily_max END,
         f.names,
         ARRAY(SELECT name FROM unnest(f.names) AS name
                WHERE std.currency IS NULL OR name = ANY (std.inherited))
    FROM (VALUES (p_currency)) AS asked(currency)
    LEFT JOIN payout_policies std
      ON std.account_id IS NULL AND std.currency = asked.currency
    LEFT JOIN payout_policies own
      ON own.account_id = p_account_id AND own.currency = asked.currency
   CROSS JOIN LATERAL (SELECT coalesce(own.inherited, ARRAY['per_transaction_max', 'daily_max',
                'auto_approve_max', 'auto_approve_daily_max'])) AS f(names)
$$;

CREATE TABLE payouts (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  reference text NOT NULL,
  status text NOT NULL CHECK (status IN ('requested', 'under_review', 'approved', 'processing',
    'completed', 'rejected', 'failed', 'cancelled')),
  -- For indexes: as long as a payout is open, a status change touches none of them (a HOT update).
  status_group text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN status IN ('requested', 'under_review', 'approved', 'processing') THEN 'open'
         ELSE status END) STORED,
  provider text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  network text,
  destination_type text NOT NULL,
  destination_value text NOT NULL,
  destination_memo text,
  service_fee numeric(38,8) NOT NULL CHECK (service_fee >= 0),
  network_fee numeric(38,8) NOT NULL CHECK (network_fee >= 0),
  total_debit numeric(38,8) NOT NULL CHECK (total_debit = amount + service_fee + network_fee),
  fee_terms jsonb NOT NULL,
  description text,
  metadata jsonb NOT NULL DEFAULT '{}',
  api_key_id text NOT NULL,
  review_reasons text[] NOT NULL,
  decided_by text,
  tx_hash text,
  failure_reason text,
  rejection_reason text,
  provider_transfer_id text,
  -- Set before the order leaves: from then on only the provider's word can end the payout.
  submission_started_at timestamptz,
  -- Set while it is not known whether the provider holds the order.
  in_doubt_since timestamptz,
  processing_since timestamptz,
  attention_level smallint NOT NULL DEFAULT 0,
  -- Set while a pause holds the submission back: its workflow is not woken before this time.
  wake_after timestamptz,
  -- When it was last checked that this payout has a workflow.
  workflow_checked_at timestamptz NOT NULL DEFAULT now(),
  -- Counts the status changes; carried by the events.
  sequence integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (account_id, mode, reference)
) WITH (fillfactor = 70);
CREATE INDEX payouts_newest ON payouts (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payouts_window ON payouts (account_id, mode, currency, created_at);
CREATE INDEX payouts_by_destination ON payouts (account_id, mode, destination_value);
CREATE INDEX payouts_open ON payouts (workflow_checked_at) WHERE status_group = 'open';
-- Held by a pause.
CREATE INDEX payouts_held ON payouts (wake_after) WHERE wake_after IS NOT NULL;

-- A value that no row of the account has is found not to be there, instead of looking for it in all
-- of them (decisions/lists). The reference has an index of its own already, and so have the times.
CREATE INDEX payouts_by_status
  ON payouts (account_id, mode, status_group, created_at DESC, id DESC);
CREATE INDEX payouts_by_provider
  ON payouts (account_id, mode, provider, created_at DESC, id DESC);

-- What a big account has of each: without this PostgreSQL takes for common there what is common
-- among all, and looks through the account's rows when several filters together match none.
CREATE STATISTICS payouts_filters (mcv)
  ON account_id, mode, status, status_group, provider, currency FROM payouts;

-- What counts against the limits of 24 hours (decisions/payout-limits), so that a reservation does not add
-- up the day's payouts: the sums over the payouts after counted_after that were not returned. An account
-- and currency without such a limit has no row, until its first reservation under one.
CREATE TABLE payout_usage (
  account_id text NOT NULL,
  mode text NOT NULL,
  currency text NOT NULL,
  counted_after timestamptz NOT NULL,
  used numeric(38,8) NOT NULL,
  -- Of these, what no operator reviewed.
  auto_approved numeric(38,8) NOT NULL,
  PRIMARY KEY (account_id, mode, currency)
) WITH (fillfactor = 50);

-- The sums over a range of creation times, from the payouts themselves.
CREATE FUNCTION payout_sums(
  p_account_id text, p_mode text, p_currency text, p_after timestamptz, p_until timestamptz
) RETURNS TABLE (used numeric(38,8), auto_approved numeric(38,8)) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0), coalesce(sum(amount) FILTER (WHERE review_reasons = '{}'), 0)
    FROM payouts
   WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
     AND created_at > p_after AND created_at <= p_until
     AND status NOT IN ('rejected', 'failed', 'cancelled')
$$;

-- The sums of the last 24 hours: exact, because what has left the window since counted_after is
-- subtracted. No row: nothing is counted.
CREATE FUNCTION payout_used(p_account_id text, p_mode text, p_currency text)
RETURNS TABLE (used numeric(38,8), auto_approved numeric(38,8)) LANGUAGE sql STABLE AS $$
  SELECT u.used - gone.used, u.auto_approved - gone.auto_approved
    FROM payout_usage u
   CROSS JOIN LATERAL payout_sums(u.account_id, u.mode, u.currency, u.counted_after,
                                  statement_timestamp() - interval '24 hours') AS gone
   WHERE u.account_id = p_account_id AND u.mode = p_mode AND u.currency = p_currency
$$;

CREATE FUNCTION payout_usage_key(p_account_id text, p_mode text, p_currency text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtextextended(concat_ws(':', p_account_id, p_mode, p_currency), 0)
$$;

-- Reservations under a limit of 24 hours go one after the other from here to their commit, and find a
-- row to count in. Without such a limit nothing is locked or counted.
CREATE FUNCTION lock_payout_usage(p_account_id text, p_mode text, p_currency text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  day_ago timestamptz;
BEGIN
  PERFORM FROM payout_policy(p_account_id, p_currency) AS p
    WHERE coalesce(p.daily_max, p.auto_approve_daily_max) IS NOT NULL;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(payout_usage_key(p_account_id, p_mode, p_currency));
  PERFORM FROM payout_usage u
    WHERE (u.account_id, u.mode, u.currency) = (p_account_id, p_mode, p_currency);
  IF FOUND THEN RETURN; END IF;
  day_ago := clock_timestamp() - interval '24 hours';
  INSERT INTO payout_usage
    SELECT p_account_id, p_mode, p_currency, day_ago, s.used, s.auto_approved
      FROM payout_sums(p_account_id, p_mode, p_currency, day_ago, 'infinity') AS s;
END $$;

-- Locks the row, and returns from when on it counts. Null when there is no row: then the shared lock
-- makes the transaction that adds it wait for this one, whose payouts its sum must include.
CREATE FUNCTION hold_payout_usage(p_account_id text, p_mode text, p_currency text)
RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  found_after timestamptz;
BEGIN
  FOR attempt IN 1..2 LOOP
    SELECT u.counted_after INTO found_after FROM payout_usage u
     WHERE (u.account_id, u.mode, u.currency) = (p_account_id, p_mode, p_currency) FOR UPDATE;
    IF found_after IS NOT NULL OR attempt = 2 THEN RETURN found_after; END IF;
    PERFORM pg_advisory_xact_lock_shared(payout_usage_key(p_account_id, p_mode, p_currency));
  END LOOP;
END $$;

-- Adds new payouts and subtracts those that have left the window, each of them once.
CREATE FUNCTION count_new_payouts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  k record;
  held_after timestamptz;
  new_after timestamptz;
BEGIN
  FOR k IN SELECT DISTINCT account_id, mode, currency FROM added ORDER BY 1, 2, 3 LOOP
    held_after := hold_payout_usage(k.account_id, k.mode, k.currency);
    CONTINUE WHEN held_after IS NULL;
    new_after := greatest(held_after, clock_timestamp() - interval '24 hours');
    UPDATE payout_usage u
       SET counted_after = new_after,
           used = u.used + came.used - gone.used,
           auto_approved = u.auto_approved + came.auto_approved - gone.auto_approved
      FROM payout_sums(k.account_id, k.mode, k.currency, held_after, new_after) AS gone,
           (SELECT coalesce(sum(amount), 0) AS used,
                   coalesce(sum(amount) FILTER (WHERE review_reasons = '{}'), 0) AS auto_approved
              FROM added
             WHERE (account_id, mode, currency) = (k.account_id, k.mode, k.currency)
               AND created_at > held_after
               AND status NOT IN ('rejected', 'failed', 'cancelled')) AS came
     WHERE (u.account_id, u.mode, u.currency) = (k.account_id, k.mode, k.currency);
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER count_new AFTER INSERT ON payouts
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_payouts();

-- A payout that is rejected, fails or is cancelled no longer counts.
CREATE FUNCTION count_returned_payout() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  is_returned constant boolean := NEW.status IN ('rejected', 'failed', 'cancelled');
  change constant numeric(38,8) := CASE WHEN is_returned THEN -NEW.amount ELSE NEW.amount END;
BEGIN
  IF NEW.created_at > hold_payout_usage(NEW.account_id, NEW.mode, NEW.currency) THEN
    UPDATE payout_usage u
       SET used = u.used + change,
           auto_approved = u.auto_approved + CASE WHEN NEW.review_reasons = '{}' THEN change ELSE 0 END
     WHERE (u.account_id, u.mode, u.currency) = (NEW.account_id, NEW.mode, NEW.currency);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_returned AFTER UPDATE OF status ON payouts FOR EACH ROW
  WHEN ((OLD.status IN ('rejected', 'failed', 'cancelled'))
        <> (NEW.status IN ('rejected', 'failed', 'cancelled')))
  EXECUTE FUNCTION count_returned_payout();

CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE OF
  id, account_id, mode, currency, reference, status, sequence, total_debit, api_key_id ON payouts
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('id');

GRANT SELECT ON currency_routes, fee_rules, payout_policies, payout_pauses, payout_usage, payouts
  TO gateway_api, gateway_worker, gateway_admin;
GRANT INSERT, UPDATE ON fee_rules, payout_policies TO gateway_admin;
GRANT UPDATE ON currency_routes TO gateway_admin;
GRANT INSERT ON payout_pauses TO gateway_worker;
GRANT INSERT, UPDATE, DELETE ON payout_pauses TO gateway_admin;
GRANT INSERT, UPDATE ON payouts TO gateway_worker;
GRANT EXECUTE ON FUNCTION payout_policy, payout_sums, payout_used
  TO gateway_api, gateway_worker, gateway_admin;
GRANT EXECUTE ON FUNCTION lock_payout_usage TO gateway_worker;
`;
