/** Who had blocks read again, and which. */
export const RESCANS = `
-- What a rescan reads: blocks, or a transaction.
ALTER TABLE wallet.decision ADD COLUMN subject text;

ALTER TABLE wallet.decision
  DROP CONSTRAINT decision_kind_check,
  ADD CONSTRAINT decision_kind_check CHECK (CASE
    -- Of the chain, of its payouts, or of one hot wallet.
    WHEN kind IN ('pause', 'resume')
      THEN chain_id IS NOT NULL AND (stops IS NULL) = (address IS NOT NULL)
    WHEN kind IN ('resume_signer', 'free_nonce')
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NOT NULL
    WHEN kind IN ('deny', 'allow')
      THEN chain_id IS NULL AND stops IS NULL AND address IS NOT NULL
    WHEN kind IN ('fail_transfer', 'confirm_transfer')
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NULL
        AND transfer_id IS NOT NULL AND reason IS NOT NULL
    WHEN kind = 'rescan'
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NULL
        AND subject IS NOT NULL AND reason IS NOT NULL
    ELSE false END);
`;
