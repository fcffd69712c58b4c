/** Cancellations of a payment are counted like its verifications: each of them asks the provider. */
export const sql = /* sql */ `
ALTER TABLE payment_verifications
  ALTER COLUMN requests SET DEFAULT 0,
  ADD COLUMN cancellations integer NOT NULL DEFAULT 0;
`;
