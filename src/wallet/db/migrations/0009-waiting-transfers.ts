/**
 * Transfers that have to wait: why, since when, and when they are tried again, so that they do not
 * take the place of others. What operators decided about a transfer whose outcome a person must judge.
 */
export const WAITING_TRANSFERS = `
ALTER TABLE wallet.transfer
  -- Whoever is due first is tried first; what a node refused is due again later.
  ADD COLUMN due_at timestamptz(3),
  ADD COLUMN waiting_since timestamptz(3),
  -- A sentence for the operator.
  ADD COLUMN waiting_detail text;
UPDATE wallet.transfer SET due_at = created_at WHERE status IN ('queued', 'sending');
UPDATE wallet.transfer SET waiting_since = updated_at
  WHERE status = 'queued' AND waiting_for IS NOT NULL;
ALTER TABLE wallet.transfer ALTER COLUMN due_at SET DEFAULT clock_timestamp();
CREATE INDEX transfer_due ON wallet.transfer (chain_id, asset, due_at, id) WHERE status = 'queued';
CREATE INDEX transfer_waiting ON wallet.transfer (chain_id, asset, waiting_for, waiting_since)
  WHERE waiting_for IS NOT NULL;
DROP INDEX wallet.transfer_queue;

ALTER TABLE wallet.decision
  ADD COLUMN transfer_id text REFERENCES wallet.transfer (id),
  DROP CONSTRAINT decision_kind_check,
  ADD CONSTRAINT decision_kind_check CHECK (CASE
    WHEN kind IN ('pause', 'resume')
      THEN chain_id IS NOT NULL AND stops IS NOT NULL AND address IS NULL
    WHEN kind = 'resume_signer'
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NOT NULL
    WHEN kind IN ('deny', 'allow')
      THEN chain_id IS NULL AND stops IS NULL AND address IS NOT NULL
    WHEN kind IN ('fail_transfer', 'confirm_transfer')
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NULL
        AND transfer_id IS NOT NULL AND reason IS NOT NULL
    ELSE false END);
`;
