/**
 * Payouts. A transfer is an order of the gateway. A slot is one nonce of one signer and belongs to
 * its transfer for ever; the attempts of a slot are the signed transactions with that nonce, of which
 * the chain accepts at most one. Amounts are in the token's smallest unit, except `amount`.
 */
export const TRANSFERS = /* sql */ `
CREATE TABLE wallet.signer (
  chain_id bigint NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  next_nonce bigint NOT NULL CHECK (next_nonce >= 0),
  -- A signer that is stopped gets no new slots, until an operator has looked.
  stopped_reason text,
  -- Null: it is one that sends.
  replaced_at timestamptz,
  -- No transfer gets a nonce of this hot wallet; the others go on.
  paused_at timestamptz(3),
  paused_by text,
  paused_reason text,
  -- A hot wallet that has used nonces without the record stops the whole chain. The stop ends when every nonce
  -- below this one is final and explained. Null: when an operator restores.
  explain_to bigint,
  -- An operator has begun it: only empty transactions, which belong to no transfer, are signed and broadcast.
  is_restoring boolean NOT NULL DEFAULT false,
  PRIMARY KEY (chain_id, address),
  CONSTRAINT signer_stop CHECK (stopped_reason IS NOT NULL OR (explain_to IS NULL AND NOT is_restoring)),
  CONSTRAINT signer_restoring CHECK (explain_to IS NOT NULL OR NOT is_restoring),
  CONSTRAINT signer_pause CHECK ((paused_at IS NULL) = (paused_by IS NULL)
    AND (paused_at IS NULL) = (paused_reason IS NULL))
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
  -- A refund is sent as a transfer, and told of by its checkout. Funding is for the network fee of a sweep.
  purpose text NOT NULL DEFAULT 'payout' CHECK (purpose IN ('payout', 'refund', 'funding')),
  -- Whoever is due first is tried first, so that transfers that have to wait do not take the place of
  -- others; what a node refused is due again later.
  due_at timestamptz(3) DEFAULT clock_timestamp(),
  waiting_since timestamptz(3),
  -- A sentence for the operator.
  waiting_detail text,
  UNIQUE (mode, client_reference),
  CHECK (status = 'refused' OR (chain_id IS NOT NULL AND units IS NOT NULL))
);
CREATE INDEX transfer_changes ON wallet.transfer (mode, updated_at, id);
CREATE INDEX transfer_due ON wallet.transfer (chain_id, asset, due_at, id) WHERE status = 'queued';
CREATE INDEX transfer_waiting ON wallet.transfer (chain_id, asset, waiting_for, waiting_since)
  WHERE waiting_for IS NOT NULL;

CREATE TABLE wallet.slot (
  chain_id bigint NOT NULL,
  signer text NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  -- Null: an empty transaction of a restore.
  transfer_id text REFERENCES wallet.transfer (id),
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
  -- When an operator freed the nonce: an empty transaction takes the place of the transfer's.
  freed_at timestamptz(3),
  -- The block of the receipt that ended the slot. When an operator accepts another chain after a
  -- reorganization below the final block, what is above the fork is followed again.
  settled_block bigint,
  PRIMARY KEY (chain_id, signer, nonce),
  FOREIGN KEY (chain_id, signer) REFERENCES wallet.signer (chain_id, address),
  CONSTRAINT slot_of_no_transfer CHECK (transfer_id IS NOT NULL OR freed_at IS NOT NULL OR state = 'foreign')
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
  -- Nothing to the signer itself. Final, it lets the slot's transfer have another nonce.
  is_empty boolean NOT NULL DEFAULT false,
  FOREIGN KEY (chain_id, signer, nonce) REFERENCES wallet.slot (chain_id, signer, nonce)
);
CREATE INDEX attempt_slot ON wallet.attempt (chain_id, signer, nonce, created_at);

-- Transactions of a hot wallet that the chain or a pool has and the record has not, as after a restore
-- of an older database. No transfer gets a nonce while one of them is open.
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
CREATE INDEX found_transaction_open ON wallet.found_transaction (chain_id) WHERE state = 'open';

GRANT SELECT, INSERT, UPDATE ON wallet.signer, wallet.transfer, wallet.slot, wallet.attempt TO wallet_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.found_transaction TO wallet_app;
`;
