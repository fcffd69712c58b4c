/**
 * Row-level security by account, for what the merchant's pages read: a statement that forgets its account
 * returns no row of another one. src/db/as-account.ts takes the role and names the account.
 */
const ACCOUNT = `current_setting('app.account_id', true)`;
const OWN = `account_id = ${ACCOUNT}`;
const OF_PAYOUT = `(SELECT p.account_id FROM payouts p WHERE p.id = payout_id) = ${ACCOUNT}`;

interface Rows {
  table: string;
  /** SQL: whether a row belongs to the account. */
  rule: string;
  /** The columns that the role reads; all by default. */
  columns?: string;
  /** The roles that have all rows; all programs by default. */
  programs?: string;
}

const PROGRAMS = 'gateway_api, gateway_worker, gateway_admin, gateway_dashboard';
/** For tables whose rows the API does not change as it likes. */
const WITHOUT_API = 'gateway_worker, gateway_admin, gateway_dashboard';

/**
 * A row without an account belongs to that of another row, of which the role sees its own. These are subqueries
 * with one value: PostgreSQL would build a hash of all rows of the account for an EXISTS.
 */
const ROWS: readonly Rows[] = [
  {
    table: 'api_keys',
    rule: OWN,
    columns: `id, account_id, mode, name, display_prefix, last_four, scopes, allowlist,
      requests_per_minute, expires_at, revoked_at, created_at, last_used_at, last_used_address,
      recipients_only, payout_currencies, payout_limits, created_by_key, made_by, made_at`,
    programs: WITHOUT_API,
  },
  { table: 'audit_log', rule: OWN },
  { table: 'balances', rule: OWN },
  { table: 'events', rule: OWN, programs: WITHOUT_API },
  { table: 'ledger_transactions', rule: OWN },
  {
    table: 'ledger_entries',
    rule: `(SELECT t.account_id FROM ledger_transactions t WHERE t.id = transaction_id) = ${ACCOUNT}`,
  },
  { table: 'payments', rule: OWN },
  { table: 'payment_refunds', rule: OWN },
  { table: 'payout_beneficiaries', rule: OF_PAYOUT },
  { table: 'payout_conditions', rule: OF_PAYOUT },
  {
    table: 'payout_pauses',
    rule: `scope = 'global' OR (scope = 'account' AND target = ${ACCOUNT})`,
  },
  { table: 'payouts', rule: OWN },
  { table: 'payout_batches', rule: OWN },
  { table: 'payout_schedules', rule: OWN },
  {
    table: 'payout_schedule_runs',
    rule: `(SELECT s.account_id FROM payout_schedules s WHERE s.id = schedule_id) = ${ACCOUNT}`,
  },
  { table: 'posting_sums', rule: OWN },
  { table: 'recipients', rule: OWN },
  { table: 'request_log', rule: OWN },
  {
    table: 'webhook_endpoints',
    rule: OWN,
    columns: `id, account_id, mode, url, description, events, enabled, timeouts_in_a_row,
      created_at, updated_at, deleted_at, signature`,
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

/** The API writes events of recipients and of its tests alone, and keys that a key makes or manages. */
const API = /* sql */ `
CREATE POLICY read_by_api ON events FOR SELECT TO gateway_api USING (true);
CREATE POLICY recipients_of_api ON events FOR INSERT TO gateway_api
  WITH CHECK (type LIKE 'recipient.%' OR type = 'webhook.ping');
CREATE POLICY read_by_api ON api_keys FOR SELECT TO gateway_api USING (true);
CREATE POLICY made_by_api ON api_keys FOR INSERT TO gateway_api
  WITH CHECK (created_by_key IS NOT NULL);
CREATE POLICY changed_by_api ON api_keys FOR UPDATE TO gateway_api
  USING (created_by_key IS NOT NULL OR 'api_keys:write' = ANY (scopes));
`;

/** The programs see all rows: their own conditions, and the rights of their roles, are not changed. */
export const accountRows =
  ROWS.map(
    ({ table, rule, columns, programs = PROGRAMS }) => /* sql */ `
CREATE POLICY all_rows ON ${table} TO ${programs} USING (true);
CREATE POLICY own_rows ON ${table} FOR SELECT TO gateway_merchant USING (${rule});
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
GRANT SELECT${columns === undefined ? '' : ` (${columns})`} ON ${table} TO gateway_merchant;
`,
  ).join('') + API;
