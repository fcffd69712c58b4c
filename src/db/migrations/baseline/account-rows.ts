/**
 * Row-level security by account, for what the merchant's pages read: a statement that forgets its account
 * returns no row of another one. src/db/as-account.ts takes the role and names the account.
 */
const ACCOUNT = `current_setting('app.account_id', true)`;
const OWN = `account_id = ${ACCOUNT}`;

interface Rows {
  table: string;
  /** SQL: whether a row belongs to the account. */
  rule: string;
  /** The columns that the role reads; all by default. */
  columns?: string;
}

/**
 * A row without an account belongs to that of another row, of which the role sees its own. These are subqueries
 * with one value: PostgreSQL would build a hash of all rows of the account for an EXISTS.
 */
const ROWS: readonly Rows[] = [
  {
    table: 'api_keys',
    rule: OWN,
    columns: `id, account_id, mode, name, display_prefix, last_four, scopes, allowlist,
      requests_per_minute, expires_at, revoked_at, created_at, last_used_at, last_used_address`,
  },
  { table: 'audit_log', rule: OWN },
  { table: 'balances', rule: OWN },
  { table: 'events', rule: OWN },
  { table: 'ledger_transactions', rule: OWN },
  {
    table: 'ledger_entries',
    rule: `(SELECT t.account_id FROM ledger_transactions t WHERE t.id = transaction_id) = ${ACCOUNT}`,
  },
  { table: 'payments', rule: OWN },
  {
    table: 'payout_pauses',
    rule: `scope = 'global' OR (scope = 'account' AND target = ${ACCOUNT})`,
  },
  { table: 'payouts', rule: OWN },
  { table: 'payout_batches', rule: OWN },
  { table: 'posting_sums', rule: OWN },
  { table: 'request_log', rule: OWN },
  {
    table: 'webhook_endpoints',
    rule: OWN,
    columns: `id, account_id, mode, url, description, events, enabled, timeouts_in_a_row,
      created_at, updated_at, deleted_at`,
  },
  {
    table: 'webhook_deliveries',
    rule: `(SELECT p.account_id FROM webhook_endpoints p WHERE p.id = endpoint_id) = ${ACCOUNT}`,
  },
  {
    table: 'webhook_attempts',
    rule: `(SELECT d.id FROM webhook_deliveries d WHERE d.id = delivery_id) IS NOT NULL`,
  },
];

/** The programs see all rows: their own conditions, and the rights of their roles, are not changed. */
export const sql = ROWS.map(
  ({ table, rule, columns }) => /* sql */ `
CREATE POLICY all_rows ON ${table}
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard USING (true);
CREATE POLICY own_rows ON ${table} FOR SELECT TO gateway_merchant USING (${rule});
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
GRANT SELECT${columns === undefined ? '' : ` (${columns})`} ON ${table} TO gateway_merchant;
`,
).join('');
