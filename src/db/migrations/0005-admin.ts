/**
 * What the admin command needs: the audit log, and limits that an account has of its own beside
 * those it shares with everybody. Harmless where it has run already: test/db/migrate.test.ts takes
 * the newest migration off the record and runs it again.
 */
export const sql = /* sql */ `
-- Who changed what, when, from what to what, and why. A change writes its row in its own
-- transaction. before and after never hold a secret or its hash.
CREATE TABLE IF NOT EXISTS audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL CHECK (actor <> ''),
  action text NOT NULL,
  object text NOT NULL,
  object_id text NOT NULL,
  -- Null for what belongs to no account: a default, a global pause.
  account_id text,
  before jsonb,
  after jsonb,
  reason text
);
CREATE INDEX IF NOT EXISTS audit_log_by_object ON audit_log (object_id, at);
CREATE INDEX IF NOT EXISTS audit_log_by_time ON audit_log (at);

CREATE OR REPLACE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only: % on % refused', TG_OP, TG_TABLE_NAME;
END $$;
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- Which of its maxima an account takes from the default. Without this, setting one of the four
-- would freeze the other three, and a limit that is lowered for all would not reach the account.
ALTER TABLE payout_policies ADD COLUMN IF NOT EXISTS inherited text[] NOT NULL DEFAULT '{}'
  CHECK (inherited <@ ARRAY['per_transaction_max', 'daily_max', 'auto_approve_max',
                            'auto_approve_daily_max']);

-- The maxima in force for an account; always one row. Null is no maximum.
CREATE OR REPLACE FUNCTION payout_policy(p_account_id text, p_currency text)
RETURNS TABLE (
  per_transaction_max numeric, daily_max numeric,
  auto_approve_max numeric, auto_approve_daily_max numeric, from_default text[]
) LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN 'per_transaction_max' = ANY (f.names) THEN std.per_transaction_max
              ELSE own.per_transaction_max END,
         CASE WHEN 'daily_max' = ANY (f.names) THEN std.daily_max ELSE own.daily_max END,
         CASE WHEN 'auto_approve_max' = ANY (f.names) THEN std.auto_approve_max
              ELSE own.auto_approve_max END,
         CASE WHEN 'auto_approve_daily_max' = ANY (f.names) THEN std.auto_approve_daily_max
              ELSE own.auto_approve_daily_max END,
         f.names
    FROM (VALUES (p_currency)) AS asked(currency)
    LEFT JOIN payout_policies std
      ON std.account_id IS NULL AND std.currency = asked.currency
    LEFT JOIN payout_policies own
      ON own.account_id = p_account_id AND own.currency = asked.currency
   CROSS JOIN LATERAL (SELECT coalesce(own.inherited, ARRAY['per_transaction_max', 'daily_max',
                'auto_approve_max', 'auto_approve_daily_max'])) AS f(names)
$$;

GRANT SELECT, INSERT ON audit_log TO gateway_app;
GRANT EXECUTE ON FUNCTION payout_policy TO gateway_app;
`;
