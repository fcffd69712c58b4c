/**
 * Notifications: what people are told, and by which way (decisions/notifications#notifications). An occasion is written by
 * a trigger in the transaction of the fact, so no program that writes the fact can forget it.
 */
export const sql = /* sql */ `
CREATE TABLE occasions (
  -- The kind and the id of what happened: the same occasion is noted once.
  key text PRIMARY KEY,
  kind text NOT NULL,
  -- Null: the operators are told.
  account_id text,
  mode text,
  -- Null: everybody who may know is told.
  user_id text,
  object_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When it was decided who is told.
  addressed_at timestamptz
);
CREATE INDEX occasions_to_address ON occasions (created_at) WHERE addressed_at IS NULL;
CREATE INDEX occasions_by_age ON occasions (created_at);
GRANT SELECT, UPDATE (addressed_at), DELETE ON occasions TO gateway_worker;

-- One message to one person. It can tell several occasions of a kind.
CREATE TABLE notifications (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users,
  account_id text,
  kind text NOT NULL,
  -- sending: the server was asked, and the answer is not recorded yet.
  status text NOT NULL DEFAULT 'waiting'
    CHECK (status IN ('waiting', 'sending', 'sent', 'refused', 'unclear', 'dropped')),
  last_error text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX notifications_waiting ON notifications (created_at) WHERE status = 'waiting';
CREATE INDEX notifications_of_person ON notifications (user_id, kind, created_at);
CREATE INDEX notifications_by_age ON notifications (created_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON notifications TO gateway_worker;

-- A person is told an occasion once: this row decides.
CREATE TABLE told_occasions (
  occasion_key text NOT NULL REFERENCES occasions ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users,
  -- Null: it waits for the next message of its kind.
  notification_id text REFERENCES notifications ON DELETE SET NULL,
  PRIMARY KEY (occasion_key, user_id)
);
CREATE INDEX told_occasions_waiting ON told_occasions (user_id) WHERE notification_id IS NULL;
CREATE INDEX told_occasions_of_message ON told_occasions (notification_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON told_occasions TO gateway_worker;
GRANT SELECT (user_id, account_id, role) ON memberships TO gateway_worker;

-- What a person has chosen. Without a row, the default of the kind applies (src/domain/notifications.ts).
CREATE TABLE notification_choices (
  user_id text NOT NULL REFERENCES users,
  -- Empty for an operator.
  account_id text NOT NULL,
  kind text NOT NULL,
  by_email boolean NOT NULL,
  PRIMARY KEY (user_id, account_id, kind)
);
GRANT SELECT ON notification_choices TO gateway_worker;
GRANT SELECT, INSERT, UPDATE ON notification_choices TO gateway_dashboard;

CREATE FUNCTION note_occasion(
  p_kind text, p_id text, p_account_id text, p_mode text, p_object_id text, p_user_id text DEFAULT NULL
) RETURNS void
LANGUAGE sql SET search_path = public, pg_temp AS $$
  INSERT INTO occasions (key, kind, account_id, mode, object_id, user_id)
  VALUES (p_kind || ':' || p_id, p_kind, p_account_id, p_mode, p_object_id, p_user_id)
  ON CONFLICT (key) DO NOTHING
$$;

CREATE FUNCTION note_audited_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.action = 'api_key.create' THEN
    PERFORM note_occasion('key_created', NEW.object_id, NEW.account_id, NEW.after->>'mode', NEW.object_id);
  ELSIF NEW.action = 'payouts.pause' THEN
    PERFORM note_occasion('payouts_paused', NEW.id::text, NULL, NULL, NEW.object_id);
  -- The session of this sign-in is one of those that are counted.
  ELSIF (SELECT count(*) FROM sessions WHERE user_id = NEW.object_id AND address = NEW.address) < 2 THEN
    PERFORM note_occasion('new_sign_in', NEW.id::text, NEW.account_id, NULL, NEW.object_id, NEW.object_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.action IN ('api_key.create', 'payouts.pause', 'user.sign_in'))
  EXECUTE FUNCTION note_audited_occasion();

CREATE FUNCTION note_case_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion(
    CASE WHEN NEW.kind IN ('ledger_broken', 'ledger_not_checked') THEN 'ledger_check_failed'
         ELSE 'case_opened' END,
    NEW.id, NULL, NULL, NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON cases FOR EACH ROW EXECUTE FUNCTION note_case_occasion();

CREATE FUNCTION note_payout_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('payout_failed', NEW.object_id, NEW.account_id, NEW.mode, NEW.object_id);
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.type = 'payout.failed') EXECUTE FUNCTION note_payout_occasion();

CREATE FUNCTION note_second_person_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('payout_waits', p.id, p.account_id, p.mode, p.id)
     FROM payouts p WHERE p.id = NEW.payout_id;
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON payout_conditions FOR EACH ROW
  WHEN (NEW.kind = 'second_person') EXECUTE FUNCTION note_second_person_occasion();

-- Once a day for each endpoint.
CREATE FUNCTION note_endpoint_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('endpoint_failing', e.id || ':' || (clock_timestamp() AT TIME ZONE 'UTC')::date,
                        e.account_id, e.mode, e.id)
     FROM webhook_endpoints e WHERE e.id = NEW.endpoint_id;
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER UPDATE OF status ON webhook_deliveries FOR EACH ROW
  WHEN (NEW.status = 'failed' AND OLD.status <> 'failed') EXECUTE FUNCTION note_endpoint_occasion();
`;
