/** Decisions of signed-in operators about payouts, and the amounts above which two must approve. */
export const sql = /* sql */ `
-- A payout above this amount is approved by two different operators, in the console.
CREATE TABLE four_eyes_thresholds (
  currency text PRIMARY KEY,
  amount numeric(38,8) NOT NULL CHECK (amount >= 0)
);

-- A change of a threshold that one admin has proposed; another one confirms it.
CREATE TABLE four_eyes_proposals (
  currency text PRIMARY KEY,
  -- Null removes the threshold.
  amount numeric(38,8) CHECK (amount >= 0),
  proposed_by text NOT NULL,
  reason text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The console inserts what a signed-in operator decided; the payout's workflow applies it. The name
-- in a signal is only claimed, the user here has signed in.
CREATE TABLE payout_decisions (
  id text PRIMARY KEY,
  payout_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('approve', 'reject')),
  user_id text NOT NULL REFERENCES users,
  -- At the time of the decision.
  email text NOT NULL,
  reason text,
  -- Null until the workflow has taken it.
  outcome text CHECK (outcome IN ('applied', 'counted', 'already_decided', 'too_late',
    'same_operator', 'key_creator', 'not_allowed', 'expired')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at timestamptz,
  CHECK ((outcome IS NULL) = (decided_at IS NULL))
);
CREATE INDEX payout_decisions_by_payout ON payout_decisions (payout_id, created_at);
-- Two approvals are two operators, whatever the programs do.
CREATE UNIQUE INDEX payout_decisions_one_each ON payout_decisions (payout_id, user_id)
  WHERE outcome = 'counted';

GRANT SELECT ON four_eyes_thresholds TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE, DELETE ON four_eyes_thresholds TO gateway_admin;
GRANT SELECT, INSERT, DELETE ON four_eyes_proposals TO gateway_admin;
GRANT SELECT, INSERT ON payout_decisions TO gateway_dashboard;
GRANT SELECT ON payout_decisions TO gateway_worker, gateway_admin;
-- The worker cannot change who decided what.
GRANT UPDATE (outcome, decided_at) ON payout_decisions TO gateway_worker;
-- Whether the operator may still decide; not the password's hash.
GRANT SELECT (id, kind, email, operator_role, disabled_at) ON users TO gateway_worker;
GRANT EXECUTE ON FUNCTION payout_sums, payout_used TO gateway_dashboard;
`;

/**
 * For the console's queues, and to find who else pays a destination. The predicates use columns that
 * do not change while a payout is open, so that its status changes touch no index.
 */
export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_reviewed ON payouts (created_at, id)
     WHERE status_group = 'open' AND review_reasons <> '{}'`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_in_doubt ON payouts (in_doubt_since, id)
     WHERE in_doubt_since IS NOT NULL`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_destination
     ON payouts (destination_value, account_id, mode)`,
  'DROP INDEX CONCURRENTLY IF EXISTS payouts_by_destination',
];
