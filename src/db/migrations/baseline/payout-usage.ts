/**
 * What payouts have used of their limits of 24 hours (decisions/controls#payout-limits), and whether a requester
 * may still make them.
 */
export const payoutUsage = /* sql */ `
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
GRANT SELECT ON payout_usage TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

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
GRANT EXECUTE ON FUNCTION payout_sums TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- The sums of the last 24 hours: exact, because what has left the window since counted_after is
-- subtracted. No row: nothing is counted.
CREATE FUNCTION payout_used(p_account_id text, p_mode text, p_currency text)
RETURNS TABLE (used numeric(38,8), auto_approved numeric(38,8)) LANGUAGE sql STABLE AS $$
  SELECT u.used - gone.used + refunds_used(u.account_id, u.mode, u.currency, NULL),
         u.auto_approved - gone.auto_approved
    FROM payout_usage u
   CROSS JOIN LATERAL payout_sums(u.account_id, u.mode, u.currency, u.counted_after,
                                  statement_timestamp() - interval '24 hours') AS gone
   WHERE u.account_id = p_account_id AND u.mode = p_mode AND u.currency = p_currency
$$;
GRANT EXECUTE ON FUNCTION payout_used TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

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
GRANT EXECUTE ON FUNCTION lock_payout_usage TO gateway_worker;

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

-- What a key has requested in the last 24 hours, payouts and refunds, without what was returned, and when the
-- oldest of it leaves the window. Null: nothing.
CREATE FUNCTION key_used(
  p_account_id text, p_mode text, p_currency text, p_api_key_id text
) RETURNS TABLE (used numeric(38,8), resets_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT sum(amount), min(created_at) + interval '24 hours'
    FROM (SELECT amount, created_at FROM payouts
           WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
             AND api_key_id = p_api_key_id AND created_at > statement_timestamp() - interval '24 hours'
             AND status NOT IN ('rejected', 'failed', 'cancelled')
           UNION ALL
          SELECT amount, created_at FROM payment_refunds
           WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
             AND api_key_id = p_api_key_id AND created_at > statement_timestamp() - interval '24 hours'
             AND state <> 'refused' AND payout_id IS NULL) AS requested
$$;
GRANT EXECUTE ON FUNCTION key_used TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- Reservations of a key with a limit of 24 hours go one after the other, from here to their commit. So do those of
-- an account with such a limit, or with an amount in the currency that one person may move alone. Without such
-- limits nothing is locked.
CREATE FUNCTION lock_payout_limits(
  p_account_id text, p_mode text, p_currency text, p_api_key_id text
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM lock_payout_usage(p_account_id, p_mode, p_currency);
  PERFORM FROM accounts a WHERE a.id = p_account_id AND a.second_person_above ? p_currency;
  IF FOUND THEN
    PERFORM pg_advisory_xact_lock(
      hashtextextended(concat_ws(':', 'line', p_account_id, p_mode, p_currency), 0));
  END IF;
  PERFORM FROM api_keys k
    WHERE k.id = p_api_key_id AND k.payout_limits -> p_currency ? 'per_day';
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(concat_ws(':', p_api_key_id, p_currency), 0));
END $$;
GRANT EXECUTE ON FUNCTION lock_payout_limits TO gateway_worker;

-- Why nobody may send money any more for the one who asked for a refund; null: it may be sent. An operator's refund has
-- no requester. The roles are those that may make payouts in the mode.
CREATE FUNCTION refund_requester_fault(p_account_id text, p_requester text, p_roles text[]) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT CASE
    WHEN a.status <> 'active' THEN 'account_suspended'
    WHEN p_requester IS NULL OR EXISTS (
      SELECT FROM api_keys k
       WHERE k.id = p_requester AND k.account_id = a.id AND k.revoked_at IS NULL
         AND coalesce(k.expires_at > clock_timestamp(), true) AND 'refunds:write' = ANY (k.scopes)
    ) OR EXISTS (
      SELECT FROM memberships m JOIN users u ON u.id = m.user_id
       WHERE m.user_id = p_requester AND m.account_id = a.id AND u.disabled_at IS NULL
         AND m.role = ANY (p_roles)
    ) THEN NULL
    ELSE 'invalid_api_key' END
    FROM accounts a WHERE a.id = p_account_id
$$;
GRANT EXECUTE ON FUNCTION refund_requester_fault TO gateway_worker;

-- A merchant's refunds count as its payouts do, until a payout of their own counts.
CREATE FUNCTION refunds_used(p_account_id text, p_mode text, p_currency text, p_api_key_id text)
RETURNS numeric(38,8) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0) FROM payment_refunds
   WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
     AND created_at > statement_timestamp() - interval '24 hours'
     AND requested_by = 'merchant' AND state <> 'refused' AND payout_id IS NULL
     AND (p_api_key_id IS NULL OR api_key_id = p_api_key_id)
$$;
GRANT EXECUTE ON FUNCTION refunds_used TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- The code of the refusal; null: the requester may. The roles are those that may make payouts in the mode.
CREATE FUNCTION requester_fault(p_account_id text, p_requester text, p_roles text[]) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  account_status text;
  k api_keys%ROWTYPE;
BEGIN
  SELECT * INTO k FROM api_keys WHERE id = p_requester AND account_id = p_account_id;
  IF FOUND AND (k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp()) THEN
    RETURN 'invalid_api_key';
  END IF;
  SELECT status INTO account_status FROM accounts WHERE id = p_account_id;
  IF account_status IS DISTINCT FROM 'active' THEN RETURN 'account_suspended'; END IF;
  IF k.id IS NOT NULL THEN
    RETURN CASE WHEN NOT 'payouts:write' = ANY (k.scopes) THEN 'insufficient_scope' END;
  END IF;
  PERFORM FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.user_id = p_requester AND m.account_id = p_account_id AND u.disabled_at IS NULL
      AND m.role = ANY (p_roles);
  RETURN CASE WHEN NOT FOUND THEN 'insufficient_scope' END;
END $$;
GRANT EXECUTE ON FUNCTION requester_fault TO gateway_worker;

CREATE FUNCTION count_later_review() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.created_at > hold_payout_usage(NEW.account_id, NEW.mode, NEW.currency) THEN
    UPDATE payout_usage u
       SET auto_approved = u.auto_approved
             + CASE WHEN NEW.review_reasons = '{}' THEN NEW.amount ELSE -NEW.amount END
     WHERE (u.account_id, u.mode, u.currency) = (NEW.account_id, NEW.mode, NEW.currency);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER count_later_review AFTER UPDATE OF review_reasons ON payouts FOR EACH ROW
  WHEN ((OLD.review_reasons = '{}') <> (NEW.review_reasons = '{}')
        AND NEW.status NOT IN ('rejected', 'failed', 'cancelled'))
  EXECUTE FUNCTION count_later_review();
`;
