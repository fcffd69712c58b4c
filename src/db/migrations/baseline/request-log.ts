/** The log of API requests that merchants read. */
export const requestLog = /* sql */ `
-- A ring of nine days: eight of them hold the last seven days, and the ninth is empty for tomorrow.
-- A day is emptied with TRUNCATE, so that it costs nothing to forget it.
CREATE TABLE request_log (
  -- Sorts by time.
  id text NOT NULL,
  -- The days since 1970, modulo 9.
  day_slot smallint NOT NULL,
  account_id text NOT NULL,
  mode text NOT NULL,
  api_key_id text NOT NULL,
  at timestamptz NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  query text NOT NULL,
  status smallint NOT NULL,
  replayed boolean NOT NULL,
  idempotency_key text,
  address text NOT NULL,
  user_agent text NOT NULL,
  duration_ms integer NOT NULL,
  -- Redacted and shortened; null without a body, or one that is not text.
  request_body text,
  -- Null unless the request was refused.
  response_body text,
  PRIMARY KEY (account_id, mode, id, day_slot)
) PARTITION BY LIST (day_slot);
CREATE INDEX request_log_failed ON request_log (account_id, mode, id) WHERE status >= 400;
GRANT SELECT ON request_log TO gateway_api, gateway_admin, gateway_dashboard;

DO $$
BEGIN
  FOR slot IN 0..8 LOOP
    EXECUTE format('CREATE TABLE request_log_%1$s PARTITION OF request_log FOR VALUES IN (%1$s)', slot);
    EXECUTE format('CREATE INDEX request_log_%1$s_by_path
      ON request_log_%1$s (account_id, mode, path text_pattern_ops, id)', slot);
    EXECUTE format('CREATE INDEX request_log_%1$s_errors
      ON request_log_%1$s (account_id, mode, id) WHERE status >= 500', slot);
    EXECUTE format('CREATE INDEX request_log_%1$s_by_key
      ON request_log_%1$s (account_id, mode, idempotency_key, id)
      WHERE idempotency_key IS NOT NULL AND status < 300 AND NOT replayed', slot);
  END LOOP;
END $$;

-- How much of a day is stored, so that the storage of an account has a bound.
CREATE TABLE request_log_days (
  account_id text NOT NULL,
  mode text NOT NULL,
  day integer NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL,
  PRIMARY KEY (account_id, mode, day)
) WITH (fillfactor = 50);
CREATE INDEX request_log_days_by_day ON request_log_days (day);
GRANT SELECT ON request_log_days TO gateway_admin, gateway_dashboard;

-- Stores a batch, up to p_max requests that succeeded and as many that failed for each account, mode
-- and day. Returns how many were stored.
CREATE FUNCTION write_request_log(p_entries jsonb, p_max integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH entries AS (
    SELECT e.*, floor(extract(epoch FROM e.at) / 86400)::integer AS day,
           e.status >= 400 AS is_failure
      FROM jsonb_to_recordset(p_entries) AS e(
             id text, account_id text, mode text, api_key_id text, at timestamptz, method text,
             path text, query text, status smallint, replayed boolean, idempotency_key text,
             address text, user_agent text, duration_ms integer, request_body text,
             response_body text)
  ), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY account_id, mode, day, is_failure ORDER BY id) AS place
      FROM entries
  ), batch AS (
    SELECT account_id, mode, day, count(*) FILTER (WHERE NOT is_failure)::integer AS succeeded,
           count(*) FILTER (WHERE is_failure)::integer AS failed
      FROM entries GROUP BY account_id, mode, day ORDER BY account_id, mode, day
  ), counted AS (
    INSERT INTO request_log_days AS d SELECT * FROM batch
      ON CONFLICT (account_id, mode, day) DO UPDATE
      SET succeeded = d.succeeded + excluded.succeeded, failed = d.failed + excluded.failed
    RETURNING d.*
  ), stored AS (
    INSERT INTO request_log
    SELECT n.id, n.day % 9, n.account_id, n.mode, n.api_key_id, n.at, n.method, n.path, n.query,
           n.status, n.replayed, n.idempotency_key, n.address, n.user_agent, n.duration_ms,
           n.request_body, n.response_body
      FROM numbered n JOIN batch b USING (account_id, mode, day)
      JOIN counted c USING (account_id, mode, day)
     WHERE n.place + CASE WHEN n.is_failure THEN c.failed - b.failed
                          ELSE c.succeeded - b.succeeded END <= p_max
    RETURNING 1
  )
  SELECT count(*)::integer FROM stored
$$;
GRANT EXECUTE ON FUNCTION write_request_log TO gateway_api;

-- Empties tomorrow's part of the ring. Nothing waits behind a reader that holds it: after a second the
-- next run tries again.
CREATE FUNCTION forget_request_log() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  today constant integer := floor(extract(epoch FROM clock_timestamp()) / 86400);
  forgotten integer;
  is_used boolean;
BEGIN
  DELETE FROM request_log_days WHERE day < today - 8;
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  EXECUTE format('SELECT EXISTS (SELECT FROM request_log_%s)', (today + 1) % 9) INTO is_used;
  IF is_used THEN
    PERFORM set_config('lock_timeout', '1s', true);
    EXECUTE format('TRUNCATE request_log_%s', (today + 1) % 9);
  END IF;
  -- What was not emptied in time, because no clean-up ran yesterday.
  DELETE FROM request_log WHERE day_slot = today % 9 AND at < clock_timestamp() - interval '8 days';
  RETURN forgotten;
END $$;
GRANT EXECUTE ON FUNCTION forget_request_log TO gateway_worker;
`;
