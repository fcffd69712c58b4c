/**
 * Webhook endpoints, what is to be delivered to them, and every attempt. Harmless where it has run
 * already: test/db/migrate.test.ts takes the newest migration off the record and runs it again.
 */
export const sql = /* sql */ `
-- Rows stay: a delivery names its endpoint, deleted or not. Bound of 16 a mode: services/webhooks.
CREATE TABLE IF NOT EXISTS webhook_endpoints (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  url text NOT NULL CHECK (length(url) <= 2048),
  description text,
  -- Null subscribes to every kind, also those that come later.
  events text[] CHECK (events <> '{}'),
  enabled boolean NOT NULL DEFAULT true,
  -- AES-256-GCM; the key is not in the database, key_id tells which it was (decision H2).
  secret_sealed bytea NOT NULL,
  secret_key_id text NOT NULL,
  -- Attempts that ran out of time one after the other; from five on it is kept off the fast lane.
  timeouts_in_a_row integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz
);
CREATE INDEX IF NOT EXISTS webhook_endpoints_of_account
  ON webhook_endpoints (account_id, mode) WHERE deleted_at IS NULL;

-- One for each event and endpoint, written in the transaction of the event. No foreign keys: both
-- ends are never deleted, and their share locks would be taken in every status change.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
  id text PRIMARY KEY,
  event_id text NOT NULL,
  endpoint_id text NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'succeeded', 'failed', 'skipped', 'abandoned')),
  -- Attempts of the schedule that were begun; those by hand are not counted.
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  -- Somebody asked for an attempt outside the schedule, and none has begun since.
  retry_requested_at timestamptz,
  -- The error code of the last attempt, or why nothing was attempted.
  last_error text,
  -- From when on the reconciler makes sure that a workflow drives it.
  check_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  UNIQUE (event_id, endpoint_id),
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
  CHECK ((status = 'pending') = (finished_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX IF NOT EXISTS webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX IF NOT EXISTS webhook_deliveries_open
  ON webhook_deliveries (endpoint_id) WHERE status = 'pending';
CREATE INDEX IF NOT EXISTS webhook_deliveries_unchecked
  ON webhook_deliveries (check_at) WHERE status = 'pending' OR retry_requested_at IS NOT NULL;

-- Written before the request leaves (outcome null), completed after it: a worker that dies in
-- between leaves an attempt that counts.
CREATE TABLE IF NOT EXISTS webhook_attempts (
  delivery_id text NOT NULL,
  number integer NOT NULL,
  -- By hand: outside the schedule.
  manual boolean NOT NULL,
  -- The workflow's order that made it: one order makes one attempt, however often it comes.
  order_key text,
  url text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  outcome text CHECK (outcome IN ('succeeded', 'failed')),
  status smallint,
  error_code text,
  error text,
  duration_ms integer,
  timing jsonb,
  request_headers jsonb,
  response_headers jsonb,
  -- Bytes: a NUL breaks a text column. At most 16 KiB.
  response_body bytea,
  response_truncated boolean,
  PRIMARY KEY (delivery_id, number)
);
CREATE INDEX IF NOT EXISTS webhook_attempts_by_time ON webhook_attempts (started_at);
CREATE INDEX IF NOT EXISTS webhook_attempts_with_body
  ON webhook_attempts (started_at) WHERE response_body IS NOT NULL;

-- Decision H8: bodies go after 30 days, the rest of an event stays. The index is for the clean-up
-- and for finding the events that an endpoint lacks.
ALTER TABLE events ALTER COLUMN body DROP NOT NULL;
CREATE INDEX IF NOT EXISTS events_with_body ON events (created_at) WHERE body IS NOT NULL;

-- The application may not touch the bytes of an event (decision H1), except to forget old ones.
-- Rows that somebody holds are left for the next run.
CREATE OR REPLACE FUNCTION forget_event_bodies(p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$
  WITH old AS (
    SELECT id FROM events WHERE body IS NOT NULL AND created_at < now() - interval '30 days'
     ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), forgotten AS (
    UPDATE events SET body = NULL FROM old WHERE events.id = old.id RETURNING 1
  )
  SELECT count(*)::integer FROM forgotten
$$;

GRANT SELECT, INSERT, UPDATE ON webhook_endpoints, webhook_deliveries TO gateway_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_attempts TO gateway_app;
REVOKE ALL ON FUNCTION forget_event_bodies FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_event_bodies TO gateway_app;
`;
