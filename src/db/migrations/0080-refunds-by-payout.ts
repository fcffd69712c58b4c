/**
 * A refund to an address is carried out by a payout, so that every control of payouts holds for it
 * (decisions/payments#refunds-to-address).
 */
export const sql = /* sql */ `
ALTER TABLE payment_refunds
  -- Set: the money goes to an address. Until then somebody has to name it; afterwards the money is returned.
  ADD COLUMN address_until timestamptz,
  -- The payout that carries the money to the address.
  ADD COLUMN payout_id text;

-- The link with which a customer names the address. A new one replaces it.
CREATE TABLE refund_links (
  refund_id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  -- 'mail', or the operator who read the link.
  made_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- What was named last. It counts once the refund has a payout.
  destination jsonb
);
GRANT SELECT, UPDATE (destination) ON refund_links TO gateway_dashboard;
GRANT SELECT (refund_id, destination) ON refund_links TO gateway_worker;
GRANT SELECT, INSERT, UPDATE (token_hash, made_by, created_at, destination)
  ON refund_links TO gateway_admin;

-- The mail with that link. The customer is no user, and its token is in refund_links.
ALTER TABLE link_mails
  ADD COLUMN refund_id text,
  DROP CONSTRAINT link_mails_kind_check;
ALTER TABLE link_mails ADD CONSTRAINT link_mails_kind_check
  CHECK (kind IN ('merchant', 'operator', 'customer')) NOT VALID;
GRANT INSERT (id, kind, email, refund_id, expires_at) ON link_mails TO gateway_worker;

CREATE OR REPLACE FUNCTION take_link_mail(p_id text, p_token_hash bytea, p_reset_minutes integer)
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

-- Why nobody may send money any more for the one who asked for a refund; null: it may be sent. An operator's refund has
-- no requester. The roles are those that may make payouts in the mode.
CREATE FUNCTION refund_requester_fault(p_account_id text, p_requester text, p_roles text[]) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT CASE
    WHEN a.status <> 'active' THEN 'account_suspended'
    WHEN p_requester IS NULL OR EXISTS (
      SELECT FROM api_keys k
       WHERE k.id = p_requester AND k.account_id = a.id AND k.revoked_at IS NULL
         AND coalesce(k.expires_at > clock_timestamp(), true) AND 'refunds:write' = ANY (k.scopes)
    ) OR EXISTS (
      SELECT FROM memberships m JOIN users u ON u.id = m.user_id
       WHERE m.user_id = p_requester AND m.account_id = a.id AND u.disabled_at IS NULL
         AND m.role = ANY (p_roles)
    ) THEN NULL
    ELSE 'invalid_api_key' END
    FROM accounts a WHERE a.id = p_account_id
$$;
GRANT EXECUTE ON FUNCTION refund_requester_fault TO gateway_worker;

-- A merchant's refunds count as its payouts do, until a payout of their own counts.
CREATE FUNCTION refunds_used(p_account_id text, p_mode text, p_currency text, p_api_key_id text)
RETURNS numeric(38,8) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(amount), 0) FROM payment_refunds
   WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
     AND created_at > statement_timestamp() - interval '24 hours'
     AND requested_by = 'merchant' AND state <> 'refused' AND payout_id IS NULL
     AND (p_api_key_id IS NULL OR api_key_id = p_api_key_id)
$$;
GRANT EXECUTE ON FUNCTION refunds_used
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

CREATE OR REPLACE FUNCTION payout_used(p_account_id text, p_mode text, p_currency text)
RETURNS TABLE (used numeric(38,8), auto_approved numeric(38,8)) LANGUAGE sql STABLE AS $$
  SELECT u.used - gone.used + refunds_used(u.account_id, u.mode, u.currency, NULL),
         u.auto_approved - gone.auto_approved
    FROM payout_usage u
   CROSS JOIN LATERAL payout_sums(u.account_id, u.mode, u.currency, u.counted_after,
                                  statement_timestamp() - interval '24 hours') AS gone
   WHERE u.account_id = p_account_id AND u.mode = p_mode AND u.currency = p_currency
$$;

CREATE OR REPLACE FUNCTION key_used(
  p_account_id text, p_mode text, p_currency text, p_api_key_id text
) RETURNS TABLE (used numeric(38,8), resets_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT sum(amount), min(created_at) + interval '24 hours'
    FROM (SELECT amount, created_at FROM payouts
           WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
             AND api_key_id = p_api_key_id AND created_at > statement_timestamp() - interval '24 hours'
             AND status NOT IN ('rejected', 'failed', 'cancelled')
           UNION ALL
          SELECT amount, created_at FROM payment_refunds
           WHERE account_id = p_account_id AND mode = p_mode AND currency = p_currency
             AND api_key_id = p_api_key_id AND created_at > statement_timestamp() - interval '24 hours'
             AND state <> 'refused' AND payout_id IS NULL) AS requested
$$;
`;

export const steps = [
  `CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payment_refunds_of_payout
     ON payment_refunds (payout_id) WHERE payout_id IS NOT NULL`,
  'ALTER TABLE link_mails VALIDATE CONSTRAINT link_mails_kind_check',
];
