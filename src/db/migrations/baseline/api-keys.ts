/**
 * API keys, their authentication, and keys that an API key makes: never with more rights than its own
 * (decisions/keys#keys-by-api).
 */
export const apiKeys = /* sql */ `
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
  secret_changed_at timestamptz,
  recipients_only boolean NOT NULL DEFAULT false,
  -- Empty: every currency.
  payout_currencies text[] NOT NULL DEFAULT '{}',
  -- The maximum of one payout and of 24 hours, by currency: {"USDT": {"per_payout": "100.00000000"}}.
  payout_limits jsonb NOT NULL DEFAULT '{}',
  created_by_key text REFERENCES api_keys,
  -- The person who made the key, or rotated, edited or limited it last, and when. Null: the admin command did, or
  -- another key, which stands for it.
  made_by text REFERENCES users,
  made_at timestamptz
);
CREATE INDEX api_keys_by_account ON api_keys (account_id, mode);
-- authenticate_api_key compares the hashes, as the owner. A new key is written and never read.
GRANT SELECT (id, account_id, mode, name, pepper_id, display_prefix, last_four, scopes, allowlist,
  requests_per_minute, expires_at, revoked_at, created_at, last_used_at, last_used_address, secret_changed_at,
  recipients_only, payout_currencies, payout_limits, created_by_key, made_by, made_at) ON api_keys TO gateway_api,
  gateway_worker, gateway_admin, gateway_dashboard;
-- The API makes keys for keys only. It changes those keys, and keys that manage keys.
GRANT INSERT ON api_keys TO gateway_api, gateway_admin, gateway_dashboard;
GRANT UPDATE (secret_hash, pepper_id, display_prefix, last_four, secret_changed_at, revoked_at) ON api_keys TO
  gateway_api;
GRANT UPDATE ON api_keys TO gateway_admin, gateway_dashboard;

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

-- Whatever a program asks for, the new key is within the one that makes it, which is locked so that it
-- cannot be revoked or limited meanwhile.
CREATE FUNCTION check_key_of_key() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  maker api_keys%ROWTYPE;
BEGIN
  SELECT * INTO maker FROM api_keys WHERE id = NEW.created_by_key FOR NO KEY UPDATE;
  IF (maker.account_id = NEW.account_id AND maker.mode = NEW.mode
      AND maker.revoked_at IS NULL
      AND (maker.expires_at IS NULL OR (maker.expires_at > clock_timestamp() AND NEW.expires_at <= maker.expires_at))
      AND (NEW.mode = 'test' OR (SELECT live_keys_by_api FROM accounts WHERE id = NEW.account_id))
      -- One generation: a key that was made by a key makes none.
      AND 'api_keys:write' = ANY (maker.scopes)
      AND NEW.scopes <@ array_remove(maker.scopes, 'api_keys:write')
      AND NEW.requests_per_minute <= maker.requests_per_minute
      AND (maker.allowlist = '{}' OR (NEW.allowlist <> '{}' AND NOT EXISTS (
            SELECT FROM unnest(NEW.allowlist) AS wanted
             WHERE NOT EXISTS (SELECT FROM unnest(maker.allowlist) AS given WHERE wanted <<= given))))
      AND (NEW.recipients_only OR NOT maker.recipients_only)
      AND (maker.payout_currencies = '{}'
           OR (NEW.payout_currencies <> '{}' AND NEW.payout_currencies <@ maker.payout_currencies))
      AND NOT EXISTS (
        SELECT FROM jsonb_each(maker.payout_limits) AS of_maker(currency, rule)
         WHERE rule ? 'per_payout'
           AND ((NEW.payout_limits -> currency ->> 'per_payout')::numeric
                <= (rule ->> 'per_payout')::numeric) IS NOT TRUE)
      -- A second key would have the amount of 24 hours once more.
      AND NOT (NEW.scopes && ARRAY['payouts:write', 'payments:write']
               AND jsonb_path_exists(maker.payout_limits, '$.*.per_day'))
     ) IS NOT TRUE THEN
    RAISE EXCEPTION 'the key % may not make this key', NEW.created_by_key;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER key_of_key BEFORE INSERT ON api_keys FOR EACH ROW
  WHEN (NEW.created_by_key IS NOT NULL) EXECUTE FUNCTION check_key_of_key();
`;
