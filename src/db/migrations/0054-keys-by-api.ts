/** API keys that an API key makes: never with more rights than its own (decisions/keys#keys-by-api). */
export const sql = /* sql */ `
-- Whether live keys are made and rolled by API. People decide it.
ALTER TABLE accounts ADD COLUMN live_keys_by_api boolean NOT NULL DEFAULT false;
GRANT UPDATE (live_keys_by_api) ON accounts TO gateway_dashboard;

ALTER TABLE api_keys ADD COLUMN created_by_key text REFERENCES api_keys;
GRANT SELECT (created_by_key) ON api_keys
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;

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

-- The API makes keys for keys only. It changes those keys, and keys that manage keys.
GRANT INSERT ON api_keys TO gateway_api;
GRANT UPDATE (secret_hash, pepper_id, display_prefix, last_four, secret_changed_at, revoked_at)
  ON api_keys TO gateway_api;
ALTER POLICY all_rows ON api_keys TO gateway_worker, gateway_admin, gateway_dashboard;
CREATE POLICY read_by_api ON api_keys FOR SELECT TO gateway_api USING (true);
CREATE POLICY made_by_api ON api_keys FOR INSERT TO gateway_api
  WITH CHECK (created_by_key IS NOT NULL);
CREATE POLICY changed_by_api ON api_keys FOR UPDATE TO gateway_api
  USING (created_by_key IS NOT NULL OR 'api_keys:write' = ANY (scopes));
`;
