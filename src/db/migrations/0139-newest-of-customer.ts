/**
 * The newest payments of a customer in each mode: without an order, payments of test mode could take the places of
 * those in live mode. The index has them in this order.
 */
export const sql = /* sql */ `
CREATE OR REPLACE FUNCTION own_payments_of_customer(p_email text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER ROWS 20 SET search_path = public, pg_temp AS $$
  SELECT newest.id
    FROM (VALUES ('live'), ('test')) AS each (mode)
   CROSS JOIN LATERAL (
     SELECT id FROM payments
      WHERE lower(customer_email) = lower(p_email) AND account_id = current_setting('app.account_id', true)
        AND payments.mode = each.mode
      ORDER BY created_at DESC LIMIT 10) AS newest
$$;
`;

export const concurrent = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_of_customer
     ON payments (lower(customer_email), account_id, mode, created_at) WHERE customer_email IS NOT NULL`,
  'DROP INDEX CONCURRENTLY IF EXISTS payments_by_customer',
];
