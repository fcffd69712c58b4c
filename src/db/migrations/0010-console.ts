/** The operator console: where a change came from, indexes of its lists, and the providers’ positions. */
export const sql = /* sql */ `
-- console, dashboard, admin (the command) or gateway; null in rows that are older than the column.
ALTER TABLE audit_log ADD COLUMN via text;
-- Of a person in a browser.
ALTER TABLE audit_log ADD COLUMN address inet;

-- What each provider should hold by its own statement, as the reconciliation last counted it.
CREATE TABLE provider_positions (
  provider text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  currency text NOT NULL,
  received numeric(38,8) NOT NULL,
  refunded numeric(38,8) NOT NULL,
  sent numeric(38,8) NOT NULL,
  counted_at timestamptz NOT NULL,
  PRIMARY KEY (provider, mode, currency)
);

-- What all merchants together own, counted at the same moment.
CREATE TABLE merchant_positions (
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  currency text NOT NULL,
  available numeric(38,8) NOT NULL,
  reserved numeric(38,8) NOT NULL,
  counted_at timestamptz NOT NULL,
  PRIMARY KEY (mode, currency)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON provider_positions, merchant_positions TO gateway_worker;
GRANT SELECT ON provider_positions, merchant_positions, provider_entries, provider_statements,
  ledger_proof TO gateway_dashboard;
GRANT UPDATE ON cases TO gateway_dashboard;
GRANT INSERT, UPDATE ON fee_rules, payout_policies TO gateway_dashboard;
GRANT INSERT, DELETE ON payout_pauses TO gateway_dashboard;
GRANT EXECUTE ON FUNCTION payout_policy TO gateway_dashboard;
`;

export const indexes = [
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_of_account ON audit_log (account_id, id)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_of_actor ON audit_log (actor, id)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_of_action ON audit_log (action, id)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_of_source ON audit_log (via, id)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_of_object ON audit_log (object_id, id)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS cases_newest ON cases (created_at, id)',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS cases_open_newest ON cases (created_at, id)
     WHERE resolved_at IS NULL`,
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS cases_of_kind ON cases (kind, created_at, id)',
  'CREATE INDEX CONCURRENTLY IF NOT EXISTS accounts_newest ON accounts (created_at, id)',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS accounts_by_name
     ON accounts (lower(name) text_pattern_ops, id)`,
];
