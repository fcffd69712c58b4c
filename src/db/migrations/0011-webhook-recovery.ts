/**
 * Recovery and replay find their rows by an index. Harmless where it has run already:
 * test/db/migrate.test.ts takes the newest migration off the record and runs it again.
 */
export const sql = /* sql */ `
-- Of each endpoint what did not succeed, in the order in which recovery goes through it.
CREATE INDEX IF NOT EXISTS webhook_deliveries_unsuccessful ON webhook_deliveries (endpoint_id, id)
  WHERE status IN ('failed', 'skipped', 'abandoned');

-- The events of one account and mode that can still be sent, in the order in which replay goes
-- through them. events_with_body stays: the clean-up looks at those of all accounts by their age.
CREATE INDEX IF NOT EXISTS events_of_account_with_body ON events (account_id, mode, created_at, id)
  WHERE body IS NOT NULL;
`;
