/**
 * A second person also for batches, refunds and recipients that a person makes on the dashboard, with one
 * table of approvals; and two more roles of merchants.
 */
export const sql = /* sql */ `
-- The approvals of all kinds of objects. Only the pages' login inserts them.
CREATE TABLE person_approvals (
  object_id text NOT NULL,
  -- What the person saw: the manifest of a batch, the time of a recipient's destination, else empty.
  version text NOT NULL DEFAULT '',
  user_id text NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (object_id, version, user_id)
);
GRANT SELECT ON person_approvals TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON person_approvals TO gateway_dashboard;
INSERT INTO person_approvals (object_id, user_id, created_at)
  SELECT payout_id, user_id, created_at FROM payout_person_approvals;
DROP FUNCTION approved_by_second_person(text, text);
DROP TABLE payout_person_approvals;

-- Whether a person of the account with one of the roles, who did not make the object, has approved this
-- version of it, and still has the role.
CREATE FUNCTION approved_by_second_person(
  p_object_id text, p_version text, p_account_id text, p_maker text, p_roles text[]
) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM person_approvals a
      JOIN memberships m ON m.user_id = a.user_id AND m.account_id = p_account_id
                        AND m.role = ANY (p_roles)
      JOIN users u ON u.id = a.user_id AND u.disabled_at IS NULL
     WHERE a.object_id = p_object_id AND a.version = p_version AND a.user_id <> p_maker
       -- Who reads as an account learns of its own only.
       AND p_account_id = coalesce(nullif(current_setting('app.account_id', true), ''), p_account_id))
$$;
GRANT EXECUTE ON FUNCTION approved_by_second_person
  TO gateway_worker, gateway_api, gateway_admin, gateway_dashboard, gateway_merchant;

-- The person who made it, when another one has to approve it; null: nobody has to.
ALTER TABLE payout_batches
  ADD COLUMN second_person text,
  -- Until then; afterwards the funds are returned.
  ADD COLUMN second_person_until timestamptz;
ALTER TABLE payment_refunds
  ADD COLUMN second_person text,
  ADD COLUMN second_person_until timestamptz,
  -- True while it waits: the provider is not asked.
  ADD COLUMN awaits_person boolean NOT NULL DEFAULT false;
-- Of the present destination.
ALTER TABLE recipients ADD COLUMN second_person text;

-- As before, and the second person of a destination stays with it.
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
  IF NEW.mode = 'live' THEN
    SELECT NEW.destination_since + a.recipient_wait_hours * interval '1 hour'
      INTO NEW.usable_from FROM accounts a WHERE a.id = NEW.account_id;
  END IF;
  RETURN NEW;
END $$;
`;

/** Nobody is in the new roles before the constraint is replaced. */
export const steps = [
  `DO $$
BEGIN
  ALTER TABLE memberships DROP CONSTRAINT IF EXISTS memberships_role_check;
  ALTER TABLE memberships ADD CONSTRAINT memberships_role_check
    CHECK (role IN ('owner', 'developer', 'finance', 'support', 'viewer')) NOT VALID;
END $$`,
  'ALTER TABLE memberships VALIDATE CONSTRAINT memberships_role_check',
];
