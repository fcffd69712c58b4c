/**
 * Two people of a merchant of whom one brought in the other are one person to the second-person rule
 * (decisions/controls#second-person).
 */
export const sql = /* sql */ `
-- The person, and everybody of the account who is related to them: one of two invited the other, reset how the
-- other signs in, enabled the other, or gave the other a role that makes or approves payouts, in the last 30 days.
-- The relation is passed on, so two people whom a third one invited are related too. It ends when an operator
-- vouches for the person who was brought in.
CREATE FUNCTION related_people(p_account_id text, p_user_id text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH RECURSIVE brought_in (email, id, at) AS (
    SELECT i.invited_by, a.after ->> 'id', a.at
      FROM audit_log a JOIN invitations i ON i.id = a.object_id
     WHERE a.account_id = p_account_id AND a.action = 'invitation.accept'
       AND a.at > clock_timestamp() - interval '30 days'
    UNION ALL
    SELECT a.actor, a.object_id, a.at FROM audit_log a
     WHERE a.account_id = p_account_id AND a.action = 'user.change_role'
       AND a.after ->> 'role' IN ('owner', 'finance', 'developer')
       AND a.at > clock_timestamp() - interval '30 days'
    UNION ALL
    SELECT a.actor, a.object_id, a.at
      FROM memberships m JOIN audit_log a ON a.object_id = m.user_id
     WHERE m.account_id = p_account_id
       AND a.action IN ('user.reset_password', 'user.reset_second_factor', 'user.enable')
       AND a.at > clock_timestamp() - interval '30 days'
  ), pairs (one, other) AS (
    SELECT u.id, b.id
      FROM brought_in b JOIN users u ON u.kind = 'merchant' AND lower(u.email) = lower(b.email)
     WHERE NOT EXISTS (SELECT FROM audit_log v
                        WHERE v.object_id = b.id AND v.action = 'user.vouch' AND v.at > b.at)
  ), related (id) AS (
    SELECT p_user_id
    UNION
    SELECT CASE r.id WHEN p.one THEN p.other ELSE p.one END
      FROM related r JOIN pairs p ON r.id IN (p.one, p.other)
  )
  SELECT id FROM related
$$;
GRANT EXECUTE ON FUNCTION related_people TO gateway_admin, gateway_dashboard;

-- As before, and the person is not related to the maker, and their address is their own: a link that was not
-- mailed was also in the hands of whoever invited them.
CREATE OR REPLACE FUNCTION approved_by_second_person(
  p_object_id text, p_version text, p_account_id text, p_maker text, p_roles text[]
) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM person_approvals a
      JOIN memberships m ON m.user_id = a.user_id AND m.account_id = p_account_id
                        AND m.role = ANY (p_roles)
      JOIN users u ON u.id = a.user_id AND u.disabled_at IS NULL AND u.bound_account_id IS NULL
     WHERE a.object_id = p_object_id AND a.version = p_version
       AND NOT EXISTS (SELECT FROM related_people(p_account_id, p_maker) AS r WHERE r = a.user_id)
       -- Who reads as an account learns of its own only.
       AND p_account_id = coalesce(nullif(current_setting('app.account_id', true), ''), p_account_id))
$$;

-- As before, and the entries that relate two people stay as long as they do.
CREATE OR REPLACE FUNCTION erase_audit_entry(p_id bigint) RETURNS text
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
`;
