/**
 * Under row-level security, PostgreSQL calls lower() only on rows that the role may see, so a merchant's search would
 * read every payment of the account instead of the index payments_by_customer. The function reads the index, and
 * returns the payments of the account alone.
 */
export const sql = /* sql */ `
CREATE FUNCTION own_payments_of_customer(p_email text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 10 SET search_path = public, pg_temp AS $$
  SELECT id FROM payments
   WHERE lower(customer_email) = lower(p_email) AND account_id = current_setting('app.account_id', true)
   LIMIT 10
$$;
GRANT EXECUTE ON FUNCTION own_payments_of_customer TO gateway_merchant;
`;
