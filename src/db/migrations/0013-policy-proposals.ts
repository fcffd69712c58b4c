/** Changes of an account's policies that one admin proposes and another approves, in the console. */
export const sql = /* sql */ `
CREATE TABLE policy_proposals (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  -- What it changes, such as "limits USDT".
  topic text NOT NULL,
  wish jsonb NOT NULL,
  -- What is in force when it is proposed; null: no rule. And what the proposal makes of it.
  before jsonb,
  after jsonb NOT NULL,
  reason text NOT NULL,
  -- E-mail address of the admin.
  proposed_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL DEFAULT clock_timestamp() + interval '7 days',
  outcome text CHECK (outcome IN ('approved', 'rejected', 'replaced')),
  decided_by text,
  decided_at timestamptz,
  CHECK ((outcome IS NULL) = (decided_at IS NULL) AND (outcome IS NULL) = (decided_by IS NULL)),
  -- Two people, whatever the programs do.
  CHECK (outcome IS DISTINCT FROM 'approved' OR lower(decided_by) <> lower(proposed_by))
);
CREATE UNIQUE INDEX policy_proposals_open ON policy_proposals (account_id, topic)
  WHERE outcome IS NULL;
CREATE INDEX policy_proposals_newest ON policy_proposals (created_at) WHERE outcome IS NULL;

GRANT SELECT, INSERT ON policy_proposals TO gateway_dashboard;
-- What was proposed cannot be changed.
GRANT UPDATE (outcome, decided_by, decided_at) ON policy_proposals TO gateway_dashboard;
GRANT SELECT ON policy_proposals TO gateway_admin;
GRANT SELECT, INSERT, DELETE ON four_eyes_proposals TO gateway_dashboard;
GRANT INSERT, UPDATE, DELETE ON four_eyes_thresholds TO gateway_dashboard;
`;

/**
 * For the console's list of payments over all accounts. Only its query has the condition: without it,
 * PostgreSQL would read these indexes for an account's list too, and pass over the rows of others.
 */
export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_of_all ON payments (created_at, id)
     WHERE id > ''`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_of_status ON payments (status, created_at, id)
     WHERE id > ''`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_of_reference
     ON payments (reference, created_at, id) WHERE id > ''`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_exceptional ON payments (created_at, id)
     WHERE id > '' AND exceptions <> '{}'`,
];
