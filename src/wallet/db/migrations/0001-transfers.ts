/**
 * Payouts. A transfer is an order of the gateway. A slot is one nonce of one signer and belongs to
 * its transfer for ever; the attempts of a slot are the signed transactions with that nonce, of which
 * the chain accepts at most one. Amounts are in the token's smallest unit, except `amount`.
 */
export const TRANSFERS = `
CREATE TABLE wallet.signer (
  chain_id bigint NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  next_nonce bigint NOT NULL CHECK (next_nonce >= 0),
  -- A signer that is stopped gets no new slots, until an operator has looked.
  stopped_reason text,
  PRIMARY KEY (chain_id, address)
);

CREATE TABLE wallet.transfer (
  id text PRIMARY KEY,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  client_reference text NOT NULL,
  asset text NOT NULL,
  network text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  destination text NOT NULL,
  memo text,
  -- Null only in a refused order, which no chain ever sees.
  chain_id bigint,
  units numeric(78,0) CHECK (units > 0),
  -- queued: has no slot. sending: has one; the chain decides.
  status text NOT NULL CHECK (status IN ('queued', 'sending', 'confirmed', 'failed', 'refused')),
  failure_code text CHECK ((failure_code IS NULL) = (status IN ('queued', 'sending', 'confirmed'))),
  tx_hash text,
  -- Why a queued transfer waits: the float, a limit, a pause.
  waiting_for text,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (mode, client_reference),
  CHECK (status = 'refused' OR (chain_id IS NOT NULL AND units IS NOT NULL))
);
CREATE INDEX transfer_changes ON wallet.transfer (mode, updated_at, id);
CREATE INDEX transfer_queue ON wallet.transfer (chain_id, asset, created_at, id)
  WHERE status = 'queued';

CREATE TABLE wallet.slot (
  chain_id bigint NOT NULL,
  signer text NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  transfer_id text NOT NULL REFERENCES wallet.transfer (id),
  -- open: not final. sent: final with success. failed: final without effect, the nonce is used.
  -- foreign: somebody else's transaction used the nonce, and the transfer may get another slot.
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'sent', 'failed', 'foreign')),
  -- The transaction apart from its fees.
  asset text NOT NULL,
  units numeric(78,0) NOT NULL,
  recipient text NOT NULL,
  data text NOT NULL,
  value_wei numeric(78,0) NOT NULL,
  gas bigint NOT NULL,
  -- The fees that the next signature takes.
  max_fee_per_gas numeric(78,0) NOT NULL,
  max_priority_fee_per_gas numeric(78,0) NOT NULL,
  -- False until the bytes with these fees are stored.
  is_signed boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, signer, nonce),
  FOREIGN KEY (chain_id, signer) REFERENCES wallet.signer (chain_id, address)
);
-- A transfer has one slot that can move money. This index is what keeps it from being sent twice.
CREATE UNIQUE INDEX slot_transfer ON wallet.slot (transfer_id) WHERE state <> 'foreign';
CREATE INDEX slot_open ON wallet.slot (chain_id, signer, nonce) WHERE state = 'open';
CREATE INDEX slot_spent ON wallet.slot (chain_id, asset, created_at);

CREATE TABLE wallet.attempt (
  hash text PRIMARY KEY CHECK (hash ~ '^0x[0-9a-f]{64}$'),
  chain_id bigint NOT NULL,
  signer text NOT NULL,
  nonce bigint NOT NULL,
  -- The signed transaction, stored before it is broadcast.
  raw text NOT NULL,
  max_fee_per_gas numeric(78,0) NOT NULL,
  max_priority_fee_per_gas numeric(78,0) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- The last time that a node accepted it.
  broadcast_at timestamptz(3),
  FOREIGN KEY (chain_id, signer, nonce) REFERENCES wallet.slot (chain_id, signer, nonce)
);
CREATE INDEX attempt_slot ON wallet.attempt (chain_id, signer, nonce, created_at);

-- The kill switch: one row for each chain where nothing is signed or broadcast.
CREATE TABLE wallet.pause (
  chain_id bigint PRIMARY KEY,
  reason text NOT NULL,
  paused_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE wallet.denied_address (
  address text PRIMARY KEY CHECK (address ~ '^0x[0-9a-f]{40}$'),
  reason text NOT NULL,
  denied_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE wallet.alarm (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id bigint NOT NULL,
  kind text NOT NULL,
  -- What it is about: an asset, a transfer, a signer.
  subject text NOT NULL,
  detail text NOT NULL,
  raised_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  cleared_at timestamptz(3)
);
CREATE UNIQUE INDEX alarm_open ON wallet.alarm (chain_id, kind, subject) WHERE cleared_at IS NULL;

-- Callbacks to the gateway, written with the change that they tell of.
CREATE TABLE wallet.callback (
  id text PRIMARY KEY,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The JSON text; its signature contains the time, so it is made for each attempt.
  body text NOT NULL,
  due_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  attempts integer NOT NULL DEFAULT 0,
  acknowledged_at timestamptz(3)
);
CREATE INDEX callback_due ON wallet.callback (due_at) WHERE acknowledged_at IS NULL;

GRANT SELECT, INSERT, UPDATE ON wallet.signer, wallet.transfer, wallet.slot, wallet.attempt,
  wallet.alarm, wallet.callback TO wallet_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.pause, wallet.denied_address TO wallet_app;
`;
