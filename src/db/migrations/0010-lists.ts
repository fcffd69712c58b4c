/**
 * What the lists filter by. Harmless where it has run already: test/db/migrate.test.ts takes the
 * newest migration off the record and runs it again.
 */
export const sql = /* sql */ `
-- A value that no row of the account has is found not to be there, instead of looking for it in all
-- of them (decision W13). The reference has an index of its own already, and so have the times.
CREATE INDEX IF NOT EXISTS payments_by_status
  ON payments (account_id, mode, status, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS payments_by_provider
  ON payments (account_id, mode, provider, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS payments_by_currency
  ON payments (account_id, mode, currency, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS payouts_by_status
  ON payouts (account_id, mode, status, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS payouts_by_provider
  ON payouts (account_id, mode, provider, created_at DESC, id DESC);

-- What a big account has of each: without this PostgreSQL takes for common there what is common
-- among all, and looks through the account's rows when several filters together match none.
CREATE STATISTICS IF NOT EXISTS payments_filters (mcv)
  ON account_id, mode, status, provider, currency FROM payments;
CREATE STATISTICS IF NOT EXISTS payouts_filters (mcv)
  ON account_id, mode, status, provider, currency FROM payouts;
ANALYZE payments, payouts;
`;
