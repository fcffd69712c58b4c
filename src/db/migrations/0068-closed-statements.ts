/** People can be told of the statement of a month that has ended (decisions/books#statements). */
export const sql = /* sql */ `
-- Once for each account, in the first days of a month: occasions are forgotten after 30 days, and a new
-- installation tells nobody of months long ago. A posting of the month's last moment is committed by then.
CREATE FUNCTION note_closed_statements(p_now timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH first_moment AS (
    SELECT date_trunc('month', p_now AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS at
  ), closed AS (
    SELECT at, to_char((at - interval '1 day') AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM first_moment
     WHERE p_now BETWEEN at + interval '1 hour' AND at + interval '5 days'
  )
  INSERT INTO occasions (key, kind, account_id, mode, object_id)
  SELECT DISTINCT concat_ws(':', 'statement_closed', b.account_id, c.month), 'statement_closed', b.account_id,
         'live', c.month
    FROM closed c JOIN balances b ON b.mode = 'live'
    JOIN ledger_transactions t ON (t.account_id, t.mode, t.currency, t.balance_version)
                                = (b.account_id, b.mode, b.currency, 1) AND t.posted_at < c.at
   WHERE NOT EXISTS (SELECT FROM occasions o
                      WHERE o.key = concat_ws(':', 'statement_closed', b.account_id, c.month))
  ON CONFLICT (key) DO NOTHING
$$;
GRANT EXECUTE ON FUNCTION note_closed_statements TO gateway_worker;
`;
