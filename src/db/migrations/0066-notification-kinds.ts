/** More of what people are told: what waits for a second person, low balances, and what operators left waiting. */
export const sql = /* sql */ `
-- Not told: who made what waits cannot approve it.
ALTER TABLE occasions ADD COLUMN maker_id text;

CREATE FUNCTION note_waiting(
  p_kind text, p_id text, p_account_id text, p_mode text, p_object_id text, p_maker_id text
) RETURNS void
LANGUAGE sql SET search_path = public, pg_temp AS $$
  INSERT INTO occasions (key, kind, account_id, mode, object_id, maker_id)
  VALUES (p_kind || ':' || p_id, p_kind, p_account_id, p_mode, p_object_id, p_maker_id)
  ON CONFLICT (key) DO NOTHING
$$;

CREATE OR REPLACE FUNCTION note_second_person_occasion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM note_waiting('payout_waits', p.id, p.account_id, p.mode, p.id, p.api_key_id)
     FROM payouts p WHERE p.id = NEW.payout_id;
  RETURN NULL;
END $$;

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

CREATE FUNCTION note_waiting_schedule() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- Nobody has approved it yet, so the roles do not matter.
  IF schedule_awaits_second_person(NEW.id, '{}') THEN
    PERFORM note_waiting('schedule_waits', NEW.id, NEW.account_id, NEW.mode, NEW.id, NEW.api_key_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_occasion AFTER INSERT ON payout_schedules FOR EACH ROW
  EXECUTE FUNCTION note_waiting_schedule();

-- The amounts below which an account's people are told.
CREATE TABLE balance_alerts (
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  currency text NOT NULL,
  below numeric(38,8) NOT NULL CHECK (below > 0),
  -- Since when it has been told; null: the balance was not below.
  low_since timestamptz,
  PRIMARY KEY (account_id, mode, currency)
);
GRANT SELECT, INSERT, UPDATE (below), DELETE ON balance_alerts TO gateway_dashboard;

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
`;
