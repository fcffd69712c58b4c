/** The audit log and its chain (decisions/books#audit-log; src/db/audit/audit-chain.ts computes the hashes). */
export const audit = /* sql */ `
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
GRANT SELECT ON audit_log TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON audit_log TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- A seal for each entry, in an order of its own: entries commit in another order than that of their ids.
CREATE TABLE audit_seals (
  sequence bigint PRIMARY KEY CHECK (sequence > 0),
  entry_id bigint NOT NULL UNIQUE,
  -- Canonical JSON of what is not personal in the entry, with the digest of the rest.
  entry text NOT NULL,
  -- Of that digest, so that nobody can guess what was erased; null once it is erased.
  salt bytea CHECK (length(salt) = 32),
  -- SHA-256 of the previous hash and the entry.
  hash bytea NOT NULL CHECK (length(hash) = 32)
);
GRANT SELECT ON audit_seals TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON audit_seals TO gateway_worker;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- Entries without a seal: from their own transaction to that of their seal. An entry in neither table was
-- inserted past this trigger.
CREATE TABLE audit_unsealed (
  entry_id bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  action text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
GRANT SELECT ON audit_unsealed TO gateway_worker, gateway_admin;
GRANT DELETE ON audit_unsealed TO gateway_worker;

-- The head of the chain, once an hour. Without a signing key it has no signature.
CREATE TABLE audit_heads (
  sequence bigint NOT NULL,
  hash bytea NOT NULL,
  signed_at timestamptz NOT NULL,
  key_id text,
  signature text,
  CHECK ((key_id IS NULL) = (signature IS NULL))
);
CREATE UNIQUE INDEX audit_heads_hour ON audit_heads (date_bin('1 hour', signed_at, 'epoch'));
GRANT SELECT ON audit_heads TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON audit_heads TO gateway_worker;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE FUNCTION note_unsealed_entry() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit_unsealed (entry_id, at, action) VALUES (NEW.id, NEW.at, NEW.action);
  RETURN NULL;
END $$;
CREATE TRIGGER note_unsealed AFTER INSERT ON audit_log
  FOR EACH ROW EXECUTE FUNCTION note_unsealed_entry();

-- An update may only take the personal part away. The entry of the erasure is what proves it to be one.
CREATE FUNCTION audit_refuse_other_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.at, NEW.action, NEW.object, NEW.object_id) =
       (OLD.id, OLD.at, OLD.action, OLD.object, OLD.object_id)
     AND (NEW.account_id, NEW.via) IS NOT DISTINCT FROM (OLD.account_id, OLD.via)
     AND NEW.actor = '(erased)'
     AND num_nonnulls(NEW.before, NEW.after, NEW.reason, NEW.address) = 0 THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER erase_only BEFORE UPDATE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION audit_refuse_other_update();

CREATE FUNCTION audit_refuse_other_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.sequence, NEW.entry_id, NEW.entry, NEW.hash) = (OLD.sequence, OLD.entry_id, OLD.entry, OLD.hash)
     AND NEW.salt IS NULL THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE TRIGGER erase_only BEFORE UPDATE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION audit_refuse_other_seal();

-- Erases the personal part of a sealed entry; the caller writes the entry of the erasure. Entries that the
-- rule of two people reads stay (src/db/payouts/payout-decisions.ts, src/db/approvals/related-operators.ts), and
-- those that relate two people stay as long as they do.
CREATE FUNCTION erase_audit_entry(p_id bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  entry audit_log;
  sealed bytea;
BEGIN
  SELECT * INTO entry FROM audit_log WHERE id = p_id FOR UPDATE;
  IF NOT FOUND THEN RETURN 'unknown'; END IF;
  IF entry.action IN ('audit.erase', 'api_key.create', 'api_key.rotate', 'user.join', 'user.change_role')
     OR (entry.action IN ('invitation.accept', 'user.reset_password', 'user.reset_second_factor', 'user.enable')
         AND entry.at > clock_timestamp() - interval '30 days') THEN
    RETURN 'needed';
  END IF;
  SELECT salt INTO sealed FROM audit_seals WHERE entry_id = p_id FOR UPDATE;
  IF NOT FOUND THEN RETURN 'not_sealed'; END IF;
  IF sealed IS NULL THEN RETURN 'erased_before'; END IF;
  UPDATE audit_log SET actor = '(erased)', before = NULL, after = NULL, reason = NULL, address = NULL
    WHERE id = p_id;
  UPDATE audit_seals SET salt = NULL WHERE entry_id = p_id;
  RETURN 'erased';
END $$;
GRANT EXECUTE ON FUNCTION erase_audit_entry TO gateway_admin;
`;
