/**
 * People who sign in: merchants to the dashboard and operators to the console. Their sessions, second factors and
 * invitations, and what limits sign-in attempts.
 */
export const people = /* sql */ `
CREATE TABLE users (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('merchant', 'operator')),
  email text NOT NULL,
  -- argon2id, with its parameters and salt.
  password_hash text NOT NULL,
  -- Null for a merchant, who has a role in each account.
  operator_role text CHECK (operator_role IN ('admin', 'reviewer', 'viewer')),
  disabled_at timestamptz,
  last_sign_in_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  name text NOT NULL DEFAULT '',
  -- The account whose invitation created the user: its owner chose the address and got the link, so nobody
  -- knows whose address it is. Null: an operator created the user, or has vouched for the address.
  bound_account_id text REFERENCES accounts,
  -- When an admin removed the operator, who can be invited again. One who is disabled and was not
  -- removed stays disabled whoever invites.
  removed_at timestamptz,
  CHECK ((kind = 'operator') = (operator_role IS NOT NULL))
);
-- One person may be a merchant and an operator: these are two users with two passwords.
CREATE UNIQUE INDEX users_by_email ON users (kind, lower(email));
GRANT SELECT (id, created_at) ON users TO gateway_api;
-- Whether the operator may still decide; not the password's hash. The age of the creator of a payout is a
-- reason for a review, whether it is a key or a person.
GRANT SELECT (id, kind, email, operator_role, disabled_at, created_at) ON users TO gateway_worker;
GRANT SELECT (id, kind, email, name, operator_role, disabled_at, last_sign_in_at, created_at, bound_account_id,
  removed_at) ON users TO gateway_admin;
GRANT SELECT ON users TO gateway_dashboard;
-- The admin command creates users; nobody signs in with it.
GRANT INSERT, UPDATE ON users TO gateway_admin, gateway_dashboard;

CREATE TABLE memberships (
  user_id text NOT NULL REFERENCES users,
  account_id text NOT NULL REFERENCES accounts,
  role text NOT NULL CHECK (role IN ('owner', 'developer', 'finance', 'support', 'viewer')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, account_id)
);
CREATE INDEX memberships_by_account ON memberships (account_id);
GRANT SELECT (user_id, account_id, role) ON memberships TO gateway_worker;
GRANT SELECT, INSERT, UPDATE ON memberships TO gateway_admin, gateway_dashboard;
GRANT DELETE ON memberships TO gateway_dashboard;

-- The cookie holds the token; the row holds its hash only.
CREATE TABLE sessions (
  id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  user_id text NOT NULL REFERENCES users,
  -- The account that a merchant looks at; null for an operator.
  account_id text REFERENCES accounts,
  address inet,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- When the person last proved who they are in this session.
  authenticated_at timestamptz NOT NULL DEFAULT now(),
  -- local: a password or a passkey; directory: the provider; break_glass: a password or a passkey of an
  -- operator who may sign in without the provider.
  signed_in_by text NOT NULL DEFAULT 'local'
    CHECK (signed_in_by IN ('local', 'directory', 'break_glass'))
);
CREATE INDEX sessions_by_user ON sessions (user_id, created_at DESC);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
GRANT SELECT (id, user_id, account_id, address, user_agent, created_at, last_seen_at, expires_at, revoked_at,
  authenticated_at, signed_in_by) ON sessions TO gateway_admin;
GRANT SELECT ON sessions TO gateway_dashboard;
-- The admin command ends sessions.
GRANT INSERT, UPDATE ON sessions TO gateway_admin, gateway_dashboard;

CREATE TABLE totp_secrets (
  user_id text PRIMARY KEY REFERENCES users,
  -- Encrypted, as the secrets of webhook endpoints.
  sealed bytea NOT NULL,
  key_id text NOT NULL,
  -- Null until the first code: it is not a second factor yet.
  confirmed_at timestamptz,
  -- The 30-second step of the last accepted code. A code of this step or an earlier one is refused.
  last_step bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
);
-- For a person who lost the second factor, and for a new encryption key.
GRANT SELECT, UPDATE, DELETE ON totp_secrets TO gateway_admin, gateway_dashboard;
GRANT INSERT ON totp_secrets TO gateway_dashboard;

CREATE TABLE recovery_codes (
  user_id text NOT NULL REFERENCES users,
  code_hash bytea NOT NULL,
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, code_hash)
);
GRANT SELECT (user_id, used_at, created_at) ON recovery_codes TO gateway_admin;
GRANT SELECT, INSERT, UPDATE ON recovery_codes TO gateway_dashboard;
GRANT DELETE ON recovery_codes TO gateway_admin, gateway_dashboard;

CREATE TABLE passkeys (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users,
  -- base64url, as browsers send it.
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  -- The authenticator's; 0 for ever if it does not count.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at);
GRANT SELECT, DELETE ON passkeys TO gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON passkeys TO gateway_dashboard;

-- A challenge is in an encrypted cookie; when it is answered, its hash is kept until it expires.
CREATE TABLE used_challenges (
  hash bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_challenges_by_expiry ON used_challenges (expires_at);
GRANT SELECT, INSERT, DELETE ON used_challenges TO gateway_dashboard;

-- A row: a second factor is required.
CREATE TABLE second_factor_policies (
  -- An account's id, or 'operators'.
  scope text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, DELETE ON second_factor_policies TO gateway_admin, gateway_dashboard;

-- The link holds the token; the row holds its hash only.
CREATE TABLE invitations (
  id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('merchant', 'operator')),
  -- Null for an operator.
  account_id text REFERENCES accounts,
  email text NOT NULL,
  role text NOT NULL,
  -- The e-mail address of the person who invited.
  invited_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz,
  -- The other admin, without whom the link of an operator does not work.
  approved_by text,
  approved_at timestamptz,
  -- Set: only the person at the address has the link.
  mailed_at timestamptz,
  CHECK ((kind = 'merchant') = (account_id IS NOT NULL))
);
CREATE INDEX invitations_open ON invitations (kind, account_id, created_at)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX invitations_by_expiry ON invitations (expires_at);
GRANT SELECT, INSERT, UPDATE ON invitations TO gateway_dashboard;

-- A higher role of an operator, until another admin approves it. Seven days.
CREATE TABLE operator_role_proposals (
  user_id text PRIMARY KEY REFERENCES users,
  role text NOT NULL CHECK (role IN ('admin', 'reviewer', 'viewer')),
  proposed_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT, INSERT, DELETE ON operator_role_proposals TO gateway_dashboard;

-- One row for each password or code that was tried and not accepted; old rows are deleted.
CREATE TABLE authentication_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  email text NOT NULL,
  step text NOT NULL CHECK (step IN ('password', 'code')),
  -- An IPv6 address counts with its /64 network.
  network inet,
  -- A browser in which the user signed in before; null: not known.
  device text,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX authentication_attempts_by_email ON authentication_attempts (kind, email, at);
CREATE INDEX authentication_attempts_by_network ON authentication_attempts (network, at);
CREATE INDEX authentication_attempts_by_time ON authentication_attempts (at);
GRANT SELECT, INSERT, DELETE ON authentication_attempts TO gateway_dashboard;

-- Sessions are kept for 90 days after their end, because a sign-in is limited less in a network that
-- the user is known in. The audit log has what invitations and their people did. A batch of each.
CREATE FUNCTION forget_old_sign_ins(p_limit integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH sessions_gone AS (
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE expires_at < now() - interval '90 days'
       ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  ), invitations_gone AS (
    DELETE FROM invitations WHERE id IN (
      SELECT id FROM invitations WHERE expires_at < now() - interval '30 days'
       ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  ), attempts_gone AS (
    DELETE FROM authentication_attempts WHERE id IN (
      SELECT id FROM authentication_attempts WHERE at < now() - interval '1 day'
       ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  ), challenges_gone AS (
    DELETE FROM used_challenges WHERE hash IN (
      SELECT hash FROM used_challenges WHERE expires_at < now()
       ORDER BY expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED) RETURNING 1
  )
  SELECT ((SELECT count(*) FROM sessions_gone) + (SELECT count(*) FROM invitations_gone)
        + (SELECT count(*) FROM attempts_gone) + (SELECT count(*) FROM challenges_gone))::integer
$$;
GRANT EXECUTE ON FUNCTION forget_old_sign_ins TO gateway_worker;

CREATE TABLE saved_filters (
  user_id text NOT NULL REFERENCES users,
  name text NOT NULL,
  -- As in the URL of the list.
  query text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_filters TO gateway_dashboard;

-- One subject of a provider is one operator, and one operator has one subject.
CREATE TABLE operator_identities (
  user_id text PRIMARY KEY REFERENCES users,
  issuer text NOT NULL,
  subject text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (issuer, subject)
);
-- The approvals of two operators do not count together when a provider knows only one of them.
GRANT SELECT (user_id) ON operator_identities TO gateway_worker;
GRANT SELECT, INSERT ON operator_identities TO gateway_admin, gateway_dashboard;
GRANT DELETE ON operator_identities TO gateway_admin;

CREATE TABLE link_mails (
  id text PRIMARY KEY,
  -- The site.
  kind text NOT NULL,
  -- Of a reset: as somebody typed it. It may be nobody's.
  email text NOT NULL,
  -- Null: a reset.
  invitation_id text UNIQUE REFERENCES invitations ON DELETE CASCADE,
  -- Where a reset was asked for.
  network inet,
  -- Of a reset that was sent. An invitation has its own.
  token_hash bytea UNIQUE,
  -- As of notifications.
  status text NOT NULL DEFAULT 'waiting'
    CHECK (status IN ('waiting', 'sending', 'sent', 'refused', 'unclear', 'dropped')),
  last_error text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  -- The mail with that link. The customer is no user, and its token is in refund_links.
  refund_id text,
  CONSTRAINT link_mails_kind_check
    CHECK (kind IN ('merchant', 'operator', 'customer'))
);
CREATE INDEX link_mails_waiting ON link_mails (created_at) WHERE status = 'waiting';
CREATE INDEX link_mails_of_email ON link_mails (kind, lower(email), created_at);
CREATE INDEX link_mails_of_network ON link_mails (network, created_at);
CREATE INDEX link_mails_by_age ON link_mails (created_at);
GRANT SELECT (id, status, created_at), INSERT (id, kind, email, refund_id, expires_at), UPDATE (status, last_error,
  updated_at), DELETE ON link_mails TO gateway_worker;
GRANT SELECT, INSERT, UPDATE (expires_at, used_at, id, status, last_error, created_at, updated_at) ON link_mails TO
  gateway_dashboard;

-- Gives a waiting mail its token. No row: there is nothing to send, and the mail is dropped. A reset is sent to
-- the user's own address, because two spellings of lower() can be two mailboxes.
CREATE FUNCTION take_link_mail(p_id text, p_token_hash bytea, p_reset_minutes integer)
RETURNS TABLE (kind text, email text, account_name text, role text, invited_by text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  v_mail link_mails;
  v_to text;
  v_account_id text;
BEGIN
  SELECT * INTO v_mail FROM link_mails m WHERE m.id = p_id AND m.status = 'waiting' FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF v_mail.refund_id IS NOT NULL THEN
    SELECT v_mail.email, r.account_id INTO v_to, v_account_id FROM payment_refunds r
     WHERE r.id = v_mail.refund_id AND r.state = 'ordered' AND r.payout_id IS NULL
       AND r.address_until > now();
    IF v_to IS NOT NULL THEN
      INSERT INTO refund_links AS l (refund_id, token_hash, made_by)
      VALUES (v_mail.refund_id, p_token_hash, 'mail')
          ON CONFLICT (refund_id) DO UPDATE
         SET token_hash = p_token_hash, made_by = 'mail', created_at = clock_timestamp();
    END IF;
  ELSIF v_mail.invitation_id IS NULL THEN
    SELECT u.email INTO v_to FROM users u
     WHERE u.kind = v_mail.kind AND lower(u.email) = lower(v_mail.email) AND u.disabled_at IS NULL
       AND v_mail.expires_at > now();
    UPDATE link_mails m
       SET token_hash = p_token_hash, expires_at = now() + p_reset_minutes * interval '1 minute'
     WHERE m.id = p_id AND v_to IS NOT NULL;
  ELSE
    UPDATE invitations i SET token_hash = p_token_hash, mailed_at = now()
     WHERE i.id = v_mail.invitation_id AND i.accepted_at IS NULL AND i.revoked_at IS NULL
       AND i.expires_at > now() AND (i.kind = 'merchant' OR i.approved_by IS NOT NULL)
    RETURNING i.email INTO v_to;
  END IF;
  UPDATE link_mails m
     SET status = CASE WHEN v_to IS NULL THEN 'dropped' ELSE 'sending' END, updated_at = now()
   WHERE m.id = p_id;
  IF v_to IS NULL THEN RETURN; END IF;
  RETURN QUERY SELECT v_mail.kind, v_to, a.name, i.role, i.invited_by
    FROM (SELECT 1) AS mail
    LEFT JOIN invitations i ON i.id = v_mail.invitation_id
    LEFT JOIN accounts a ON a.id = coalesce(i.account_id, v_account_id);
END $$;
GRANT EXECUTE ON FUNCTION take_link_mail TO gateway_worker;
`;
