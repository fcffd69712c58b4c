/**
 * Checkouts, what arrives at their addresses, and the blocks that say so. Amounts on the chain are in
 * the asset's smallest unit; amounts of the protocol have 8 decimals. Addresses are in lower case.
 */
export const DEPOSITS = /* sql */ `
-- Never reused: a number that a failed transaction took is lost.
CREATE SEQUENCE wallet.address_index_test_evm MINVALUE 0 START 0;
CREATE SEQUENCE wallet.address_index_live_evm MINVALUE 0 START 0;

CREATE TABLE wallet.checkout (
  -- The secret part of the hosted page's URL.
  id text PRIMARY KEY,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  client_reference text NOT NULL,
  network text NOT NULL,
  chain_id bigint NOT NULL,
  asset text NOT NULL,
  decimals smallint NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  address_index bigint NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'cancelled', 'failed')),
  is_held boolean NOT NULL DEFAULT false,
  hold_decision text CHECK (hold_decision IN ('released', 'rejected')),
  description text,
  success_url text,
  cancel_url text,
  expires_at timestamptz(3) NOT NULL,
  -- Entered on the hosted page; never the sender of a deposit.
  refund_address text,
  -- Counts the changes that callbacks announce.
  version integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (mode, client_reference),
  UNIQUE (mode, address),
  UNIQUE (mode, address_index)
);
CREATE INDEX checkout_changes ON wallet.checkout (mode, updated_at, id);
CREATE INDEX checkout_created ON wallet.checkout (created_at);

-- Deposits that are too small or too many to be listed one by one, as one entry.
CREATE TABLE wallet.deposit_bundle (
  id text PRIMARY KEY,
  checkout_id text NOT NULL REFERENCES wallet.checkout,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  seen_at timestamptz(3) NOT NULL,
  final_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX deposit_bundle_checkout ON wallet.deposit_bundle (checkout_id);

CREATE TABLE wallet.deposit (
  -- Made from chain, transaction, token, recipient and place in the transaction: the same in every block.
  id text PRIMARY KEY,
  checkout_id text NOT NULL REFERENCES wallet.checkout,
  chain_id bigint NOT NULL,
  asset text NOT NULL,
  units numeric(78,0) NOT NULL CHECK (units > 0),
  -- Rounded down.
  amount numeric(38,8) NOT NULL,
  -- Null: coins that a contract sent, found by the balance.
  tx_hash text,
  sender text,
  block_number bigint NOT NULL,
  -- The block's time, so that an outage of the wallet makes nothing late.
  seen_at timestamptz(3) NOT NULL,
  state text NOT NULL DEFAULT 'detected' CHECK (state IN ('detected', 'final', 'vanished')),
  final_at timestamptz(3),
  screening text NOT NULL DEFAULT 'pending' CHECK (screening IN ('pending', 'clear', 'held')),
  -- It has the checkout's own network and asset; anything else needs an operator.
  is_expected boolean NOT NULL,
  -- Shown as an entry of its own.
  is_listed boolean NOT NULL,
  bundle_id text REFERENCES wallet.deposit_bundle,
  -- Since when a credited deposit is not on the chain. It stays final: money that is credited is a
  -- person's decision.
  missing_since timestamptz(3),
  -- A deposit is confirmed only after a second node has shown it in the same block.
  agreed_at timestamptz(3),
  CHECK ((state = 'final') = (final_at IS NOT NULL)),
  CHECK (bundle_id IS NULL OR (state = 'final' AND is_expected AND NOT is_listed)),
  CONSTRAINT deposit_final_agreed CHECK (state <> 'final' OR agreed_at IS NOT NULL)
);
CREATE INDEX deposit_checkout ON wallet.deposit (checkout_id);
CREATE INDEX deposit_block ON wallet.deposit (chain_id, block_number);
CREATE INDEX deposit_detected ON wallet.deposit (chain_id, block_number) WHERE state = 'detected';
CREATE INDEX deposit_screening ON wallet.deposit (block_number, id) WHERE screening = 'pending';
-- The metrics count these every 15 seconds, among all that were ever seen.
CREATE INDEX deposit_held ON wallet.deposit (chain_id) WHERE screening = 'held';
CREATE INDEX deposit_missing ON wallet.deposit (chain_id) WHERE missing_since IS NOT NULL;
CREATE INDEX deposit_unexpected ON wallet.deposit (chain_id) WHERE NOT is_expected;

-- What left a checkout's address: sweeps, with their network fees in the native coin.
CREATE TABLE wallet.address_spend (
  chain_id bigint NOT NULL,
  tx_hash text NOT NULL,
  address text NOT NULL,
  asset text NOT NULL,
  units numeric(78,0) NOT NULL CHECK (units >= 0),
  fee_units numeric(78,0) NOT NULL CHECK (fee_units >= 0),
  block_number bigint NOT NULL,
  PRIMARY KEY (chain_id, tx_hash, address, asset)
);
CREATE INDEX address_spend_address ON wallet.address_spend (chain_id, address);
CREATE INDEX address_spend_block ON wallet.address_spend (chain_id, block_number);

-- The last known balances of the deposit addresses, so that the sums ask only about those that changed.
CREATE TABLE wallet.address_balance (
  chain_id bigint NOT NULL,
  asset text NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  units numeric(78,0) NOT NULL CHECK (units >= 0),
  -- At this block, which was final.
  block_number bigint NOT NULL,
  asked_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, asset, address)
);

CREATE TABLE wallet.refund (
  id text PRIMARY KEY,
  checkout_id text NOT NULL REFERENCES wallet.checkout,
  refund_reference text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  state text NOT NULL CHECK (state IN ('needs_address', 'sending', 'sent')),
  address text,
  -- The reference of the wallet's own transfer; a new one after a transfer that failed.
  transfer_reference text,
  tx_hash text,
  refunded_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (checkout_id, refund_reference),
  CHECK ((state = 'sent') = (refunded_at IS NOT NULL)),
  CHECK (state = 'needs_address' OR (address IS NOT NULL AND transfer_reference IS NOT NULL))
);
CREATE INDEX refund_open ON wallet.refund (state) WHERE state <> 'sent';

CREATE TABLE wallet.followed_chain (
  chain_id bigint PRIMARY KEY,
  mode text NOT NULL,
  network text NOT NULL,
  -- The newest block that was read; its hash is the arbiter between two processes.
  head_number bigint NOT NULL,
  head_hash text NOT NULL,
  head_at timestamptz(3) NOT NULL,
  safe_number bigint NOT NULL,
  -- Never decreases. A chain with another block here is not followed any more.
  final_number bigint NOT NULL,
  final_hash text NOT NULL,
  -- Up to where coins sent by contracts were looked for.
  balances_number bigint NOT NULL,
  paused_reason text,
  updated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- From the first start until the hot wallets are registered. A database that has followed a chain for longer was
  -- restored; one that begins to follow it may stand in for one that was lost with payouts under way.
  is_new boolean NOT NULL DEFAULT false
);

-- From the newest final block to the head.
CREATE TABLE wallet.block (
  chain_id bigint NOT NULL,
  number bigint NOT NULL,
  hash text NOT NULL,
  parent_hash text NOT NULL,
  mined_at timestamptz(3) NOT NULL,
  PRIMARY KEY (chain_id, number)
);

GRANT USAGE ON SEQUENCE wallet.address_index_test_evm, wallet.address_index_live_evm TO wallet_app;
GRANT SELECT, INSERT, UPDATE ON wallet.checkout, wallet.deposit, wallet.refund,
  wallet.followed_chain TO wallet_app;
GRANT SELECT, INSERT ON wallet.deposit_bundle TO wallet_app;
GRANT SELECT, INSERT, DELETE ON wallet.block, wallet.address_spend TO wallet_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.address_balance TO wallet_app;
`;
