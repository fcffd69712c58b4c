/** Sweeps: what moves the deposits from their addresses to the treasury. */
export const SWEEPS = /* sql */ `
CREATE TABLE wallet.sweep (
  -- Made from chain, asset, destination, addresses and their nonces: the same order is the same sweep.
  id text PRIMARY KEY,
  chain_id bigint NOT NULL,
  asset text NOT NULL,
  destination text NOT NULL CHECK (destination ~ '^0x[0-9a-f]{40}$'),
  cost_wei numeric(78,0) NOT NULL,
  funding_wei numeric(78,0) NOT NULL,
  -- What went wrong; a sweep that failed can be ordered again.
  failure text,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz(3)
);
CREATE INDEX sweep_open ON wallet.sweep (chain_id) WHERE ended_at IS NULL;

CREATE TABLE wallet.sweep_transaction (
  sweep_id text NOT NULL REFERENCES wallet.sweep,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  nonce bigint NOT NULL,
  amount numeric(38,8) NOT NULL,
  -- Signed when the sweep was ordered: the key of the deposits is not in the wallet.
  raw text NOT NULL,
  -- Coins that the hot wallet sends first, under a reference that is fixed with the plan.
  funding_amount numeric(38,8),
  funding_reference text,
  is_moved boolean,
  -- Why a node refuses the transaction; the others go on.
  refusal text,
  PRIMARY KEY (sweep_id, address),
  CHECK ((funding_amount IS NULL) = (funding_reference IS NULL))
);

GRANT SELECT, INSERT, UPDATE ON wallet.sweep, wallet.sweep_transaction TO wallet_app;
`;
