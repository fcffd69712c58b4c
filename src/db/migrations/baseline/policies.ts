/**
 * The rules that money must pass: routes, fees, limits, pauses and thresholds for two approvals, the proposals to
 * change them, and the rules that a new gateway starts with.
 */
export const policies = /* sql */ `
-- What each provider can move (decisions/money#currencies). The order of a merchant's list is the rank.
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
-- What a new gateway starts with (decisions/money#currencies, decisions/money#service-fees, decisions/controls#payout-limits).
INSERT INTO currency_routes (provider, direction, currency, network, min_amount)
SELECT provider, direction, currency, network, min_amount::numeric
  FROM (VALUES
    ('onchain_provider', 'USDT', 'ethereum', '1'),
    ('onchain_provider', 'USDT', 'tron', '1'),
    ('onchain_provider', 'USDC', 'ethereum', '1'),
    ('onchain_provider', 'USDC', 'tron', '1'),
    ('onchain_provider', 'USDC', 'base', '1'),
    ('onchain_provider', 'ETH', 'ethereum', '0.0005'),
    ('onchain_provider', 'BTC', 'bitcoin', '0.00005'),
    ('onchain_provider', 'XRP', 'xrpl', '1'),
    ('exchange_pay', 'USDT', 'internal', '0.01'),
    ('exchange_pay', 'USDC', 'internal', '0.01'),
    ('exchange_pay', 'BTC', 'internal', '0.000001'),
    ('exchange_pay', 'ETH', 'internal', '0.00001')
  ) AS route(provider, currency, network, min_amount)
  CROSS JOIN (VALUES ('payin'), ('payout')) AS way(direction);
GRANT SELECT ON currency_routes TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT UPDATE ON currency_routes TO gateway_admin;

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
INSERT INTO fee_rules (direction, provider, currency, percentage, valid_from)
SELECT DISTINCT direction, provider, currency, 1.0000, '2020-01-01T00:00:00Z'::timestamptz
  FROM currency_routes;
GRANT SELECT ON fee_rules TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON fee_rules TO gateway_admin, gateway_dashboard;

-- Limits (decisions/controls#payout-limits) and what may pass without an operator (decisions/controls#payout-review). Null
-- means no maximum.
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
INSERT INTO payout_policies (currency, per_transaction_max, daily_max) VALUES
  ('USDT', 50000, 200000),
  ('USDC', 50000, 200000),
  ('BTC', 1, 4),
  ('ETH', 15, 60),
  ('XRP', 20000, 80000);
GRANT SELECT ON payout_policies TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON payout_policies TO gateway_admin, gateway_dashboard;

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
GRANT EXECUTE ON FUNCTION payout_policy TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- Pauses (decisions/controls#payout-pauses). Several can hold one scope; each is lifted by its id. target is the
-- provider's code or the account's id, '' for a global pause.
CREATE TABLE payout_pauses (
  scope text NOT NULL CHECK (scope IN ('global', 'provider', 'account')),
  target text NOT NULL DEFAULT '',
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: payouts of both modes.
  mode text CHECK (mode IN ('live', 'test')),
  created_by text,
  -- The same request again makes no second pause.
  CONSTRAINT payout_pauses_once UNIQUE NULLS NOT DISTINCT (scope, target, mode, reason, created_by)
);
GRANT SELECT ON payout_pauses TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payout_pauses TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT UPDATE ON payout_pauses TO gateway_admin;
GRANT DELETE ON payout_pauses TO gateway_admin, gateway_dashboard;

-- A payout above this amount is approved by two different operators, in the console.
CREATE TABLE four_eyes_thresholds (
  currency text PRIMARY KEY,
  amount numeric(38,8) NOT NULL CHECK (amount >= 0)
);
GRANT SELECT ON four_eyes_thresholds TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE, DELETE ON four_eyes_thresholds TO gateway_admin, gateway_dashboard;

-- Changes of policies that one admin proposes and another approves: an account's, or a threshold, which
-- belongs to no account.
CREATE TABLE policy_proposals (
  id text PRIMARY KEY,
  account_id text REFERENCES accounts,
  -- What it changes, such as "limits USDT".
  topic text NOT NULL,
  wish jsonb NOT NULL,
  -- What is in force when it is proposed; null: no rule. And what the proposal makes of it.
  before jsonb,
  after jsonb NOT NULL,
  -- Null: the admin command proposes a threshold without a reason.
  reason text,
  -- The admin's e-mail address.
  proposed_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL DEFAULT clock_timestamp() + interval '7 days',
  outcome text CHECK (outcome IN ('approved', 'rejected', 'replaced')),
  decided_by text,
  decided_at timestamptz,
  CHECK ((outcome IS NULL) = (decided_at IS NULL) AND (outcome IS NULL) = (decided_by IS NULL)),
  CONSTRAINT policy_proposals_reason_check CHECK (reason IS NOT NULL OR account_id IS NULL),
  -- Two people, whatever the programs do.
  CHECK (outcome IS DISTINCT FROM 'approved' OR lower(decided_by) <> lower(proposed_by))
);
-- At most one proposal about a policy is open. A null account is equal to another one.
CREATE UNIQUE INDEX policy_proposals_one_open
  ON policy_proposals (account_id, topic) NULLS NOT DISTINCT WHERE outcome IS NULL;
CREATE INDEX policy_proposals_newest ON policy_proposals (created_at) WHERE outcome IS NULL;
-- What was proposed cannot be changed.
GRANT SELECT, INSERT, UPDATE (outcome, decided_by, decided_at) ON policy_proposals TO gateway_admin,
  gateway_dashboard;
`;
