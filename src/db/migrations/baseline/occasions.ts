/**
 * What people are told of. An occasion is written by a trigger in the transaction of the fact, so no program that
 * writes the fact can forget it.
 */
export const occasions = /* sql */ `
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
-- Whoever signs in from a new address is told, however they sign in.
CREATE TRIGGER note_occasion AFTER INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.action IN ('api_key.create', 'payouts.pause', 'user.sign_in', 'user.single_sign_on',
                       'user.break_glass_sign_in'))
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
  PERFORM note_waiting('payout_waits', p.id, p.account_id, p.mode, p.id, p.api_key_id)
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

CREATE FUNCTION note_waiting(
  p_kind text, p_id text, p_account_id text, p_mode text, p_object_id text, p_maker_id text
) RETURNS void
LANGUAGE sql SET search_path = public, pg_temp AS $$
  INSERT INTO occasions (key, kind, account_id, mode, object_id, maker_id)
  VALUES (p_kind || ':' || p_id, p_kind, p_account_id, p_mode, p_object_id, p_maker_id)
  ON CONFLICT (key) DO NOTHING
$$;

CREATE FUNCTION note_waiting_batch() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_waiting('batch_waits', NEW.id, NEW.account_id, NEW.mode, NEW.id, NEW.second_person);
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON payout_batches FOR EACH ROW
  WHEN (NEW.second_person IS NOT NULL) EXECUTE FUNCTION note_waiting_batch();

CREATE FUNCTION note_waiting_refund() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_waiting('refund_waits', NEW.id, NEW.account_id, NEW.mode, NEW.id, NEW.second_person);
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON payment_refunds FOR EACH ROW
  WHEN (NEW.awaits_person) EXECUTE FUNCTION note_waiting_refund();

-- Another destination waits again.
CREATE FUNCTION note_waiting_recipient() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_waiting('recipient_waits', NEW.id || ':' || extract(epoch FROM NEW.destination_since),
                       NEW.account_id, NEW.mode, NEW.id, NEW.second_person);
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT OR UPDATE ON recipients FOR EACH ROW
  WHEN (NEW.second_person IS NOT NULL AND NEW.deleted_at IS NULL)
  EXECUTE FUNCTION note_waiting_recipient();

-- With the roles that approve: nobody has approved the new schedule, but perhaps the key that made it.
CREATE FUNCTION note_waiting_schedule() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF schedule_awaits_second_person(NEW.id, '{owner,finance}') THEN
    PERFORM note_waiting('schedule_waits', NEW.id, NEW.account_id, NEW.mode, NEW.id, NEW.api_key_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON payout_schedules FOR EACH ROW
  EXECUTE FUNCTION note_waiting_schedule();

-- Once until the balance is back at the amount.
CREATE FUNCTION note_low_balances() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH state AS MATERIALIZED (
    SELECT a.account_id, a.mode, a.currency, coalesce(b.available, 0) < a.below AS is_low
      FROM balance_alerts a LEFT JOIN balances b USING (account_id, mode, currency)
  ), changed AS (
    UPDATE balance_alerts a SET low_since = CASE WHEN s.is_low THEN clock_timestamp() END
      FROM state s
     WHERE (a.account_id, a.mode, a.currency) = (s.account_id, s.mode, s.currency)
       AND s.is_low <> (a.low_since IS NOT NULL)
    RETURNING a.account_id, a.mode, a.currency, a.low_since
  )
  INSERT INTO occasions (key, kind, account_id, mode, object_id)
  SELECT concat_ws(':', 'balance_low', account_id, mode, currency, extract(epoch FROM low_since)),
         'balance_low', account_id, mode, currency
    FROM changed WHERE low_since IS NOT NULL
$$;
GRANT EXECUTE ON FUNCTION note_low_balances TO gateway_worker;

-- Live payouts that an operator should have decided, or whose provider has not told what became of them.
CREATE FUNCTION note_late_payouts(p_review_minutes integer, p_doubt_minutes integer) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH late AS (
  SELECT 'review_late:' || p.id AS key, 'review_late' AS kind, p.id FROM payouts p
   WHERE p.status_group = 'open' AND p.status = 'under_review' AND p.mode = 'live'
     AND NOT p.awaits_batch AND p.awaits_release IS NOT TRUE
     AND p.created_at < now() - p_review_minutes * interval '1 minute'
  UNION ALL
  SELECT 'doubt_late:' || p.id || ':' || extract(epoch FROM p.in_doubt_since), 'doubt_late', p.id
    FROM payouts p
   WHERE p.in_doubt_since < now() - p_doubt_minutes * interval '1 minute' AND p.mode = 'live')
  INSERT INTO occasions (key, kind, object_id)
  SELECT l.key, l.kind, l.id FROM late l
   WHERE NOT EXISTS (SELECT FROM occasions o WHERE o.key = l.key) LIMIT 1000
  ON CONFLICT (key) DO NOTHING
$$;
GRANT EXECUTE ON FUNCTION note_late_payouts TO gateway_worker;

-- Once for each account, in the first days of a month: occasions are forgotten after 30 days, and a new
-- installation tells nobody of months long ago. A posting of the month's last moment is committed by then.
CREATE FUNCTION note_closed_statements(p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH first_moment AS (
    SELECT date_trunc('month', p_now AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS at
  ), closed AS (
    SELECT at, to_char((at - interval '1 day') AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM first_moment
     WHERE p_now BETWEEN at + interval '1 hour' AND at + interval '5 days'
  )
  INSERT INTO occasions (key, kind, account_id, mode, object_id)
  SELECT DISTINCT concat_ws(':', 'statement_closed', b.account_id, c.month), 'statement_closed', b.account_id,
         'live', c.month
    FROM closed c JOIN balances b ON b.mode = 'live'
    JOIN ledger_transactions t ON (t.account_id, t.mode, t.currency, t.balance_version)
                                = (b.account_id, b.mode, b.currency, 1) AND t.posted_at < c.at
   WHERE NOT EXISTS (SELECT FROM occasions o
                      WHERE o.key = concat_ws(':', 'statement_closed', b.account_id, c.month))
  ON CONFLICT (key) DO NOTHING
$$;
GRANT EXECUTE ON FUNCTION note_closed_statements TO gateway_worker;

CREATE FUNCTION note_provider_alarm_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('provider_alarm',
                        concat_ws(':', NEW.provider, NEW.mode, NEW.alarm_id, extract(epoch FROM NEW.raised_at)),
                        NULL, NULL, concat_ws(' ', NEW.kind, 'on', NEW.network, '(' || NEW.mode || ' mode)'));
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON provider_alarms FOR EACH ROW
  EXECUTE FUNCTION note_provider_alarm_occasion();

-- Replaces the open alarms of a provider by those that it has answered.
CREATE FUNCTION note_provider_alarms(p_provider text, p_mode text, p_alarms jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM provider_alarms a WHERE a.provider = p_provider AND a.mode = p_mode
     AND NOT EXISTS (SELECT FROM jsonb_to_recordset(p_alarms) AS open (id text, raised_at timestamptz)
                      WHERE open.id = a.alarm_id AND open.raised_at = a.raised_at);
  INSERT INTO provider_alarms (provider, mode, alarm_id, kind, network, subject, detail, raised_at)
  SELECT p_provider, p_mode, id, kind, network, subject, detail, raised_at
    FROM jsonb_to_recordset(p_alarms)
      AS open (id text, kind text, network text, subject text, detail text, raised_at timestamptz)
  ON CONFLICT (provider, mode, alarm_id) DO UPDATE SET detail = excluded.detail
   WHERE provider_alarms.detail <> excluded.detail
$$;
GRANT EXECUTE ON FUNCTION note_provider_alarms TO gateway_worker;

CREATE FUNCTION note_password_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_occasion('password_changed', NEW.id::text, NULL, NULL, NEW.object_id, NEW.object_id);
  RETURN NULL;
END $$;
CREATE TRIGGER note_password_occasion AFTER INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.action IN ('user.change_password', 'user.reset_password', 'user.vouch'))
  EXECUTE FUNCTION note_password_occasion();
`;
