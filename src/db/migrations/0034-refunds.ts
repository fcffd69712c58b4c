/**
 * Refunds have ids of their own, so that merchants can ask for them and read them. A row belongs to the
 * account of its payment, whoever inserts it.
 */
export const sql = /* sql */ `
-- The form of src/platform/lib/new-id.ts: the time in milliseconds, then 16 random digits.
CREATE FUNCTION new_refund_id(p_at timestamptz) RETURNS text LANGUAGE sql VOLATILE AS $$
  WITH digits (all_of_them, ms, random) AS MATERIALIZED (
    SELECT '0123456789ABCDEFGHJKMNPQRSTVWXYZ', floor(extract(epoch FROM p_at) * 1000)::bigint,
           uuid_send(gen_random_uuid()))
  SELECT 'rf_'
         || (SELECT string_agg(substr(all_of_them, 1 + ((ms >> (5 * (9 - n))) & 31)::integer, 1), '' ORDER BY n)
               FROM generate_series(0, 9) AS n)
         || (SELECT string_agg(substr(all_of_them, 1 + (get_byte(random, n) & 31), 1), '' ORDER BY n)
               FROM generate_series(0, 15) AS n)
    FROM digits
$$;
GRANT EXECUTE ON FUNCTION new_refund_id TO gateway_worker;

ALTER TABLE payment_refunds
  ADD COLUMN id text,
  ADD COLUMN account_id text,
  ADD COLUMN mode text,
  ADD COLUMN currency text,
  -- Who asked for it. A refund of the provider's own was asked for by nobody here.
  ADD COLUMN requested_by text,
  -- The operator's name.
  ADD COLUMN operator text,
  -- The id of the key, or of the user of the dashboard, with which the merchant asked.
  ADD COLUMN api_key_id text,
  ADD COLUMN merchant_reference text,
  ADD COLUMN reason text,
  -- Where the merchant wants the money to go; null: the provider decides.
  ADD COLUMN destination jsonb,
  -- Why it failed.
  ADD COLUMN refusal text,
  -- Counts the events.
  ADD COLUMN sequence integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_at timestamptz,
  -- When the provider confirmed or refused it.
  ADD COLUMN ended_at timestamptz;
ALTER TABLE payment_refunds ADD CONSTRAINT payment_refunds_requested_by_check
  CHECK (requested_by IN ('merchant', 'operator', 'provider')) NOT VALID;

CREATE FUNCTION complete_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT p.account_id, p.mode, p.currency INTO NEW.account_id, NEW.mode, NEW.currency
    FROM payments p WHERE p.id = NEW.payment_id;
  NEW.id := coalesce(NEW.id, new_refund_id(NEW.created_at));
  NEW.requested_by := coalesce(NEW.requested_by,
    CASE NEW.state WHEN 'ordered' THEN 'operator' ELSE 'provider' END);
  NEW.updated_at := coalesce(NEW.updated_at, NEW.created_at);
  RETURN NEW;
END $$;
CREATE TRIGGER complete_refund BEFORE INSERT ON payment_refunds
  FOR EACH ROW EXECUTE FUNCTION complete_refund();

-- Whose decision it is: an operator's, or a merchant's request to cancel.
ALTER TABLE payment_decisions ADD COLUMN requested_by text NOT NULL DEFAULT 'operator';
ALTER TABLE payment_decisions ADD CONSTRAINT payment_decisions_requested_by_check
  CHECK (requested_by IN ('merchant', 'operator')) NOT VALID;

CREATE POLICY all_rows ON payment_refunds
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard USING (true);
CREATE POLICY own_rows ON payment_refunds FOR SELECT TO gateway_merchant
  USING (account_id = current_setting('app.account_id', true));
ALTER TABLE payment_refunds ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payment_refunds TO gateway_merchant;
`;

/**
 * The refunds that were there before; they are few. The references that end with a number are the
 * gateway's own.
 */
const FILL = `DO $$
BEGIN
  UPDATE payment_refunds r
     SET id = new_refund_id(r.created_at), account_id = p.account_id, mode = p.mode,
         currency = p.currency, updated_at = r.created_at,
         requested_by = CASE WHEN r.reference LIKE r.payment_id || '-%' THEN 'operator'
                             ELSE 'provider' END,
         operator = d.decided_by, reason = d.reason, refusal = d.refusal,
         sequence = CASE WHEN r.state <> 'ordered' AND r.reference LIKE r.payment_id || '-%' THEN 2
                         ELSE 1 END,
         ended_at = CASE WHEN r.state = 'ordered' THEN NULL ELSE coalesce(d.ended_at, r.created_at) END
    FROM payments p
    LEFT JOIN payment_decisions d ON d.payment_id = p.id AND d.kind = 'refund'
   WHERE p.id = r.payment_id AND r.id IS NULL
     AND (d.number IS NULL OR r.reference = p.id || '-' || d.number);
  UPDATE payment_refunds r
     SET id = new_refund_id(r.created_at), account_id = p.account_id, mode = p.mode,
         currency = p.currency, requested_by = 'provider', updated_at = r.created_at,
         ended_at = r.created_at
    FROM payments p WHERE p.id = r.payment_id AND r.id IS NULL;
END $$`;

const COMPLETE = `id IS NOT NULL AND account_id IS NOT NULL AND mode IS NOT NULL
  AND currency IS NOT NULL AND requested_by IS NOT NULL AND updated_at IS NOT NULL`;

export const steps = [
  FILL,
  'ALTER TABLE payment_refunds VALIDATE CONSTRAINT payment_refunds_requested_by_check',
  'ALTER TABLE payment_decisions VALIDATE CONSTRAINT payment_decisions_requested_by_check',
  `DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'payment_refunds_complete') THEN
    ALTER TABLE payment_refunds ADD CONSTRAINT payment_refunds_complete CHECK (${COMPLETE}) NOT VALID;
  END IF;
END $$`,
  'ALTER TABLE payment_refunds VALIDATE CONSTRAINT payment_refunds_complete',
  `CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payment_refunds_ids ON payment_refunds (id)`,
  `CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payment_refunds_references
     ON payment_refunds (account_id, mode, merchant_reference)`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_refunds_newest
     ON payment_refunds (account_id, mode, created_at DESC, id DESC)`,
  // Payments that need a workflow for a refund.
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_refunds_open ON payment_refunds (payment_id)
     WHERE state IN ('ordered', 'owed')`,
  'DROP INDEX CONCURRENTLY IF EXISTS payment_refunds_owed',
];
