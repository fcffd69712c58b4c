/** Operators whom an OpenID provider knows, and how each session was opened (decisions/people#single-sign-on). */
export const sql = /* sql */ `
-- One subject of a provider is one operator, and one operator has one subject.
CREATE TABLE operator_identities (
  user_id text PRIMARY KEY REFERENCES users,
  issuer text NOT NULL,
  subject text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (issuer, subject)
);
GRANT SELECT, INSERT ON operator_identities TO gateway_dashboard;
GRANT SELECT, INSERT, DELETE ON operator_identities TO gateway_admin;
-- The approvals of two operators do not count together when a provider knows only one of them.
GRANT SELECT (user_id) ON operator_identities TO gateway_worker;

-- local: a password or a passkey; directory: the provider; break_glass: a password or a passkey of an
-- operator who may sign in without the provider.
ALTER TABLE sessions ADD COLUMN signed_in_by text NOT NULL DEFAULT 'local'
  CHECK (signed_in_by IN ('local', 'directory', 'break_glass'));
GRANT SELECT (signed_in_by) ON sessions TO gateway_admin;

-- Whoever signs in from a new address is told, however they sign in.
CREATE OR REPLACE TRIGGER note_occasion AFTER INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.action IN ('api_key.create', 'payouts.pause', 'user.sign_in', 'user.single_sign_on',
                       'user.break_glass_sign_in'))
  EXECUTE FUNCTION note_audited_occasion();
`;
