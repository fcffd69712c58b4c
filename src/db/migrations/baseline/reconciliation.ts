/** A copy of the providers’ statements to compare with ours, and the cases for an operator. */
export const reconciliation = /* sql */ `
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
GRANT SELECT ON provider_statements TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON provider_statements TO gateway_worker;

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
GRANT SELECT ON provider_entries TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON provider_entries TO gateway_worker;

-- What each provider should hold by its own statement, as the reconciliation last counted it.
CREATE TABLE provider_positions (
  provider text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  currency text NOT NULL,
  received numeric(38,8) NOT NULL,
  refunded numeric(38,8) NOT NULL,
  sent numeric(38,8) NOT NULL,
  counted_at timestamptz NOT NULL,
  PRIMARY KEY (provider, mode, currency)
);
GRANT SELECT ON provider_positions TO gateway_worker, gateway_dashboard;
GRANT INSERT, UPDATE, DELETE ON provider_positions TO gateway_worker;

-- What all merchants together own, counted at the same moment.
CREATE TABLE merchant_positions (
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  currency text NOT NULL,
  available numeric(38,8) NOT NULL,
  reserved numeric(38,8) NOT NULL,
  counted_at timestamptz NOT NULL,
  PRIMARY KEY (mode, currency)
);
GRANT SELECT ON merchant_positions TO gateway_worker, gateway_dashboard;
GRANT INSERT, UPDATE, DELETE ON merchant_positions TO gateway_worker;

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
CREATE INDEX cases_newest ON cases (created_at, id);
CREATE INDEX cases_open_newest ON cases (created_at, id) WHERE resolved_at IS NULL;
CREATE INDEX cases_of_kind ON cases (kind, created_at, id);
GRANT SELECT ON cases TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON cases TO gateway_api, gateway_worker, gateway_admin;
-- A callback can add a fact to an open case.
GRANT UPDATE (details) ON cases TO gateway_api;
GRANT UPDATE ON cases TO gateway_worker, gateway_admin, gateway_dashboard;

-- A case collects facts, and a decision covers the facts that its operator saw and no other. The facts
-- of a case in the order in which they came: its transfers or refunds, otherwise its first
-- details and those that came later. None is changed or removed, so their number is their version.
CREATE FUNCTION case_facts(details jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN jsonb_typeof(details->'transfers') = 'array' THEN details->'transfers'
    WHEN jsonb_typeof(details->'refunds') = 'array' THEN details->'refunds'
    ELSE jsonb_build_array(details - 'later') || coalesce(details->'later', '[]')
  END
$$;
GRANT EXECUTE ON FUNCTION case_facts TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- The facts of one that the other does not contain. A fact that says more contains one that says less.
CREATE FUNCTION case_facts_missing(known jsonb, found jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(jsonb_agg(fact ORDER BY place), '[]')
    FROM jsonb_array_elements(case_facts(found)) WITH ORDINALITY AS facts (fact, place)
   WHERE NOT case_facts(known) @> jsonb_build_array(fact)
$$;
GRANT EXECUTE ON FUNCTION case_facts_missing TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

CREATE FUNCTION case_with_facts(known jsonb, found jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN jsonb_typeof(known->'transfers') = 'array'
      THEN jsonb_set(known, '{transfers}', case_facts(known) || case_facts_missing(known, found))
    WHEN jsonb_typeof(known->'refunds') = 'array'
      THEN jsonb_set(known, '{refunds}', case_facts(known) || case_facts_missing(known, found))
    ELSE known || jsonb_build_object('later',
      coalesce(known->'later', '[]') || case_facts_missing(known, found))
  END
$$;
GRANT EXECUTE ON FUNCTION case_with_facts TO gateway_api, gateway_worker, gateway_admin;
`;
