/** Whether a key or a person may still make payouts, for the transaction that reserves them. */
export const sql = /* sql */ `
-- The code of the refusal; null: the requester may. The roles are those that may make payouts in the mode.
CREATE FUNCTION requester_fault(p_account_id text, p_requester text, p_roles text[]) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  account_status text;
  k api_keys%ROWTYPE;
BEGIN
  SELECT * INTO k FROM api_keys WHERE id = p_requester AND account_id = p_account_id;
  IF FOUND AND (k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp()) THEN
    RETURN 'invalid_api_key';
  END IF;
  SELECT status INTO account_status FROM accounts WHERE id = p_account_id;
  IF account_status IS DISTINCT FROM 'active' THEN RETURN 'account_suspended'; END IF;
  IF k.id IS NOT NULL THEN
    RETURN CASE WHEN NOT 'payouts:write' = ANY (k.scopes) THEN 'insufficient_scope' END;
  END IF;
  PERFORM FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.user_id = p_requester AND m.account_id = p_account_id AND u.disabled_at IS NULL
      AND m.role = ANY (p_roles);
  RETURN CASE WHEN NOT FOUND THEN 'insufficient_scope' END;
END $$;
GRANT EXECUTE ON FUNCTION requester_fault TO gateway_worker;
`;
