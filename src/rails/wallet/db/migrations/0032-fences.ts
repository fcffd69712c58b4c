/**
 * A database with another identity pays with a hot wallet only after the chain has taken a transaction that names
 * the identity. Alarms have no workflows any more.
 */
export const FENCES = `
ALTER TABLE wallet.signer
  -- The identity of the database whose fence is final; null: the database has no identity.
  ADD COLUMN fenced_identity text,
  -- The nonce of the fence that was sent for another identity, and since when it is final.
  ADD COLUMN fence_nonce bigint,
  ADD COLUMN fence_final_at timestamptz(3);
UPDATE wallet.signer SET fenced_identity = (SELECT identity FROM wallet.database_identity);
ALTER TABLE wallet.alarm DROP COLUMN workflow;
`;
