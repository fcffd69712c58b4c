/**
 * Transactions of a hot wallet that the chain or a pool has and the record has not, as after a restore
 * of an older database. No transfer gets a nonce while one of them is open.
 */
export const FOUND_TRANSACTIONS = `
-- Why the signer is stopped; a stop for found transactions ends when each of them is explained.
ALTER TABLE wallet.signer
  ADD COLUMN stopped_for text CHECK (stopped_for IN ('used_nonce', 'found_transactions'));
UPDATE wallet.signer SET stopped_for = 'used_nonce' WHERE stopped_reason IS NOT NULL;
ALTER TABLE wallet.signer
  ADD CONSTRAINT signer_stop CHECK ((stopped_reason IS NULL) = (stopped_for IS NULL));

CREATE TABLE wallet.found_transaction (
  chain_id bigint NOT NULL,
  signer text NOT NULL,
  nonce bigint NOT NULL,
  hash text NOT NULL CHECK (hash ~ '^0x[0-9a-f]{64}$'),
  -- Null: it is not a transfer as the wallet makes them, and fits none.
  asset text,
  recipient text,
  units numeric(78,0),
  gas bigint NOT NULL,
  max_fee_per_gas numeric(78,0) NOT NULL,
  max_priority_fee_per_gas numeric(78,0) NOT NULL,
  raw text,
  -- open: not explained yet. adopted: the attempt of a transfer. foreign: an operator says that it pays none.
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'adopted', 'foreign')),
  transfer_id text REFERENCES wallet.transfer,
  found_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, signer, hash),
  FOREIGN KEY (chain_id, signer) REFERENCES wallet.signer (chain_id, address),
  CHECK ((state = 'adopted') = (transfer_id IS NOT NULL))
);
CREATE UNIQUE INDEX found_transaction_nonce ON wallet.found_transaction (chain_id, signer, nonce);

GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.found_transaction TO wallet_app;
`;
