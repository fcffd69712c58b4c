/** Recipients: destinations that a merchant has saved, and the limits of single API keys. */
export const sql = /* sql */ `
ALTER TABLE accounts
  -- A live recipient waits this long after its destination was set.
  ADD COLUMN recipient_wait_hours integer NOT NULL DEFAULT 24
    CHECK (recipient_wait_hours BETWEEN 0 AND 720),
  -- Live payouts must name a recipient.
  ADD COLUMN recipients_only boolean NOT NULL DEFAULT false;
GRANT UPDATE (recipient_wait_hours, recipients_only) ON accounts TO gateway_dashboard;

ALTER TABLE api_keys
  ADD COLUMN recipients_only boolean NOT NULL DEFAULT false,
  -- Empty: every currency.
  ADD COLUMN payout_currencies text[] NOT NULL DEFAULT '{}',
  -- The maximum of one payout and of 24 hours, by currency: {"USDT": {"per_payout": "100.00000000"}}.
  ADD COLUMN payout_limits jsonb NOT NULL DEFAULT '{}';
GRANT SELECT (recipients_only, payout_currencies, payout_limits) ON api_keys
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;

CREATE TABLE recipients (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  name text NOT NULL,
  currency text NOT NULL,
  -- Null for a transfer within a provider.
  network text,
  destination_type text NOT NULL,
  destination_value text NOT NULL,
  destination_memo text,
  tags text[] NOT NULL DEFAULT '{}',
  -- A key, or a user of the dashboard.
  created_by text NOT NULL,
  -- Written by the trigger alone.
  destination_since timestamptz NOT NULL DEFAULT clock_timestamp(),
  usable_from timestamptz NOT NULL DEFAULT clock_timestamp(),
  sequence integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
);

-- The times of a destination are the database's: no program, and no merchant, shortens the wait.
CREATE FUNCTION cool_recipient() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.deleted_at IS NOT NULL THEN
      RAISE EXCEPTION 'the recipient % is deleted', OLD.id;
    END IF;
    IF (NEW.account_id, NEW.mode) IS DISTINCT FROM (OLD.account_id, OLD.mode) THEN
      RAISE EXCEPTION 'the recipient % stays in its account and mode', OLD.id;
    END IF;
    IF (NEW.currency, NEW.network, NEW.destination_type, NEW.destination_value, NEW.destination_memo)
       IS NOT DISTINCT FROM
       (OLD.currency, OLD.network, OLD.destination_type, OLD.destination_value, OLD.destination_memo)
    THEN
      NEW.destination_since := OLD.destination_since;
      NEW.usable_from := OLD.usable_from;
      RETURN NEW;
    END IF;
  END IF;
  NEW.destination_since := clock_timestamp();
  NEW.usable_from := NEW.destination_since;
  IF NEW.mode = 'live' THEN
    SELECT NEW.destination_since + a.recipient_wait_hours * interval '1 hour'
      INTO NEW.usable_from FROM accounts a WHERE a.id = NEW.account_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER cool BEFORE INSERT OR UPDATE ON recipients
  FOR EACH ROW EXECUTE FUNCTION cool_recipient();

ALTER TABLE payouts ADD COLUMN recipient_id text REFERENCES recipients;

CREATE POLICY all_rows ON recipients
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard USING (true);
CREATE POLICY own_rows ON recipients FOR SELECT TO gateway_merchant
  USING (account_id = current_setting('app.account_id', true));
ALTER TABLE recipients ENABLE ROW LEVEL SECURITY;

GRANT SELECT ON recipients
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;
GRANT INSERT, UPDATE ON recipients TO gateway_api;
GRANT UPDATE ON recipients TO gateway_admin;
-- Reservations lock the recipient that they pay.
GRANT UPDATE (updated_at) ON recipients TO gateway_worker;

-- The API writes the events of recipients, and no others.
GRANT INSERT ON events TO gateway_api;
ALTER POLICY all_rows ON events TO gateway_worker, gateway_admin, gateway_dashboard;
CREATE POLICY read_by_api ON events FOR SELECT TO gateway_api USING (true);
CREATE POLICY recipients_of_api ON events FOR INSERT TO gateway_api
  WITH CHECK (type LIKE 'recipient.%');
GRANT EXECUTE ON FUNCTION event_position TO gateway_api;
GRANT SELECT, INSERT ON webhook_deliveries TO gateway_api;
GRANT SELECT (id, account_id, mode, events, enabled, timeouts_in_a_row, deleted_at)
  ON webhook_endpoints TO gateway_api;
GRANT INSERT ON audit_log TO gateway_api;

-- What a key has requested in the last 24 hours, without what was returned, and when the oldest of it
-- leaves the window. Null: nothing.
CREATE FUNCTION key_used(p_account_id text, p_mode text, p_currency text, p_api_key_id text)
RETURNS TABLE (used numeric(38,8), resets_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT sum(amount), min(created_at) + interval '24 hours'
    FROM payouts
   WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
     AND api_key_id = p_api_key_id AND created_at > statement_timestamp() - interval '24 hours'
     AND status NOT IN ('rejected', 'failed', 'cancelled')
$$;
GRANT EXECUTE ON FUNCTION key_used TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- Reservations of a key with a limit of 24 hours go one after the other, from here to their commit, and
-- so do those of an account with one. Without such limits nothing is locked.
CREATE FUNCTION lock_payout_limits(
  p_account_id text, p_mode text, p_currency text, p_api_key_id text
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM lock_payout_usage(p_account_id, p_mode, p_currency);
  PERFORM FROM api_keys k
    WHERE k.id = p_api_key_id AND k.payout_limits -> p_currency ? 'per_day';
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(':', p_api_key_id, p_currency), 0));
END $$;
GRANT EXECUTE ON FUNCTION lock_payout_limits TO gateway_worker;
`;

export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS recipients_newest
     ON recipients (account_id, mode, created_at DESC, id DESC) WHERE deleted_at IS NULL`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_recipient
     ON payouts (recipient_id, created_at DESC, id DESC) WHERE recipient_id IS NOT NULL`,
];
