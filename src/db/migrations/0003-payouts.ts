/** Payouts, and the rules a payout must pass: routes, fees, limits, pauses. */
export const sql = /* sql */ `
-- What each provider can move (decision M5). The order of a merchant's list is the rank.
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

-- Limits (decision O9) and what may pass without an operator (O2). Null means no maximum.
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

-- Decision O11. target is the provider's code or the account's id, '' for a global pause.
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
CREATE INDEX payouts_open ON payouts (workflow_checked_at)
  WHERE status IN ('requested', 'under_review', 'approved', 'processing');

-- A value that no row of the account has is found not to be there, instead of looking for it in all
-- of them (decision W13). The reference has an index of its own already, and so have the times.
CREATE INDEX payouts_by_status
  ON payouts (account_id, mode, status, created_at DESC, id DESC);
CREATE INDEX payouts_by_provider
  ON payouts (account_id, mode, provider, created_at DESC, id DESC);

-- What a big account has of each: without this PostgreSQL takes for common there what is common
-- among all, and looks through the account's rows when several filters together match none.
CREATE STATISTICS payouts_filters (mcv)
  ON account_id, mode, status, provider, currency FROM payouts;

GRANT SELECT ON currency_routes, fee_rules, payout_policies TO gateway_app;
GRANT SELECT, INSERT, DELETE ON payout_pauses TO gateway_app;
GRANT SELECT, INSERT, UPDATE ON payouts TO gateway_app;
GRANT EXECUTE ON FUNCTION payout_policy TO gateway_app;
`;
