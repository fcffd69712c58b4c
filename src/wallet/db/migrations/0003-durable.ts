/**
 * What the wallet's workflows need: pauses of a whole chain with who and why, alarms that a person
 * ends, and sweeps. The rows decide; workflows are started for them and told of their changes.
 */
export const DURABLE = `
-- payouts: nothing is signed or broadcast. chain: blocks are not read either.
ALTER TABLE wallet.pause
  ADD COLUMN stops text NOT NULL DEFAULT 'payouts' CHECK (stops IN ('payouts', 'chain')),
  ADD COLUMN paused_by text NOT NULL DEFAULT 'not named';
ALTER TABLE wallet.pause DROP CONSTRAINT pause_pkey, ADD PRIMARY KEY (chain_id, stops);

ALTER TABLE wallet.alarm
  ADD COLUMN acknowledged_by text,
  ADD COLUMN acknowledged_at timestamptz(3),
  -- Who ended it and why; null: it ended by itself.
  ADD COLUMN resolved_by text,
  ADD COLUMN resolution text,
  -- Of the alarms that a person ends: none yet, open, or told of the end.
  ADD COLUMN workflow text NOT NULL DEFAULT 'none' CHECK (workflow IN ('none', 'open', 'closed'));
CREATE INDEX alarm_workflow ON wallet.alarm (chain_id) WHERE workflow <> 'closed';

CREATE TABLE wallet.sweep (
  -- Of chain, asset, destination, addresses and their nonces: the same order is the same sweep.
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
  PRIMARY KEY (sweep_id, address),
  CHECK ((funding_amount IS NULL) = (funding_reference IS NULL))
);

GRANT SELECT, INSERT, UPDATE ON wallet.sweep, wallet.sweep_transaction TO wallet_app;
`;
