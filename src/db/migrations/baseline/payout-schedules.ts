/** Recurring payouts (decisions/payouts#payout-schedules). */
export const payoutSchedules = /* sql */ `
CREATE TABLE payout_schedules (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'ended')),
  reference text NOT NULL,
  description text,
  cron text,
  time_zone text,
  interval_seconds integer CHECK (interval_seconds > 0),
  start_at timestamptz NOT NULL,
  end_at timestamptz CHECK (end_at > start_at),
  -- The rows of each run, as requests.
  payouts jsonb NOT NULL,
  totals jsonb NOT NULL,
  -- A key, or a user of the dashboard: runs have its permission and its limits.
  api_key_id text NOT NULL,
  -- As Temporal has told it.
  next_run_at timestamptz,
  last_run_id text,
  sequence integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  -- The most runs in 24 hours. Null: from before; then an interval tells, and otherwise every minute may be one.
  runs_a_day integer CHECK (runs_a_day > 0),
  UNIQUE (account_id, mode, reference),
  CHECK ((cron IS NULL) <> (interval_seconds IS NULL)),
  CHECK ((cron IS NULL) = (time_zone IS NULL)),
  CHECK ((status = 'ended') = (ended_at IS NOT NULL))
);
CREATE INDEX payout_schedules_newest ON payout_schedules (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payout_schedules_due ON payout_schedules (next_run_at) WHERE status = 'active';
CREATE INDEX payout_schedules_of_reference_start ON payout_schedules (reference text_pattern_ops);
CREATE INDEX payout_schedules_next ON payout_schedules
  ((CASE status WHEN 'active' THEN coalesce(next_run_at, end_at, '-infinity') ELSE end_at END))
  WHERE status <> 'ended';
GRANT SELECT ON payout_schedules TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payout_schedules TO gateway_api;
GRANT UPDATE (status, next_run_at, sequence, updated_at, ended_at) ON payout_schedules TO gateway_api, gateway_admin;
GRANT UPDATE (status, next_run_at, last_run_id, sequence, updated_at, ended_at) ON payout_schedules TO gateway_worker;

-- A time of a schedule is run once: a second start finds the row of the first.
CREATE TABLE payout_schedule_runs (
  id text PRIMARY KEY,
  schedule_id text NOT NULL REFERENCES payout_schedules,
  scheduled_for timestamptz NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'created', 'failed')),
  batch_id text NOT NULL UNIQUE,
  -- The provider, network and network fee of each row; null before the dry run.
  route jsonb,
  failure jsonb,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  UNIQUE (schedule_id, scheduled_for),
  CHECK ((status = 'failed') = (failure IS NOT NULL)),
  CHECK ((status = 'pending') = (ended_at IS NULL))
);
CREATE INDEX payout_schedule_runs_newest ON payout_schedule_runs (schedule_id, created_at DESC, id DESC);
CREATE INDEX payout_schedule_runs_pending ON payout_schedule_runs (created_at) WHERE status = 'pending';
CREATE INDEX payout_schedule_runs_failed ON payout_schedule_runs (ended_at) WHERE status = 'failed';
CREATE INDEX payout_schedule_runs_ended ON payout_schedule_runs (ended_at) WHERE status <> 'pending';
GRANT SELECT ON payout_schedule_runs TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE (status, route, failure, ended_at), DELETE ON payout_schedule_runs TO gateway_worker;
`;
