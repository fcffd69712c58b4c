/** What payouts have used of their limits of 24 hours (decisions/controls#payout-limits). */
export const sql = /* sql */ `
-- What counts against the limits of 24 hours (decisions/controls#payout-limits), so that a reservation does not add
-- up the day's payouts: the sums over the payouts after counted_after that were not returned. An account
-- and currency without such a limit has no row, until its first reservation under one.
CREATE TABLE payout_usage (
  account_id text NOT NULL,
  mode text NOT NULL,
  currency text NOT NULL,
  counted_after timestamptz NOT NULL,
  used numeric(38,8) NOT NULL,
  -- Of these, what no operator reviewed.
  auto_approved numeric(38,8) NOT NULL,
  PRIMARY KEY (account_id, mode, currency)
) WITH (fillfactor = 50);

-- The sums over a range of creation times, from the payouts themselves.
CREATE FUNCTION payout_sums(
  p_account_id text, p_mode text, p_currency text, p_after timestamptz, p_until timestamptz
) RETURNS TABLE (used numeric(38,8), auto_approved numeric(38,8)) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0), coalesce(sum(amount) FILTER (WHERE review_reasons = '{}'), 0)
    FROM payouts
   WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
     AND created_at > p_after AND created_at <= p_until
     AND status NOT IN ('rejected', 'failed', 'cancelled')
$$;

-- The sums of the last 24 hours: exact, because what has left the window since counted_after is
-- subtracted. No row: nothing is counted.
CREATE FUNCTION payout_used(p_account_id text, p_mode text, p_currency text)
RETURNS TABLE (used numeric(38,8), auto_approved numeric(38,8)) LANGUAGE sql STABLE AS $$
  SELECT u.used - gone.used, u.auto_approved - gone.auto_approved
    FROM payout_usage u
   CROSS JOIN LATERAL payout_sums(u.account_id, u.mode, u.currency, u.counted_after,
                                  statement_timestamp() - interval '24 hours') AS gone
   WHERE u.account_id = p_account_id AND u.mode = p_mode AND u.currency = p_currency
$$;

CREATE FUNCTION payout_usage_key(p_account_id text, p_mode text, p_currency text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT hashtextextended(concat_ws(':', p_account_id, p_mode, p_currency), 0)
$$;

-- Reservations under a limit of 24 hours go one after the other from here to their commit, and find a
-- row to count in. Without such a limit nothing is locked or counted.
CREATE FUNCTION lock_payout_usage(p_account_id text, p_mode text, p_currency text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  day_ago timestamptz;
BEGIN
  PERFORM FROM payout_policy(p_account_id, p_currency) AS p
    WHERE coalesce(p.daily_max, p.auto_approve_daily_max) IS NOT NULL;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(payout_usage_key(p_account_id, p_mode, p_currency));
  PERFORM FROM payout_usage u
    WHERE (u.account_id, u.mode, u.currency) = (p_account_id, p_mode, p_currency);
  IF FOUND THEN RETURN; END IF;
  day_ago := clock_timestamp() - interval '24 hours';
  INSERT INTO payout_usage
    SELECT p_account_id, p_mode, p_currency, day_ago, s.used, s.auto_approved
      FROM payout_sums(p_account_id, p_mode, p_currency, day_ago, 'infinity') AS s;
END $$;

-- Locks the row, and returns from when on it counts. Null when there is no row: then the shared lock
-- makes the transaction that adds it wait for this one, whose payouts its sum must include.
CREATE FUNCTION hold_payout_usage(p_account_id text, p_mode text, p_currency text)
RETURNS timestamptz LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  found_after timestamptz;
BEGIN
  FOR attempt IN 1..2 LOOP
    SELECT u.counted_after INTO found_after FROM payout_usage u
     WHERE (u.account_id, u.mode, u.currency) = (p_account_id, p_mode, p_currency) FOR UPDATE;
    IF found_after IS NOT NULL OR attempt = 2 THEN RETURN found_after; END IF;
    PERFORM pg_advisory_xact_lock_shared(payout_usage_key(p_account_id, p_mode, p_currency));
  END LOOP;
END $$;

-- Adds new payouts and subtracts those that have left the window, each of them once.
CREATE FUNCTION count_new_payouts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  k record;
  held_after timestamptz;
  new_after timestamptz;
BEGIN
  FOR k IN SELECT DISTINCT account_id, mode, currency FROM added ORDER BY 1, 2, 3 LOOP
    held_after := hold_payout_usage(k.account_id, k.mode, k.currency);
    CONTINUE WHEN held_after IS NULL;
    new_after := greatest(held_after, clock_timestamp() - interval '24 hours');
    UPDATE payout_usage u
       SET counted_after = new_after,
           used = u.used + came.used - gone.used,
           auto_approved = u.auto_approved + came.auto_approved - gone.auto_approved
      FROM payout_sums(k.account_id, k.mode, k.currency, held_after, new_after) AS gone,
           (SELECT coalesce(sum(amount), 0) AS used,
                   coalesce(sum(amount) FILTER (WHERE review_reasons = '{}'), 0) AS auto_approved
              FROM added
             WHERE (account_id, mode, currency) = (k.account_id, k.mode, k.currency)
               AND created_at > held_after
               AND status NOT IN ('rejected', 'failed', 'cancelled')) AS came
     WHERE (u.account_id, u.mode, u.currency) = (k.account_id, k.mode, k.currency);
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER count_new AFTER INSERT ON payouts
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_payouts();

-- A payout that is rejected, fails or is cancelled no longer counts.
CREATE FUNCTION count_returned_payout() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  is_returned constant boolean := NEW.status IN ('rejected', 'failed', 'cancelled');
  change constant numeric(38,8) := CASE WHEN is_returned THEN -NEW.amount ELSE NEW.amount END;
BEGIN
  IF NEW.created_at > hold_payout_usage(NEW.account_id, NEW.mode, NEW.currency) THEN
    UPDATE payout_usage u
       SET used = u.used + change,
           auto_approved = u.auto_approved + CASE WHEN NEW.review_reasons = '{}' THEN change ELSE 0 END
     WHERE (u.account_id, u.mode, u.currency) = (NEW.account_id, NEW.mode, NEW.currency);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_returned AFTER UPDATE OF status ON payouts FOR EACH ROW
  WHEN ((OLD.status IN ('rejected', 'failed', 'cancelled'))
        <> (NEW.status IN ('rejected', 'failed', 'cancelled')))
  EXECUTE FUNCTION count_returned_payout();

GRANT SELECT ON payout_usage TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT EXECUTE ON FUNCTION payout_sums, payout_used
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT EXECUTE ON FUNCTION lock_payout_usage TO gateway_worker;
`;
