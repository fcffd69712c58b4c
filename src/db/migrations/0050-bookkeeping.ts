/** How an account keeps its books (domain/bookkeeping). */
export const sql = /* sql */ `
ALTER TABLE accounts
  ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC',
  -- The names of the journal's accounts that differ from the defaults.
  ADD COLUMN journal_accounts jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN tax_rate text NOT NULL DEFAULT 'Tax Exempt';
GRANT UPDATE (time_zone, journal_accounts, tax_rate) ON accounts TO gateway_dashboard;
`;
