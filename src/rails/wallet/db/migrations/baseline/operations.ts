/** What operators decide and see, pauses and alarms, and the callbacks to the gateway. */
export const OPERATIONS = /* sql */ `
-- The kill switch: one row for each chain that is stopped. payouts: nothing is signed or broadcast.
-- chain: blocks are not read either.
CREATE TABLE wallet.pause (
  chain_id bigint NOT NULL,
  reason text NOT NULL,
  paused_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  stops text NOT NULL DEFAULT 'payouts' CHECK (stops IN ('payouts', 'chain')),
  paused_by text NOT NULL DEFAULT 'not named',
  PRIMARY KEY (chain_id, stops)
);

CREATE TABLE wallet.denied_address (
  address text PRIMARY KEY CHECK (address ~ '^0x[0-9a-f]{40}$'),
  reason text NOT NULL,
  denied_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- Every decision of an operator: the row of a pause is deleted when it ends.
CREATE TABLE wallet.decision (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: it holds for every chain.
  chain_id bigint,
  -- As in wallet.pause; null: not about a chain or its payouts as a whole.
  stops text CHECK (stops IN ('payouts', 'chain')),
  kind text NOT NULL,
  decided_by text NOT NULL,
  -- Null for a resume.
  reason text,
  decided_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- The hot wallet, or the address that is denied or allowed on every chain.
  address text CHECK (address ~ '^0x[0-9a-f]{40}$'),
  transfer_id text REFERENCES wallet.transfer (id),
  -- What a rescan reads: blocks, or a transaction.
  subject text,
  CONSTRAINT decision_kind_check CHECK (CASE
    -- About the chain, its payouts, or one hot wallet.
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
    -- The address that a rejected payment goes back to. The subject is the checkout.
    WHEN kind = 'refund_address'
      THEN chain_id IS NOT NULL AND stops IS NULL AND address IS NOT NULL
        AND subject IS NOT NULL AND reason IS NOT NULL
    ELSE false END)
);
CREATE INDEX decision_newest ON wallet.decision (chain_id, stops, id DESC);
-- The wallet's login can neither change nor delete what was decided.
GRANT SELECT, INSERT ON wallet.decision TO wallet_app;

CREATE TABLE wallet.alarm (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  chain_id bigint NOT NULL,
  kind text NOT NULL,
  -- What it is about: an asset, a transfer, a signer.
  subject text NOT NULL,
  detail text NOT NULL,
  raised_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  cleared_at timestamptz(3),
  acknowledged_by text,
  acknowledged_at timestamptz(3),
  -- Who ended it and why; null: it ended by itself.
  resolved_by text,
  resolution text,
  -- For the alarms that a person ends: none yet, open, or told of the end.
  workflow text NOT NULL DEFAULT 'none' CHECK (workflow IN ('none', 'open', 'closed'))
);
CREATE UNIQUE INDEX alarm_open ON wallet.alarm (chain_id, kind, subject) WHERE cleared_at IS NULL;
CREATE INDEX alarm_workflow ON wallet.alarm (chain_id) WHERE workflow <> 'closed';

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

-- Which database the wallet worked on last: a restored one is another.
CREATE TABLE wallet.database_identity (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  identity text NOT NULL
);

GRANT SELECT, INSERT, UPDATE ON wallet.alarm, wallet.callback, wallet.database_identity TO wallet_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.pause, wallet.denied_address TO wallet_app;
`;
