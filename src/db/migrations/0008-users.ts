/** People who sign in: merchants to the dashboard and operators to the console, and their sessions. */
export const sql = /* sql */ `
-- The pages of the api process have a login of their own: the API may not write keys or endpoints.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gateway_dashboard') THEN
    CREATE ROLE gateway_dashboard NOLOGIN;
  END IF;
END $$;
GRANT USAGE ON SCHEMA public TO gateway_dashboard;

CREATE TABLE users (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('merchant', 'operator')),
  email text NOT NULL,
  -- argon2id, with its parameters and salt.
  password_hash text NOT NULL,
  -- Of an operator; a merchant has a role in each account.
  operator_role text CHECK (operator_role IN ('admin', 'reviewer', 'viewer')),
  disabled_at timestamptz,
  last_sign_in_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((kind = 'operator') = (operator_role IS NOT NULL))
);
-- One person may be a merchant and an operator: these are two users with two passwords.
CREATE UNIQUE INDEX users_by_email ON users (kind, lower(email));

CREATE TABLE memberships (
  user_id text NOT NULL REFERENCES users,
  account_id text NOT NULL REFERENCES accounts,
  role text NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, account_id)
);
CREATE INDEX memberships_by_account ON memberships (account_id);

-- The cookie holds the token; the row holds its hash only.
CREATE TABLE sessions (
  id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  user_id text NOT NULL REFERENCES users,
  -- The account that a merchant looks at; null for an operator.
  account_id text REFERENCES accounts,
  address inet,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX sessions_by_user ON sessions (user_id, created_at DESC);

-- One row for each password that was tried and not accepted; old rows are deleted.
CREATE TABLE sign_in_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  email text NOT NULL,
  -- An IPv6 address counts with its /64 network.
  network inet,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sign_in_attempts_by_network ON sign_in_attempts (network, at);
CREATE INDEX sign_in_attempts_by_time ON sign_in_attempts (at);

GRANT SELECT, INSERT, UPDATE ON users, memberships, sessions TO gateway_dashboard, gateway_admin;
GRANT SELECT, INSERT, DELETE ON sign_in_attempts TO gateway_dashboard;
GRANT SELECT ON balances, cases, currency_routes, events, fee_rules, idempotency_keys,
  ledger_entries, ledger_transactions, payment_credits, payment_decisions, payment_refunds, payments,
  payout_pauses, payout_policies, payout_usage, payouts TO gateway_dashboard;
GRANT SELECT, UPDATE ON accounts TO gateway_dashboard;
GRANT SELECT, INSERT, UPDATE ON api_keys, webhook_attempts, webhook_deliveries, webhook_endpoints
  TO gateway_dashboard;
GRANT SELECT, INSERT ON audit_log TO gateway_dashboard;
-- The event of a ping.
GRANT INSERT ON events TO gateway_dashboard;
GRANT EXECUTE ON FUNCTION event_position TO gateway_dashboard;
`;
