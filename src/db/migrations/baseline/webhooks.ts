/** Events, webhook endpoints, the deliveries of events to them, and every attempt. */
export const webhooks = /* sql */ `
-- The order of the events feed (decisions/webhooks#events-feed): the transaction's id, plus a shift for a database
-- that was dumped and loaded into another cluster, where ids start again. One row.
CREATE TABLE event_clock (
shift bigint NOT NULL
);
INSERT INTO event_clock VALUES (0);
GRANT SELECT ON event_clock TO gateway_api;

CREATE FUNCTION event_position() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT pg_current_xact_id()::text::bigint + shift FROM event_clock
$$;
GRANT EXECUTE ON FUNCTION event_position TO gateway_worker, gateway_admin, gateway_dashboard, gateway_api;

-- One row per status change; the body is the webhook's exact bytes (decisions/webhooks#webhook-bodies).
CREATE TABLE events (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  mode text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  sequence integer NOT NULL,
  -- Null once it is forgotten: bodies are kept for 30 days, the rest stays (decisions/webhooks#retention).
  body bytea,
  -- Who decided it, where somebody did, and the run of the object's workflow that recorded it.
  actor text,
  run_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  position bigint NOT NULL DEFAULT event_position(),
  UNIQUE (object_id, sequence)
);
-- A page of the feed reads each wanted type in order. Those who wait read the newest events of all
-- accounts: an expression, because PostgreSQL would look for an account's page among all events.
CREATE INDEX events_feed ON events (account_id, mode, type, position, id);
CREATE INDEX events_newest ON events ((position + 0));
-- The clean-up looks at the bodies of all accounts by their age; replay looks for the events of one
-- account and mode that can still be sent, in this order.
CREATE INDEX events_with_body ON events (created_at) WHERE body IS NOT NULL;
CREATE INDEX events_of_account_with_body ON events (account_id, mode, created_at, id) WHERE body IS NOT NULL;
-- The pages record the event of a ping.
-- The API writes the events of recipients, and no others.
GRANT SELECT, INSERT ON events TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- Rows stay: a delivery names its endpoint, deleted or not. At most 16 a mode: src/features/webhooks.
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  url text NOT NULL CHECK (length(url) <= 2048),
  description text,
  -- Null subscribes to every kind, also those that come later.
  events text[] CHECK (events <> '{}'),
  enabled boolean NOT NULL DEFAULT true,
  -- AES-256-GCM; the key is not in the database, key_id tells which it was (decisions/webhooks#webhook-secrets).
  secret_sealed bytea NOT NULL,
  secret_key_id text NOT NULL,
  -- Attempts that ran out of time one after the other; from five on it is kept off the fast lane.
  timeouts_in_a_row integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz,
  signature text NOT NULL DEFAULT 'gateway'
    CHECK (signature IN ('gateway', 'standard_webhooks'))
);
CREATE INDEX webhook_endpoints_of_account ON webhook_endpoints (account_id, mode) WHERE deleted_at IS NULL;
GRANT SELECT ON webhook_endpoints TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON webhook_endpoints TO gateway_api, gateway_admin, gateway_dashboard;
GRANT UPDATE (signature, url, description, events, enabled, secret_sealed, secret_key_id, timeouts_in_a_row,
  updated_at, deleted_at) ON webhook_endpoints TO gateway_api;
GRANT UPDATE ON webhook_endpoints TO gateway_worker, gateway_admin, gateway_dashboard;

-- One for each event and endpoint, written in the transaction of the event. No foreign keys: both
-- ends are never deleted, and their share locks would be taken in every status change.
CREATE TABLE webhook_deliveries (
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
  -- From when on it is checked that the delivery has a workflow.
  check_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz,
  UNIQUE (event_id, endpoint_id),
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)),
  CHECK ((status = 'pending') = (finished_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (endpoint_id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_unchecked
  ON webhook_deliveries (check_at) WHERE status = 'pending' OR retry_requested_at IS NOT NULL;
-- What did not succeed at each endpoint, in the order in which recovery goes through it.
CREATE INDEX webhook_deliveries_unsuccessful ON webhook_deliveries (endpoint_id, id)
  WHERE status IN ('failed', 'skipped', 'abandoned');
GRANT SELECT, INSERT ON webhook_deliveries TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT UPDATE (retry_requested_at, check_at) ON webhook_deliveries TO gateway_api;
GRANT UPDATE ON webhook_deliveries TO gateway_worker, gateway_admin, gateway_dashboard;

-- Written before the request leaves (outcome null), completed after it: a worker that dies in
-- between leaves an attempt that counts.
CREATE TABLE webhook_attempts (
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
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (started_at);
CREATE INDEX webhook_attempts_with_body ON webhook_attempts (started_at) WHERE response_body IS NOT NULL;
-- The single attempt of a test event; and an attempt is locked to be completed.
GRANT SELECT, INSERT, UPDATE ON webhook_attempts TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT DELETE ON webhook_attempts TO gateway_worker;

-- The attempts at one endpoint that run at a time, over all workers: a fixed set of rows, so that an
-- attempt takes a free one with SKIP LOCKED and waits for nobody.
CREATE TABLE webhook_slots (
  endpoint_id text NOT NULL REFERENCES webhook_endpoints,
  slot smallint NOT NULL,
  -- The order of the attempt that runs; null: free.
  holder text,
  taken_at timestamptz,
  PRIMARY KEY (endpoint_id, slot)
) WITH (fillfactor = 50);
GRANT SELECT, UPDATE ON webhook_slots TO gateway_worker;

-- As many as SLOTS_PER_ENDPOINT.
CREATE FUNCTION add_webhook_slots() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO webhook_slots (endpoint_id, slot)
  SELECT NEW.id, slot FROM generate_series(1, 4) slot;
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_endpoints_slots AFTER INSERT ON webhook_endpoints
  FOR EACH ROW EXECUTE FUNCTION add_webhook_slots();

-- The application may not touch the bytes of an event (decisions/webhooks#webhook-bodies), except to forget old
-- ones. Rows that somebody holds are left for the next run.
CREATE FUNCTION forget_event_bodies(p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH old AS (
    SELECT id FROM events WHERE body IS NOT NULL AND created_at < now() - interval '30 days'
     ORDER BY created_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), forgotten AS (
    UPDATE events SET body = NULL FROM old WHERE events.id = old.id RETURNING 1
  )
  SELECT count(*)::integer FROM forgotten
$$;
GRANT EXECUTE ON FUNCTION forget_event_bodies TO gateway_worker;

-- After every migration: positions of a loaded database may lie ahead of this cluster's ids.
CREATE FUNCTION align_event_clock() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE event_clock SET shift = newest.position + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    FROM (SELECT max(position) AS position FROM events) AS newest
   WHERE newest.position >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + shift
$$;
`;
