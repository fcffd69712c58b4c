/** A copy of the providers’ statements to compare with ours, and the cases for an operator. */
export const sql = /* sql */ `
-- One row for each list that a provider keeps of its doings in one mode.
CREATE TABLE provider_statements (
  provider text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  kind text NOT NULL CHECK (kind IN ('payouts', 'payments')),
  -- By the provider's clock: everything that changed there before was read. Null: nothing was.
  changed_until timestamptz,
  -- By ours: when the last reading began that came to the end of the list.
  read_at timestamptz,
  -- Why the last reading did not come to the end; null when it did.
  trouble text,
  PRIMARY KEY (provider, mode, kind)
);

-- What a provider has on record, as it was last read: its transfers of payouts, and the transfers
-- and refunds of its checkouts. Only a copy to compare with: no money moves on its word.
CREATE TABLE provider_entries (
  provider text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  kind text NOT NULL CHECK (kind IN ('payout', 'payin', 'refund')),
  -- Ours: the id of the payout or the payment.
  reference text NOT NULL,
  -- The provider's own; '' when it was asked for the reference and knew nothing of it.
  id text NOT NULL,
  amount numeric(38,8) NOT NULL,
  currency text NOT NULL,
  -- done: sent, confirmed or refunded. void: failed, vanished or not there at all.
  state text NOT NULL CHECK (state IN ('pending', 'done', 'void')),
  -- Held for compliance.
  held boolean NOT NULL,
  -- By the provider's clock.
  changed_at timestamptz NOT NULL,
  -- When the provider was asked: what happened here before that it must know.
  read_at timestamptz NOT NULL,
  PRIMARY KEY (reference, kind, id, provider, mode)
) WITH (fillfactor = 70);

-- What the gateway cannot explain and will not mend by itself: an operator decides.
CREATE TABLE cases (
  id text PRIMARY KEY,
  kind text NOT NULL,
  object_id text NOT NULL,
  details jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  resolution text
);
-- One open case of a kind for each object; what happens again after it was resolved is new.
CREATE UNIQUE INDEX cases_open ON cases (kind, object_id) WHERE resolved_at IS NULL;
-- Whether an operator has resolved the same difference before.
CREATE INDEX cases_by_object ON cases (object_id, kind);

GRANT SELECT, INSERT ON cases TO gateway_api;
GRANT SELECT, INSERT, UPDATE ON provider_statements, provider_entries, cases TO gateway_worker;
GRANT SELECT ON provider_statements, provider_entries TO gateway_admin;
GRANT SELECT, INSERT, UPDATE ON cases TO gateway_admin;
`;
