/**
 * Mails with a link that works once: invitations, and resets of a password (decisions/notifications#link-mails). The token is
 * made when the mail is sent, so the database never has it, and neither has the person who invites.
 */
export const sql = /* sql */ `
CREATE TABLE link_mails (
  id text PRIMARY KEY,
  -- The site.
  kind text NOT NULL CHECK (kind IN ('merchant', 'operator')),
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
  used_at timestamptz
);
CREATE INDEX link_mails_waiting ON link_mails (created_at) WHERE status = 'waiting';
CREATE INDEX link_mails_of_email ON link_mails (kind, lower(email), created_at);
CREATE INDEX link_mails_of_network ON link_mails (network, created_at);
CREATE INDEX link_mails_by_age ON link_mails (created_at);
GRANT SELECT, INSERT, UPDATE (expires_at, used_at) ON link_mails TO gateway_dashboard;
GRANT SELECT (id, status, created_at), UPDATE (status, last_error, updated_at), DELETE
  ON link_mails TO gateway_worker;

-- Set: only the person at the address has the link.
ALTER TABLE invitations ADD COLUMN mailed_at timestamptz;

-- Gives a waiting mail its token. No row: there is nothing to send, and the mail is dropped. A reset is sent to
-- the user's own address, because two spellings of lower() can be two mailboxes.
CREATE FUNCTION take_link_mail(p_id text, p_token_hash bytea, p_reset_minutes integer)
RETURNS TABLE (kind text, email text, account_name text, role text, invited_by text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  v_mail link_mails;
  v_to text;
BEGIN
  SELECT * INTO v_mail FROM link_mails m WHERE m.id = p_id AND m.status = 'waiting' FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF v_mail.invitation_id IS NULL THEN
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
    LEFT JOIN accounts a ON a.id = i.account_id;
END $$;
GRANT EXECUTE ON FUNCTION take_link_mail TO gateway_worker;
`;
