/** An operator comes in, and rises, by two admins; and two of whom one brought in the other do not make two. */
export const sql = /* sql */ `
-- Of an operator: the other admin, without whom the link does not work.
ALTER TABLE invitations ADD COLUMN approved_by text, ADD COLUMN approved_at timestamptz;

-- A higher role of an operator, until another admin approves it. Seven days.
CREATE TABLE operator_role_proposals (
  user_id text PRIMARY KEY REFERENCES users,
  role text NOT NULL CHECK (role IN ('admin', 'reviewer', 'viewer')),
  proposed_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT, INSERT, DELETE ON operator_role_proposals TO gateway_dashboard;

ALTER TABLE payout_decisions DROP CONSTRAINT payout_decisions_outcome_check;
ALTER TABLE payout_decisions ADD CONSTRAINT payout_decisions_outcome_check CHECK (outcome IN
  ('applied', 'counted', 'already_decided', 'too_late', 'same_operator', 'key_creator',
   'related_operator', 'not_allowed', 'expired')) NOT VALID;
`;
