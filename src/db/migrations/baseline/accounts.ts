/**
 * The roles that the running gateway has, merchant accounts, their API keys, the idempotency records, and
 * the audit log.
 */
export const sql = /* sql */ `
-- The API, the worker, the admin command and the pages log in as members of these roles. Money moves
-- only through ledger_post (the worker) and ledger_adjust (the admin command). Nobody logs in as
-- gateway_merchant: the pages' login takes it for single statements (baseline/account-rows).
-- test/db/database/rights.test.ts has the table of all rights.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['gateway_api', 'gateway_worker', 'gateway_admin', 'gateway_dashboard',
                              'gateway_merchant'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
  IF NOT pg_has_role('gateway_dashboard', 'gateway_merchant', 'MEMBER') THEN
    GRANT gateway_merchant TO gateway_dashboard;
  END IF;
END $$;
GRANT USAGE ON SCHEMA public
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;
-- A function is callable only by the roles that it is granted to.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

CREATE TABLE accounts (
  id text PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  verified_at timestamptz,
  -- Every live payout waits for an operator unless this is switched off (decisions/controls#payout-review);
  -- rehearse_review makes test payouts wait too.
  review_all boolean NOT NULL DEFAULT true,
  rehearse_review boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX accounts_newest ON accounts (created_at, id);
CREATE INDEX accounts_by_name ON accounts (lower(name) text_pattern_ops, id);
GRANT SELECT ON accounts TO gateway_api, gateway_worker, gateway_dashboard;
GRANT SELECT, INSERT, UPDATE ON accounts TO gateway_admin;
-- What the console changes of an account, and nothing else.
GRANT UPDATE (status, verified_at, review_all, rehearse_review) ON accounts TO gateway_dashboard;

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
  last_used_address inet,
  -- Identifies the pepper without revealing it (src/platform/lib/api-key-secret.ts). Null: the key
  -- was not used yet.
  pepper_id text,
  -- When the key last got a new secret. The review rule for young keys counts from then.
  secret_changed_at timestamptz
);
CREATE INDEX api_keys_by_account ON api_keys (account_id, mode);
-- authenticate_api_key compares the hashes, as the owner. A new key is written and never read.
GRANT SELECT (id, account_id, mode, name, pepper_id, display_prefix, last_four, scopes, allowlist,
              requests_per_minute, expires_at, revoked_at, created_at, last_used_at, last_used_address,
              secret_changed_at)
  ON api_keys TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON api_keys TO gateway_admin, gateway_dashboard;

-- One row per key, counting the current minute. Unlogged: after a crash of the database a minute
-- starts from zero, and in return a request costs no write-ahead log.
CREATE UNLOGGED TABLE api_key_minutes (
  api_key_id text PRIMARY KEY,
  minute timestamptz NOT NULL,
  requests integer NOT NULL
) WITH (fillfactor = 50);

-- Authentication, rate limit and last use in one round trip. No row: no such key, or it is revoked or
-- expired. Only a request that passed the account and address checks is counted.
--
-- The parameters are the key's hashes with all peppers that are accepted: the current one, the next one
-- (or null), and earlier ones. One statement compares all of them, so a key that another request hashes
-- again at the same time is found under one of them.
--
-- An account may make 2,400 requests a minute in live mode and 1,200 in test mode, which is the most
-- that one key can have. The sum of the keys' counters needs no counter of its own, whose row all
-- requests of an account would lock. Requests at the same moment do not see each other, so a few more
-- than the limit can pass. When the account is the reason, its limit is returned in place of the key's.
CREATE FUNCTION authenticate_api_key(
  p_current bytea, p_pepper_id text, p_next bytea, p_earlier bytea[], p_address inet)
RETURNS TABLE (
  api_key_id text, account_id text, mode text, scopes text[], account_status text,
  address_allowed boolean, requests_per_minute integer, requests integer, seconds_left integer
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  k api_keys%ROWTYPE;
  this_minute constant timestamptz := date_trunc('minute', clock_timestamp());
  account_limit integer;
  of_account bigint;
BEGIN
  SELECT * INTO k FROM api_keys
   WHERE secret_hash = ANY (ARRAY[p_current, p_next] || p_earlier) AND revoked_at IS NULL
     AND (expires_at IS NULL OR expires_at > clock_timestamp());
  IF NOT FOUND THEN RETURN; END IF;

  SELECT a.status INTO account_status FROM accounts a WHERE a.id = k.account_id;
  address_allowed := k.allowlist = '{}' OR EXISTS (
    SELECT FROM unnest(k.allowlist) AS allowed(net) WHERE p_address <<= allowed.net);
  requests := 0;
  requests_per_minute := k.requests_per_minute;
  IF account_status = 'active' AND address_allowed THEN
    SELECT m.requests INTO requests FROM api_key_minutes m
     WHERE m.api_key_id = k.id AND m.minute = this_minute;
    account_limit := CASE k.mode WHEN 'live' THEN 2400 ELSE 1200 END;
    SELECT coalesce(sum(m.requests), 0) INTO of_account
      FROM api_keys o JOIN api_key_minutes m ON m.api_key_id = o.id
     WHERE o.account_id = k.account_id AND o.mode = k.mode
       AND (o.revoked_at IS NULL OR o.revoked_at > this_minute) AND m.minute = this_minute;
    IF requests >= k.requests_per_minute THEN
      -- Refused without a write: DO UPDATE would lock and write the row even if it changed nothing.
      requests := requests + 1;
    ELSIF of_account >= account_limit THEN
      requests := account_limit + 1;
      requests_per_minute := account_limit;
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
    -- Only while it still has that secret: a rotation at the same time wins. The next pepper's hash stays.
    IF p_pepper_id IS NOT NULL AND (k.secret_hash = ANY (p_earlier)
       OR (k.secret_hash = p_current AND k.pepper_id IS DISTINCT FROM p_pepper_id)) THEN
      UPDATE api_keys SET secret_hash = p_current, pepper_id = p_pepper_id
       WHERE id = k.id AND secret_hash = k.secret_hash;
    END IF;
  END IF;

  api_key_id := k.id; account_id := k.account_id; mode := k.mode; scopes := k.scopes;
  seconds_left := ceil(extract(epoch FROM this_minute + interval '1 minute' - clock_timestamp()));
  RETURN NEXT;
END $$;
GRANT EXECUTE ON FUNCTION authenticate_api_key TO gateway_api;

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
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO gateway_api;
GRANT SELECT, UPDATE, DELETE ON idempotency_keys TO gateway_worker;
GRANT SELECT ON idempotency_keys TO gateway_admin, gateway_dashboard;

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
  reason text,
  -- console, dashboard, admin (the command) or gateway.
  via text,
  -- The address of a person in a browser.
  address inet
);
CREATE INDEX audit_log_by_object ON audit_log (object_id, at);
CREATE INDEX audit_log_by_time ON audit_log (at);
CREATE INDEX audit_log_of_account ON audit_log (account_id, id);
CREATE INDEX audit_log_of_actor ON audit_log (actor, id);
CREATE INDEX audit_log_of_action ON audit_log (action, id);
CREATE INDEX audit_log_of_source ON audit_log (via, id);
CREATE INDEX audit_log_of_object ON audit_log (object_id, id);
CREATE INDEX audit_log_of_account_action ON audit_log (account_id, action, id);

CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
GRANT SELECT, INSERT ON audit_log TO gateway_worker, gateway_admin, gateway_dashboard;
`;
