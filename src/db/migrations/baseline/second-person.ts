/**
 * What waits for a second person of the merchant, and who counts as one person (decisions/controls#second-person).
 */
export const secondPerson = /* sql */ `
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

-- Whether a person of the account with one of the roles has approved this version of the object, and still has the
-- role. The person is not the maker and not related to the maker, and the address is their own: a link that was not
-- mailed was also in the hands of whoever invited them.
CREATE FUNCTION approved_by_second_person(
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
GRANT EXECUTE ON FUNCTION approved_by_second_person TO gateway_worker, gateway_api, gateway_admin, gateway_dashboard,
  gateway_merchant;

-- Whether a person made the schedule, and nobody else who may approve has approved it, although it is above the
-- amount that the account has now. The sum of a day of this schedule and of the person's earlier ones counts, and
-- what the person had requested alone in the 24 hours before it.
CREATE FUNCTION schedule_awaits_second_person(p_schedule_id text, p_roles text[]) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM payout_schedules s JOIN accounts a ON a.id = s.account_id
      CROSS JOIN LATERAL jsonb_to_recordset(s.totals) AS total (currency text, amount numeric)
      CROSS JOIN LATERAL person_of_requester(s.api_key_id, p_roles) AS person
     WHERE s.id = p_schedule_id AND s.status <> 'ended' AND person IS NOT NULL
       AND a.second_person_above ->> total.currency IS NOT NULL
       -- Who reads as an account learns of its own only.
       AND s.account_id = coalesce(nullif(current_setting('app.account_id', true), ''), s.account_id)
       AND NOT approved_by_second_person(s.id, '', s.account_id, person, p_roles)
       AND person_scheduled(s.account_id, s.mode, total.currency, person, s.created_at, p_roles)
           + person_used(s.account_id, s.mode, total.currency, person, s.created_at, p_roles)
           > (a.second_person_above ->> total.currency)::numeric)
$$;
GRANT EXECUTE ON FUNCTION schedule_awaits_second_person TO gateway_worker, gateway_api, gateway_admin,
  gateway_dashboard, gateway_merchant;

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

-- The person whose line a requester has: of a person, themselves; of a key that a person made, that person until
-- another one has approved the key as it is. Null: nobody's.
CREATE FUNCTION person_of_requester(p_requester text, p_roles text[]) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT u.id FROM users u WHERE u.id = p_requester
  UNION ALL
  SELECT made.made_by
    FROM api_keys k JOIN api_keys made
      ON made.id = CASE WHEN k.made_by IS NULL THEN coalesce(k.created_by_key, k.id) ELSE k.id END
   WHERE k.id = p_requester AND made.made_by IS NOT NULL
     -- Who reads as an account learns of its own only. The id of a user answers with itself.
     AND made.account_id = coalesce(nullif(current_setting('app.account_id', true), ''), made.account_id)
     AND NOT approved_by_second_person(made.id, extract(epoch FROM made.made_at)::text, made.account_id,
                                       made.made_by, p_roles)
$$;
GRANT EXECUTE ON FUNCTION person_of_requester TO gateway_worker, gateway_api, gateway_admin, gateway_dashboard,
  gateway_merchant;

-- Whether a person made a key that pays or orders refunds, in an account with an amount that one person may move
-- alone, and nobody else has approved the key as it is.
CREATE FUNCTION key_awaits_second_person(p_id text, p_roles text[]) RETURNS boolean
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
GRANT EXECUTE ON FUNCTION key_awaits_second_person TO gateway_worker, gateway_admin, gateway_dashboard,
  gateway_merchant;

CREATE FUNCTION runs_a_day(s payout_schedules) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(s.runs_a_day, ceil(86400.0 / s.interval_seconds)::integer, 1440)
$$;

-- What a person has requested alone in the 24 hours until p_until: payouts, rows of batches and refunds that no
-- second person approves. The runs of a schedule count when it has ended; before, their sum of a day does.
CREATE FUNCTION person_used(
  p_account_id text, p_mode text, p_currency text, p_person text, p_until timestamptz, p_roles text[]
) RETURNS numeric LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH requesters (id, since) AS MATERIALIZED (
    SELECT p_person, '-infinity'::timestamptz
    UNION ALL
    SELECT k.id, coalesce(k.made_at, '-infinity') FROM api_keys k
     WHERE k.account_id = p_account_id AND k.mode = p_mode
       AND person_of_requester(k.id, p_roles) = p_person)
  SELECT coalesce(sum(amount), 0) FROM (
    SELECT p.amount FROM payouts p JOIN requesters r ON r.id = p.api_key_id AND p.created_at >= r.since
      LEFT JOIN payout_batches b ON b.id = p.batch_id
     WHERE p.account_id = p_account_id AND p.mode = p_mode AND p.currency = p_currency
       AND p.created_at > statement_timestamp() - interval '24 hours' AND p.created_at < p_until
       AND p.status NOT IN ('rejected', 'failed', 'cancelled') AND b.second_person IS NULL
       AND NOT EXISTS (SELECT FROM payout_conditions c
                        WHERE c.payout_id = p.id AND c.kind = 'second_person')
       AND NOT EXISTS (SELECT FROM payout_schedule_runs n JOIN payout_schedules s ON s.id = n.schedule_id
                        WHERE n.batch_id = p.batch_id
                          AND (s.status <> 'ended' OR approved_by_second_person(
                                 s.id, '', s.account_id, p_person, p_roles)))
    UNION ALL
    SELECT f.amount FROM payment_refunds f JOIN requesters r ON r.id = f.api_key_id AND f.created_at >= r.since
     WHERE f.account_id = p_account_id AND f.mode = p_mode AND f.currency = p_currency
       AND f.created_at > statement_timestamp() - interval '24 hours' AND f.created_at < p_until
       AND f.state <> 'refused' AND f.second_person IS NULL AND f.payout_id IS NULL) AS alone
$$;

-- The sum of a day of the person's schedules that no second person has approved, up to the one with p_until.
CREATE FUNCTION person_scheduled(
  p_account_id text, p_mode text, p_currency text, p_person text, p_until timestamptz, p_roles text[]
) RETURNS numeric LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT coalesce(sum(total.amount * runs_a_day(s)), 0)
    FROM payout_schedules s
    CROSS JOIN LATERAL jsonb_to_recordset(s.totals) AS total (currency text, amount numeric)
   WHERE s.account_id = p_account_id AND s.mode = p_mode AND s.status <> 'ended'
     AND total.currency = p_currency AND s.created_at <= p_until
     AND person_of_requester(s.api_key_id, p_roles) = p_person
     AND NOT approved_by_second_person(s.id, '', s.account_id, p_person, p_roles)
$$;

-- The person whose line a requester has, and what is left of it. No row: there is no line.
CREATE FUNCTION person_alone(
  p_account_id text, p_mode text, p_currency text, p_requester text, p_roles text[]
) RETURNS TABLE (maker text, remaining numeric(38,8))
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  above numeric;
BEGIN
  SELECT (a.second_person_above ->> p_currency)::numeric INTO above FROM accounts a WHERE a.id = p_account_id;
  IF above IS NULL THEN RETURN; END IF;
  maker := person_of_requester(p_requester, p_roles);
  IF maker IS NULL THEN RETURN; END IF;
  remaining := greatest(0, above
    - person_used(p_account_id, p_mode, p_currency, maker, 'infinity', p_roles)
    - person_scheduled(p_account_id, p_mode, p_currency, maker, 'infinity', p_roles))::numeric(38,8);
  RETURN NEXT;
END $$;
GRANT EXECUTE ON FUNCTION person_alone TO gateway_worker, gateway_api, gateway_admin, gateway_dashboard;
`;
