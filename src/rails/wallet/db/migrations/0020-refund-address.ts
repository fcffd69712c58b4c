/** An operator names the address that a rejected payment goes back to; the page takes none from a visitor. */
export const REFUND_ADDRESS = `
ALTER TABLE wallet.decision DROP CONSTRAINT decision_kind_check;
ALTER TABLE wallet.decision ADD CONSTRAINT decision_kind_check CHECK (CASE
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
    -- The subject is the checkout.
    WHEN kind = 'refund_address'
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NOT NULL
        AND subject IS NOT NULL AND reason IS NOT NULL
    ELSE false END);
`;
