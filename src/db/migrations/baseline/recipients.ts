/** Recipients: destinations that a merchant has saved. */
export const recipients = /* sql */ `
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
  deleted_at timestamptz,
  -- Of the present destination.
  second_person text,
  -- Of the present destination. Null: nobody was to be asked when it was set. Otherwise the recipient is paid
  -- once it is clear.
  screening text CHECK (screening IN ('asking', 'clear', 'review', 'block')),
  screening_asked_at timestamptz
);
CREATE INDEX recipients_newest
  ON recipients (account_id, mode, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX recipients_to_screen ON recipients (screening_asked_at)
  WHERE screening = 'asking' AND deleted_at IS NULL;
CREATE INDEX recipients_of_name_start ON recipients (lower(name) text_pattern_ops);
CREATE INDEX recipients_of_destination ON recipients (destination_value);
GRANT SELECT ON recipients TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
-- The API writes what the merchant sets, and no verdict.
GRANT INSERT, UPDATE (name, currency, network, destination_type, destination_value, destination_memo, tags,
  second_person, sequence, updated_at, deleted_at) ON recipients TO gateway_api;
-- Reservations lock the recipient that they pay.
GRANT UPDATE (updated_at, screening, screening_asked_at) ON recipients TO gateway_worker;
GRANT UPDATE ON recipients TO gateway_admin;
GRANT UPDATE (screening) ON recipients TO gateway_dashboard;

-- The times of a destination are the database's: no program, and no merchant, shortens the wait. The second person
-- of a destination stays with it, and a new destination is screened as soon as there are sources.
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
      NEW.second_person := OLD.second_person;
      RETURN NEW;
    END IF;
  END IF;
  NEW.destination_since := clock_timestamp();
  NEW.usable_from := NEW.destination_since;
  NEW.screening := NULL;
  NEW.screening_asked_at := NULL;
  IF NEW.mode = 'live' THEN
    SELECT NEW.destination_since + a.recipient_wait_hours * interval '1 hour'
      INTO NEW.usable_from FROM accounts a WHERE a.id = NEW.account_id;
    IF EXISTS (SELECT FROM screening_sources) THEN NEW.screening := 'asking'; END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER cool BEFORE INSERT OR UPDATE ON recipients
  FOR EACH ROW EXECUTE FUNCTION cool_recipient();
`;
