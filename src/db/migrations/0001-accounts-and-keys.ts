/**
 * The roles that the running gateway has, merchant accounts, their API keys, the idempotency records, and
 * the audit log.
 */
export const sql = /* sql */ `
-- The API, the worker and the admin command log in as members of these roles. Money moves only through
-- ledger_post (the worker) and ledger_adjust (the admin command). test/db/rights.test.ts has the table
-- of all rights.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['gateway_api', 'gateway_worker', 'gateway_admin'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
END $$;
GRANT USAGE ON SCHEMA public TO gateway_api, gateway_worker, gateway_admin;
-- A function is callable only by the roles that it is granted to.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

CREATE TABLE accounts (
  id text PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  verified_at timestamptz,
  -- Every live payout waits for an operator unless this is switched off (decisions/payout-review);
  -- rehearse_review makes test payouts wait too.
  review_all boolean NOT NULL DEFAULT true,
  rehearse_review boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  name text NOT NULL,
  secret_hash bytea NOT NULL UNIQUE,
  display_prefix text NOT NULL,
  last_four text NOT NULL,
  scopes text[] NOT NULL,
  allowlist cidr[] NOT NULL DEFAULT '{}',
  requests_per_minute integer NOT NULL DEFAULT 120
    CHECK (requests_per_minute BETWEEN 1 AND 1200),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  last_used_address inet
);
CREATE INDEX api_keys_by_account ON api_keys (account_id, mode);

-- One row per key, counting the current minute. Unlogged: after a crash of the database a minute
-- starts from zero, and in return a request costs no write-ahead log.
CREATE UNLOGGED TABLE api_key_minutes (
  api_key_id text PRIMARY KEY,
  minute timestamptz NOT NULL,
  requests integer NOT NULL
) WITH (fillfactor = 50);

-- Authentication, rate limit and last use in one round trip. No row: no such key, or it is
-- revoked or expired. Only a request that passed the account and address checks is counted.
CREATE FUNCTION authenticate_key(p_secret_hash bytea, p_address inet)
RETURNS TABLE (
  api_key_id text, account_id text, mode text, scopes text[], account_status text,
  address_allowed boolean, requests_per_minute integer, requests integer, seconds_left integer
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  k api_keys%ROWTYPE;
  this_minute constant timestamptz := date_trunc('minute', clock_timestamp());
BEGIN
  SELECT * INTO k FROM api_keys
   WHERE secret_hash = p_secret_hash AND revoked_at IS NULL
     AND (expires_at IS NULL OR expires_at > clock_timestamp());
  IF NOT FOUND THEN RETURN; END IF;

  SELECT a.status INTO account_status FROM accounts a WHERE a.id = k.account_id;
  address_allowed := k.allowlist = '{}' OR EXISTS (
    SELECT FROM unnest(k.allowlist) AS allowed(net) WHERE p_address <<= allowed.net);
  requests := 0;
  IF account_status = 'active' AND address_allowed THEN
    SELECT m.requests INTO requests FROM api_key_minutes m
     WHERE m.api_key_id = k.id AND m.minute = this_minute;
    IF requests >= k.requests_per_minute THEN
      -- Refused without a write: DO UPDATE would lock and write the row even if it changed nothing.
      requests := requests + 1;
    ELSE
      INSERT INTO api_key_minutes AS m VALUES (k.id, this_minute, 1)
        ON CONFLICT ON CONSTRAINT api_key_minutes_pkey DO UPDATE
        SET requests = CASE WHEN m.minute = this_minute THEN m.requests + 1 ELSE 1 END,
            minute = this_minute
        RETURNING m.requests INTO requests;
    END IF;
    IF k.last_used_at IS NULL OR k.last_used_at < clock_timestamp() - interval '1 minute' THEN
      UPDATE api_keys SET last_used_at = clock_timestamp(), last_used_address = p_address
       WHERE id = k.id;
    END IF;
  END IF;

  api_key_id := k.id; account_id := k.account_id; mode := k.mode; scopes := k.scopes;
  requests_per_minute := k.requests_per_minute;
  seconds_left := ceil(extract(epoch FROM this_minute + interval '1 minute' - clock_timestamp()));
  RETURN NEXT;
END $$;

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

-- Who changed what, when, from what to what, and why. A change writes its row in its own
-- transaction. before and after never hold a secret or its hash.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL CHECK (actor <> ''),
  action text NOT NULL,
  object text NOT NULL,
  object_id text NOT NULL,
  -- Null for what belongs to no account: a default, a global pause.
  account_id text,
  before jsonb,
  after jsonb,
  reason text
);
CREATE INDEX audit_log_by_object ON audit_log (object_id, at);
CREATE INDEX audit_log_by_time ON audit_log (at);

CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

GRANT SELECT ON accounts, api_keys TO gateway_api, gateway_worker;
GRANT SELECT, INSERT, UPDATE ON accounts, api_keys TO gateway_admin;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO gateway_api;
GRANT SELECT, UPDATE, DELETE ON idempotency_keys TO gateway_worker;
GRANT SELECT ON idempotency_keys TO gateway_admin;
GRANT SELECT, INSERT ON audit_log TO gateway_worker, gateway_admin;
GRANT EXECUTE ON FUNCTION authenticate_key TO gateway_api;
`;
