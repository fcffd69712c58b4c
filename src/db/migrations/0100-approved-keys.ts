/** Who waits for a second person: a schedule of an approved key does not, and a key that orders refunds does. */
export const sql = /* sql */ `
-- As before, and a key that only orders refunds pays too.
CREATE OR REPLACE FUNCTION key_awaits_second_person(p_id text, p_roles text[]) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM api_keys k JOIN accounts a ON a.id = k.account_id
     WHERE k.id = p_id AND k.made_by IS NOT NULL AND k.revoked_at IS NULL
       AND k.scopes && ARRAY['payouts:write', 'payments:write', 'refunds:write']
       AND a.second_person_above <> '{}'
       -- Who reads as an account learns of its own only.
       AND k.account_id = coalesce(nullif(current_setting('app.account_id', true), ''), k.account_id)
       AND person_of_requester(k.id, p_roles) IS NOT NULL)
$$;

-- As before, with the roles that approve: nobody has approved the new schedule, but perhaps the key that made it.
CREATE OR REPLACE FUNCTION note_waiting_schedule() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF schedule_awaits_second_person(NEW.id, '{owner,finance}') THEN
    PERFORM note_waiting('schedule_waits', NEW.id, NEW.account_id, NEW.mode, NEW.id, NEW.api_key_id);
  END IF;
  RETURN NULL;
END $$;
`;
