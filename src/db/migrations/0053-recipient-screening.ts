/** The screening of live recipients, with the sources of payouts (decisions/controls#screening). */
export const sql = /* sql */ `
ALTER TABLE recipients
  -- Of the present destination. Null: nobody was to be asked when it was set. Otherwise the recipient is paid
  -- once it is clear.
  ADD COLUMN screening text CHECK (screening IN ('asking', 'clear', 'review', 'block')),
  ADD COLUMN screening_asked_at timestamptz;
-- As before, and a new destination is screened as soon as there are sources.
CREATE OR REPLACE FUNCTION cool_recipient() RETURNS trigger
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

-- The API writes what the merchant sets, and no verdict.
REVOKE UPDATE ON recipients FROM gateway_api;
GRANT UPDATE (name, currency, network, destination_type, destination_value, destination_memo, tags, second_person,
              sequence, updated_at, deleted_at) ON recipients TO gateway_api;
GRANT UPDATE (screening, screening_asked_at) ON recipients TO gateway_worker;
`;

export const steps = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS recipients_to_screen ON recipients (screening_asked_at)
     WHERE screening = 'asking' AND deleted_at IS NULL`,
];
