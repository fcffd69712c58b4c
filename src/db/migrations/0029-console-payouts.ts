/** For the console's list of payouts: its indexes, and when a payout was in doubt or waited too long. */
export const sql = /* sql */ `
-- One row for each level that a payout reached while it waited for its provider; level 0: it became in
-- doubt. The columns of the payout are reset when the wait ends, and these rows stay.
CREATE TABLE payout_escalations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payout_id text NOT NULL,
  -- Of the payout at that time.
  status text NOT NULL,
  level smallint NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX payout_escalations_by_payout ON payout_escalations (payout_id, id);

CREATE FUNCTION note_payout_escalation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO payout_escalations (payout_id, status, level)
    VALUES (NEW.id, NEW.status, NEW.attention_level);
  RETURN NULL;
END $$;
CREATE TRIGGER note_escalation AFTER UPDATE OF attention_level, in_doubt_since ON payouts
  FOR EACH ROW
  WHEN (NEW.attention_level > OLD.attention_level
        OR (OLD.in_doubt_since IS NULL AND NEW.in_doubt_since IS NOT NULL))
  EXECUTE FUNCTION note_payout_escalation();

REVOKE ALL ON FUNCTION note_payout_escalation FROM PUBLIC;
GRANT SELECT ON payout_escalations TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
`;

/**
 * Over all accounts. Only the console's query has the condition id > '': without it, PostgreSQL would read
 * these indexes for an account's list too. None has a column that changes while a payout is open, but for
 * the one of payouts that wait too long.
 */
export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_all
     ON payouts (mode, status_group, created_at, id) WHERE id > ''`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_currency
     ON payouts (mode, currency, status_group, created_at, id) WHERE id > ''`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_reference ON payouts (reference)
     WHERE id > ''`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_address
     ON payouts (destination_value, created_at, id) WHERE id > ''`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_hash ON payouts (tx_hash)
     WHERE tx_hash IS NOT NULL`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_escalated ON payouts (created_at, id)
     WHERE attention_level > 0`,
];
