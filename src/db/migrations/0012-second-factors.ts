/** Second factors, the budgets of sign-in attempts, and the invitations of people. */
export const sql = /* sql */ `
ALTER TABLE users ADD COLUMN name text NOT NULL DEFAULT '';
-- When the person last proved who they are in this session.
ALTER TABLE sessions ADD COLUMN authenticated_at timestamptz NOT NULL DEFAULT now();

CREATE TABLE totp_secrets (
  user_id text PRIMARY KEY REFERENCES users,
  -- Encrypted, as the secrets of webhook endpoints.
  sealed bytea NOT NULL,
  key_id text NOT NULL,
  -- Null until the first code: it is not a second factor yet.
  confirmed_at timestamptz,
  -- The 30-second step of the last accepted code. A code of this step or an earlier one is refused.
  last_step bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE recovery_codes (
  user_id text NOT NULL REFERENCES users,
  code_hash bytea NOT NULL,
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE passkeys (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users,
  -- base64url, as browsers send it.
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  -- Of the authenticator; 0 for ever if it does not count.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at);

-- A challenge is in an encrypted cookie; when it is answered, its hash is kept until it expires.
CREATE TABLE used_challenges (
  hash bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);

-- A row: a second factor is required.
CREATE TABLE second_factor_policies (
  -- An account's id, or 'operators'.
  scope text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- The link holds the token; the row holds its hash only.
CREATE TABLE invitations (
  id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('merchant', 'operator')),
  -- Of a merchant.
  account_id text REFERENCES accounts,
  email text NOT NULL,
  role text NOT NULL,
  -- The e-mail address of the person who invited.
  invited_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz,
  CHECK ((kind = 'merchant') = (account_id IS NOT NULL))
);
CREATE INDEX invitations_open ON invitations (kind, account_id, created_at)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- One row for each password or code that was tried and not accepted; old rows are deleted.
DROP TABLE sign_in_attempts;
CREATE TABLE authentication_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  email text NOT NULL,
  step text NOT NULL CHECK (step IN ('password', 'code')),
  -- An IPv6 address counts with its /64 network.
  network inet,
  -- A browser in which the user signed in before; null: not known.
  device text,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX authentication_attempts_by_email ON authentication_attempts (kind, email, at);
CREATE INDEX authentication_attempts_by_network ON authentication_attempts (network, at);
CREATE INDEX authentication_attempts_by_time ON authentication_attempts (at);

GRANT SELECT, INSERT, UPDATE, DELETE ON totp_secrets, recovery_codes, passkeys TO gateway_dashboard;
GRANT SELECT, INSERT, DELETE ON used_challenges, authentication_attempts TO gateway_dashboard;
GRANT SELECT, INSERT, UPDATE ON invitations TO gateway_dashboard;
GRANT SELECT, INSERT, DELETE ON second_factor_policies TO gateway_dashboard, gateway_admin;
GRANT DELETE ON memberships TO gateway_dashboard;
-- What the console changes of an account, and nothing else.
REVOKE UPDATE ON accounts FROM gateway_dashboard;
GRANT UPDATE (status, verified_at, review_all, rehearse_review) ON accounts TO gateway_dashboard;
-- For a person who lost the second factor, and for a new encryption key.
GRANT SELECT, UPDATE, DELETE ON totp_secrets TO gateway_admin;
GRANT SELECT, DELETE ON recovery_codes, passkeys TO gateway_admin;
`;
