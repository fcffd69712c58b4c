/** The 24 hours of a key count its refunds too: both take money out of the balance. */
export const sql = /* sql */ `
-- What a key has requested in the last 24 hours, payouts and refunds, without what was returned, and when the
-- oldest of it leaves the window. Null: nothing.
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
             AND state <> 'refused') AS requested
$$;
`;
