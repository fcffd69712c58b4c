/** The chain of the audit log (decisions/books#audit-log; src/db/audit/audit-chain.ts computes its hashes). */
export const sql = /* sql */ `
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

-- Entries without a seal: from their own transaction to that of their seal. An entry in neither table was
-- inserted past this trigger.
CREATE TABLE audit_unsealed (
  entry_id bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  action text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The head of the chain, once a day. Without a signing key it has no signature.
CREATE TABLE audit_heads (
  day date PRIMARY KEY,
  sequence bigint NOT NULL,
  hash bytea NOT NULL,
  signed_at timestamptz NOT NULL,
  key_id text,
  signature text,
  CHECK ((key_id IS NULL) = (signature IS NULL))
);

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
CREATE FUNCTION audit_refuse_other_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.sequence, NEW.entry_id, NEW.entry, NEW.hash) = (OLD.sequence, OLD.entry_id, OLD.entry, OLD.hash)
     AND NEW.salt IS NULL THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
DROP TRIGGER append_only ON audit_log;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER erase_only BEFORE UPDATE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION audit_refuse_other_update();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON audit_seals
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER erase_only BEFORE UPDATE ON audit_seals
  FOR EACH ROW EXECUTE FUNCTION audit_refuse_other_seal();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_heads
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- Erases the personal part of a sealed entry; the caller writes the entry of the erasure. Entries that the
-- rule of two people reads stay (repositories/payout-decisions, repositories/related-operators).
CREATE FUNCTION erase_audit_entry(p_id bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  entry audit_log;
  sealed bytea;
BEGIN
  SELECT * INTO entry FROM audit_log WHERE id = p_id FOR UPDATE;
  IF NOT FOUND THEN RETURN 'unknown'; END IF;
  IF entry.action IN ('audit.erase', 'api_key.create', 'api_key.rotate', 'user.join', 'user.change_role') THEN
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

GRANT SELECT, INSERT ON audit_seals, audit_heads TO gateway_worker;
GRANT SELECT, DELETE ON audit_unsealed TO gateway_worker;
GRANT SELECT ON audit_seals, audit_heads, audit_unsealed TO gateway_admin;
GRANT SELECT ON audit_seals, audit_heads TO gateway_api, gateway_dashboard;
`;

/** The entries of an existing database are sealed by the worker. */
export const steps = [
  `INSERT INTO audit_unsealed (entry_id, at, action)
     SELECT id, at, action FROM audit_log l
      WHERE NOT EXISTS (SELECT FROM audit_seals s WHERE s.entry_id = l.id)
     ON CONFLICT (entry_id) DO NOTHING`,
];
