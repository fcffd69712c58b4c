/** Nonces that an operator frees: an empty transaction takes the place of the transfer's. */
export const FREED_NONCES = `
ALTER TABLE wallet.slot ADD COLUMN freed_at timestamptz(3);
-- Nothing to the signer itself. Final, it lets the slot's transfer have another nonce.
ALTER TABLE wallet.attempt ADD COLUMN is_empty boolean NOT NULL DEFAULT false;

ALTER TABLE wallet.decision
  DROP CONSTRAINT decision_kind_check,
  ADD CONSTRAINT decision_kind_check CHECK (CASE
    WHEN kind IN ('pause', 'resume')
      THEN chain_id IS NOT NULL AND stops IS NOT NULL AND address IS NULL
    WHEN kind IN ('resume_signer', 'free_nonce')
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NOT NULL
    WHEN kind IN ('deny', 'allow')
      THEN chain_id IS NULL AND stops IS NULL AND address IS NOT NULL
    WHEN kind IN ('fail_transfer', 'confirm_transfer')
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NULL
        AND transfer_id IS NOT NULL AND reason IS NOT NULL
    ELSE false END);
`;
