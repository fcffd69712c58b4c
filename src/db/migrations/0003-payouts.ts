/** Payouts, their events, the idempotency records, and the rules a payout must pass. */
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
  -- When the reconciler last made sure that a workflow drives this payout.
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

-- One row per status change; the body is the webhook's exact bytes (decision H1).
CREATE TABLE events (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  mode text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  sequence integer NOT NULL,
  body bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (object_id, sequence)
);

-- A claim (running) holds the new object's id and what the client asked for. The transaction that
-- creates the object turns it into the stored response (done); a refusal deletes it. A claim whose
-- lease has run out is dead: nothing can be created from it any more.
CREATE TABLE idempotency_keys (
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL,
  key text NOT NULL,
  body_hash bytea NOT NULL,
  object_id text NOT NULL UNIQUE,
  state text NOT NULL CHECK (state IN ('running', 'done')),
  lease_until timestamptz NOT NULL,
  request jsonb,
  response_status smallint,
  response_body bytea,
  completed_at timestamptz,
  PRIMARY KEY (account_id, mode, key),
  CHECK ((state = 'done') = (response_body IS NOT NULL))
);
-- For the clean-up, which looks at the oldest of each kind.
CREATE INDEX idempotency_keys_done ON idempotency_keys (completed_at) WHERE state = 'done';
CREATE INDEX idempotency_keys_running ON idempotency_keys (lease_until) WHERE state = 'running';

-- What the gateway cannot explain and will not mend by itself: an operator decides.
CREATE TABLE cases (
  id text PRIMARY KEY,
  kind text NOT NULL,
  object_id text NOT NULL,
  details jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  resolution text
);
-- One open case of a kind for each object; what happens again after it was resolved is new.
CREATE UNIQUE INDEX cases_open ON cases (kind, object_id) WHERE resolved_at IS NULL;

GRANT SELECT ON currency_routes, fee_rules, payout_policies TO gateway_app;
GRANT SELECT, INSERT, DELETE ON payout_pauses TO gateway_app;
GRANT SELECT, INSERT, UPDATE ON payouts, cases TO gateway_app;
GRANT SELECT, INSERT ON events TO gateway_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO gateway_app;
`;
