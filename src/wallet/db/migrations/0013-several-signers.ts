/** Several hot wallets for a chain: a pause of one of them, and what one of them hides from all. */
export const SEVERAL_SIGNERS = `
ALTER TABLE wallet.signer
  -- No transfer gets a nonce of this hot wallet; the others go on.
  ADD COLUMN paused_at timestamptz(3),
  ADD COLUMN paused_by text,
  ADD COLUMN paused_reason text,
  -- No node shows a transaction of it: it may have paid any transfer, so no hot wallet sends.
  ADD COLUMN has_unseen_nonces boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT signer_pause CHECK ((paused_at IS NULL) = (paused_by IS NULL)
    AND (paused_at IS NULL) = (paused_reason IS NULL));
UPDATE wallet.signer SET has_unseen_nonces = true WHERE stopped_for = 'found_transactions';
CREATE INDEX found_transaction_open ON wallet.found_transaction (chain_id) WHERE state = 'open';

-- They are raised again, with the hot wallet in their subject.
UPDATE wallet.alarm SET cleared_at = clock_timestamp()
WHERE cleared_at IS NULL AND (kind IN ('float_below_minimum', 'fee_cap_reached', 'broadcast_refused')
  OR (kind = 'gas_money_low' AND subject LIKE 'nonce %'));

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
    ELSE false END);
`;
