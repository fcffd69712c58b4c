/**
 * A hot wallet that has used nonces without the record stops the whole chain. `wallet restore` uses every nonce
 * that a lost database may have signed, with empty transactions that belong to no transfer.
 */
export const RESTORE = `
ALTER TABLE wallet.signer DROP CONSTRAINT signer_stop, DROP COLUMN stopped_for, DROP COLUMN has_unseen_nonces,
  -- The stop ends when every nonce below this one is final and explained. Null: when an operator restores.
  ADD COLUMN explain_to bigint,
  -- An operator has begun it: only empty transactions are signed and broadcast.
  ADD COLUMN is_restoring boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT signer_stop CHECK (stopped_reason IS NOT NULL OR (explain_to IS NULL AND NOT is_restoring)),
  ADD CONSTRAINT signer_restoring CHECK (explain_to IS NOT NULL OR NOT is_restoring);
ALTER TABLE wallet.slot ALTER COLUMN transfer_id DROP NOT NULL,
  ADD CONSTRAINT slot_of_no_transfer CHECK (transfer_id IS NOT NULL OR freed_at IS NOT NULL OR state = 'foreign');
`;
