/** Whose address it is: a user whom an account invited acts in that account until an operator vouches. */
export const sql = /* sql */ `
-- The account whose invitation created the user: its owner chose the address and got the link, so nobody
-- knows whose address it is. Null: an operator created the user, or has vouched for the address.
ALTER TABLE users ADD COLUMN bound_account_id text REFERENCES accounts;
-- An operator whom an admin removed on the page People, who can be invited again. One who is disabled
-- and was not removed stays disabled whoever invites.
ALTER TABLE users ADD COLUMN removed_at timestamptz;

-- The audit log is read once: it can be long.
UPDATE users u SET bound_account_id = coalesce(accepted.account_id,
    (SELECT m.account_id FROM memberships m
      WHERE m.user_id = u.id ORDER BY m.created_at, m.account_id LIMIT 1))
  FROM users known LEFT JOIN (
    SELECT DISTINCT ON (l.after->>'id') l.after->>'id' AS user_id, l.account_id
      FROM audit_log l WHERE l.action = 'invitation.accept' ORDER BY l.after->>'id', l.id
  ) accepted ON accepted.user_id = known.id
  WHERE u.id = known.id AND u.kind = 'merchant' AND NOT EXISTS (
    SELECT FROM audit_log l
     WHERE l.action = 'user.create' AND l.object = 'user' AND l.object_id = u.id);
UPDATE users u SET removed_at = disabled_at
  WHERE u.kind = 'operator' AND u.disabled_at IS NOT NULL AND 'user.remove' = (
    SELECT l.action FROM audit_log l
     WHERE l.object = 'user' AND l.object_id = u.id
       AND l.action IN ('user.disable', 'user.enable', 'user.remove')
     ORDER BY l.id DESC LIMIT 1);

GRANT SELECT (bound_account_id, removed_at) ON users TO gateway_admin;
`;
