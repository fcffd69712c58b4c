/**
 * An operation key belongs to one posting: its source, its type and its lines. A posting that has the key of
 * another one raises, so that nobody takes it for money that moved before. Settling a payout that was
 * released raises too.
 */
export const sql = /* sql */ `
-- For ledger_post and ledger_adjust only: posts one balanced transaction; lines is an array of
-- {account, direction, amount}.
--   posted        the money moved
--   replayed      this posting was made before; nothing moved
--   insufficient  available would fall below zero; nothing moved
-- Anything else that is wrong raises. The caller writes the rest of its transaction first and
-- commits right after, because from the UPDATE on, the balance is locked.
CREATE OR REPLACE FUNCTION ledger_write(
  p_id text, p_operation_key text, p_account_id text, p_mode text, p_currency text,
  p_type text, p_description text, p_source_object text, p_source_id text, p_lines jsonb
) RETURNS TABLE (outcome text, available numeric(38,8), reserved numeric(38,8))
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
  known ledger_transactions%ROWTYPE;
  b balances%ROWTYPE;
  d_available numeric(38,8);
  d_reserved numeric(38,8);
BEGIN
  -- Postings with the same operation key go one after the other, so that the second finds what
  -- the first wrote. Without this both would miss it, and the second would meet a balance that
  -- the first has changed already: a false "insufficient", or an error. It locks this key alone;
  -- where different postings meet is the UPDATE below.
  PERFORM pg_advisory_xact_lock(hashtextextended(p_operation_key, 0));
  SELECT * INTO known FROM ledger_transactions WHERE operation_key = p_operation_key;
  IF FOUND THEN
    IF (known.account_id, known.mode, known.currency, known.type, known.source_object, known.source_id)
         IS DISTINCT FROM (p_account_id, p_mode, p_currency, p_type, p_source_object, p_source_id)
       OR (SELECT jsonb_agg(jsonb_build_array(e.account, e.direction, e.amount) ORDER BY e.line)
             FROM ledger_entries e WHERE e.transaction_id = known.id)
         IS DISTINCT FROM
          (SELECT jsonb_agg(jsonb_build_array(l.account, l.direction, l.amount) ORDER BY l.line)
             FROM ROWS FROM (jsonb_to_recordset(p_lines)
                              AS (account text, direction text, amount numeric(38,8)))
               WITH ORDINALITY AS l(account, direction, amount, line)) THEN
      RAISE EXCEPTION 'operation key % belongs to another posting', p_operation_key;
    END IF;
    RETURN QUERY SELECT 'replayed', w.available, w.reserved FROM balances w
      WHERE (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency);
    RETURN;
  END IF;

  IF jsonb_array_length(p_lines) = 0 THEN
    RAISE EXCEPTION 'posting % has no lines', p_operation_key;
  END IF;
  SELECT coalesce(sum(signed) FILTER (WHERE account = 'available'), 0),
         coalesce(sum(signed) FILTER (WHERE account = 'reserved'), 0)
    INTO d_available, d_reserved
    FROM (SELECT account, CASE direction WHEN 'in' THEN amount ELSE -amount END AS signed
            FROM jsonb_to_recordset(p_lines)
              AS l(account text, direction text, amount numeric(38,8))) s;

  INSERT INTO balances AS w
    SELECT p_account_id, p_mode, p_currency, 0, 0, 0, '-infinity'
     WHERE d_available >= 0 AND NOT EXISTS (
       SELECT FROM balances e
        WHERE (e.account_id, e.mode, e.currency) = (p_account_id, p_mode, p_currency))
    ON CONFLICT DO NOTHING;

  UPDATE balances w
     SET available = w.available + d_available,
         reserved = w.reserved + d_reserved,
         version = w.version + 1,
         last_posted_at = greatest(clock_timestamp(), w.last_posted_at + interval '1 microsecond')
   WHERE (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency)
     AND w.available + d_available >= 0
  RETURNING * INTO b;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'insufficient', w.available, w.reserved
      FROM (VALUES (1)) AS one(x) LEFT JOIN balances w
        ON (w.account_id, w.mode, w.currency) = (p_account_id, p_mode, p_currency);
    RETURN;
  END IF;

  INSERT INTO ledger_transactions VALUES (p_id, p_operation_key, p_account_id, p_mode, p_currency,
    p_type, p_description, p_source_object, p_source_id, b.version, b.last_posted_at);

  -- Each line's balance is what the account held before this posting plus the lines up to it.
  INSERT INTO ledger_entries
    SELECT p_id, l.line, l.account, l.direction, l.amount,
           CASE l.account
             WHEN 'available' THEN b.available - d_available
             WHEN 'reserved' THEN b.reserved - d_reserved
           END + sum(CASE l.direction WHEN 'in' THEN l.amount ELSE -l.amount END)
                   OVER (PARTITION BY l.account ORDER BY l.line)
      FROM ROWS FROM (jsonb_to_recordset(p_lines)
                       AS (account text, direction text, amount numeric(38,8)))
        WITH ORDINALITY AS l(account, direction, amount, line);

  RETURN QUERY SELECT 'posted', b.available, b.reserved;
END $$;
`;
