/** Who let a stopped hot wallet send again, and who denied and allowed an address. */
export const NAMED_DECISIONS = `
ALTER TABLE wallet.decision
  ALTER COLUMN chain_id DROP NOT NULL,
  ALTER COLUMN stops DROP NOT NULL,
  -- The hot wallet, or the address that is denied or allowed on every chain.
  ADD COLUMN address text CHECK (address ~ '^0x[0-9a-f]{40}$'),
  DROP CONSTRAINT decision_kind_check,
  ADD CONSTRAINT decision_kind_check CHECK (CASE
    WHEN kind IN ('pause', 'resume')
      THEN chain_id IS NOT NULL AND stops IS NOT NULL AND address IS NULL
    WHEN kind = 'resume_signer'
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NOT NULL
    WHEN kind IN ('deny', 'allow')
      THEN chain_id IS NULL AND stops IS NULL AND address IS NOT NULL
    ELSE false END);
`;
