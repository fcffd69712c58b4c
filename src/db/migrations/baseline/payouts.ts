/** Payouts, batches of payouts, and what operators decided about them. */
export const payouts = /* sql */ `
-- Many payouts that are reserved, approved and accounted for together.
CREATE TABLE payout_batches (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  reference text NOT NULL,
  status text NOT NULL CHECK (status IN ('requested', 'under_review', 'processing', 'completed',
    'partially_completed', 'stopped', 'rejected')),
  description text,
  row_count integer NOT NULL CHECK (row_count > 0),
  -- For each currency: the number of rows, their amounts and fees.
  totals jsonb NOT NULL,
  -- Of the rows in canonical form. An approval names it.
  manifest_sha256 text NOT NULL CHECK (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  api_key_id text NOT NULL,
  review_reasons text[] NOT NULL,
  approved_by text,
  approved_at timestamptz,
  -- Somebody stopped or rejected the batch: rows that were not released are returned. The status
  -- changes when the last row has ended.
  ending text CHECK (ending IN ('stop', 'reject')),
  ended_by text,
  ending_reason text,
  ending_at timestamptz,
  -- The number of rows in each state, when the last one had ended.
  closed_at timestamptz,
  closed_progress jsonb,
  sequence integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  workflow_checked_at timestamptz NOT NULL DEFAULT now(),
  -- The numbers of the rows that are no longer part of the manifest. Their funds were returned.
  left_out_rows integer[] NOT NULL DEFAULT '{}',
  -- The person who made it, when another one has to approve it; null: nobody has to.
  second_person text,
  -- Until then; afterwards the funds are returned.
  second_person_until timestamptz,
  CHECK ((ending IS NULL) = (ending_at IS NULL)),
  CHECK ((status IN ('completed', 'partially_completed', 'stopped', 'rejected')) = (closed_at IS NOT NULL)),
  UNIQUE (account_id, mode, reference)
) WITH (fillfactor = 70);
CREATE INDEX payout_batches_newest ON payout_batches (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payout_batches_open ON payout_batches (workflow_checked_at) WHERE closed_at IS NULL;
CREATE INDEX payout_batches_of_reference_start ON payout_batches (reference text_pattern_ops);
GRANT SELECT ON payout_batches TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON payout_batches TO gateway_worker;

-- Approvals of batches that need two operators.
CREATE TABLE payout_batch_decisions (
  id text PRIMARY KEY,
  batch_id text NOT NULL REFERENCES payout_batches,
  kind text NOT NULL,
  manifest_sha256 text NOT NULL,
  user_id text NOT NULL REFERENCES users,
  email text NOT NULL,
  reason text,
  outcome text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at timestamptz,
  -- The rows that the operator leaves out.
  row_numbers integer[],
  CONSTRAINT payout_batch_decisions_kind_check
    CHECK (kind IN ('approve', 'reject', 'stop', 'leave_out'))
);
CREATE INDEX payout_batch_decisions_of_batch ON payout_batch_decisions (batch_id, created_at);
GRANT SELECT ON payout_batch_decisions TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payout_batch_decisions TO gateway_dashboard;
GRANT UPDATE (outcome, decided_at) ON payout_batch_decisions TO gateway_worker;

CREATE TABLE payouts (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  reference text NOT NULL,
  status text NOT NULL CHECK (status IN ('requested', 'under_review', 'approved', 'processing',
    'completed', 'rejected', 'failed', 'cancelled')),
  -- For indexes: as long as a payout is open, a status change touches none of them (a HOT update).
  status_group text NOT NULL GENERATED ALWAYS AS (
    CASE WHEN status IN ('requested', 'under_review', 'approved', 'processing') THEN 'open'
         ELSE status END) STORED,
  provider text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  network text,
  destination_type text NOT NULL,
  destination_value text NOT NULL,
  destination_memo text,
  service_fee numeric(38,8) NOT NULL CHECK (service_fee >= 0),
  network_fee numeric(38,8) NOT NULL CHECK (network_fee >= 0),
  total_debit numeric(38,8) NOT NULL CHECK (total_debit = amount + service_fee + network_fee),
  fee_terms jsonb NOT NULL,
  description text,
  metadata jsonb NOT NULL DEFAULT '{}',
  api_key_id text NOT NULL,
  review_reasons text[] NOT NULL,
  decided_by text,
  tx_hash text,
  failure_reason text,
  rejection_reason text,
  provider_transfer_id text,
  -- Set before the order leaves: from then on only the provider's word can end the payout.
  submission_started_at timestamptz,
  -- Set while it is not known whether the provider holds the order.
  in_doubt_since timestamptz,
  processing_since timestamptz,
  attention_level smallint NOT NULL DEFAULT 0,
  -- Set while a pause holds the submission back: its workflow is not woken before this time.
  wake_after timestamptz,
  -- When it was last checked that this payout has a workflow.
  workflow_checked_at timestamptz NOT NULL DEFAULT now(),
  -- Counts the status changes; carried by the events.
  sequence integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  batch_id text REFERENCES payout_batches,
  -- Counts from 1.
  batch_row integer,
  -- The batch has not released it: nothing but the batch may change it.
  awaits_batch boolean NOT NULL DEFAULT false,
  recipient_id text REFERENCES recipients,
  -- Null: it has no conditions. True: it waits for some of them, or for its review. False: it waited,
  -- and was released or has ended.
  awaits_release boolean,
  -- When a payout that was not released by then is cancelled.
  release_expires_at timestamptz,
  released_at timestamptz,
  release_expired_at timestamptz,
  -- The hash by which the API knew the request again: the record of the idempotency key is deleted after a day.
  request_sha256 bytea,
  UNIQUE (account_id, mode, reference),
  -- Nothing is submitted that still waits, whatever a program does.
  CONSTRAINT payouts_wait_before_approval
    CHECK (awaits_release IS NOT TRUE OR status IN ('requested', 'under_review'))
) WITH (fillfactor = 70);
CREATE INDEX payouts_newest ON payouts (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payouts_window ON payouts (account_id, mode, currency, created_at);
CREATE INDEX payouts_of_batch ON payouts (batch_id, batch_row) WHERE batch_id IS NOT NULL;
CREATE INDEX payouts_open ON payouts (workflow_checked_at) WHERE status_group = 'open';
-- Held by a pause.
CREATE INDEX payouts_held ON payouts (wake_after) WHERE wake_after IS NOT NULL;
-- A value that no row of the account has is found not to be there, instead of looking for it in all
-- of them (decisions/api#lists). The reference has an index of its own already, and so have the times.
CREATE INDEX payouts_by_status ON payouts (account_id, mode, status_group, created_at DESC, id DESC);
CREATE INDEX payouts_by_provider ON payouts (account_id, mode, provider, created_at DESC, id DESC);
-- For the console's queues, and to find who else pays a destination. The predicates use columns that do
-- not change while a payout is open, so that its status changes touch no index.
CREATE INDEX payouts_reviewed ON payouts (created_at, id)
  WHERE status_group = 'open' AND review_reasons <> '{}';
CREATE INDEX payouts_in_doubt ON payouts (in_doubt_since, id) WHERE in_doubt_since IS NOT NULL;
CREATE INDEX payouts_of_destination ON payouts (destination_value, account_id, mode);
-- For the console's list of all accounts. Only its query has the condition id > '': without it,
-- PostgreSQL would read these indexes for an account's list too. None has a column that changes while a
-- payout is open, but for the one of payouts that wait too long.
CREATE INDEX payouts_of_all ON payouts (mode, status_group, created_at, id) WHERE id > '';
CREATE INDEX payouts_of_currency ON payouts (mode, currency, status_group, created_at, id) WHERE id > '';
CREATE INDEX payouts_of_address ON payouts (destination_value, created_at, id) WHERE id > '';
CREATE INDEX payouts_of_hash ON payouts (tx_hash) WHERE tx_hash IS NOT NULL;
CREATE INDEX payouts_escalated ON payouts (created_at, id) WHERE attention_level > 0;
-- What a big account has of each: without this PostgreSQL takes for common there what is common
-- among all, and looks through the account's rows when several filters together match none.
CREATE STATISTICS payouts_filters (mcv)
  ON account_id, mode, status, status_group, provider, currency FROM payouts;
CREATE INDEX payouts_of_recipient
  ON payouts (recipient_id, created_at DESC, id DESC) WHERE recipient_id IS NOT NULL;
CREATE INDEX payouts_awaiting_release ON payouts (id) WHERE awaits_release;
CREATE INDEX payouts_of_reference_start ON payouts (reference text_pattern_ops) WHERE id > '';
GRANT SELECT ON payouts TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON payouts TO gateway_worker;
CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE OF
  id, account_id, mode, currency, reference, status, sequence, total_debit, api_key_id ON payouts
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('id');

-- The console inserts what a signed-in operator decided; the payout's workflow applies it. The name
-- in a signal is only claimed, the user here has signed in.
CREATE TABLE payout_decisions (
  id text PRIMARY KEY,
  payout_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('approve', 'reject')),
  user_id text NOT NULL REFERENCES users,
  -- At the time of the decision.
  email text NOT NULL,
  reason text,
  -- Null until the workflow has taken it.
  outcome text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at timestamptz,
  CHECK ((outcome IS NULL) = (decided_at IS NULL)),
  CONSTRAINT payout_decisions_outcome_check
    CHECK (outcome IN ('applied', 'counted', 'already_decided', 'too_late', 'same_operator', 'key_creator',
    'related_operator', 'not_allowed', 'blocked', 'expired'))
);
CREATE INDEX payout_decisions_by_payout ON payout_decisions (payout_id, created_at);
-- Two approvals are two operators, whatever the programs do.
CREATE UNIQUE INDEX payout_decisions_one_each ON payout_decisions (payout_id, user_id)
  WHERE outcome = 'counted';
GRANT SELECT ON payout_decisions TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payout_decisions TO gateway_dashboard;
-- The worker cannot change who decided what.
GRANT UPDATE (outcome, decided_at) ON payout_decisions TO gateway_worker;

-- One row for each level that a payout reached while it waited for its provider; level 0: it became in
-- doubt. The columns of the payout are reset when the wait ends, and these rows stay.
CREATE TABLE payout_escalations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payout_id text NOT NULL,
  -- The payout's at that time.
  status text NOT NULL,
  level smallint NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX payout_escalations_by_payout ON payout_escalations (payout_id, id);
GRANT SELECT ON payout_escalations TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

CREATE FUNCTION note_payout_escalation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO payout_escalations (payout_id, status, level)
    VALUES (NEW.id, NEW.status, NEW.attention_level);
  RETURN NULL;
END $$;
CREATE TRIGGER note_escalation AFTER UPDATE OF attention_level, in_doubt_since ON payouts
  FOR EACH ROW
  WHEN (NEW.attention_level > OLD.attention_level
        OR (OLD.in_doubt_since IS NULL AND NEW.in_doubt_since IS NOT NULL))
  EXECUTE FUNCTION note_payout_escalation();
`;
