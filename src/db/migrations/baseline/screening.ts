/** Screening: who is asked about destinations, what they answered, and what operators allowed in spite of it. */
export const screening = /* sql */ `
-- Who must clear the destination of a live payout before its submission. No row: nothing is screened.
CREATE TABLE screening_sources (
  -- The name of a list; 'service': the screening service.
  name text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,39}$'),
  -- Of a list: what a match means. Null for the service, which says so itself.
  verdict text CHECK (verdict IN ('review', 'block')),
  -- Answers of an earlier version do not count.
  version integer NOT NULL DEFAULT 1,
  -- Of a list: its form, the day on which it was published if the file says so, the number of
  -- addresses, and the digest of what was imported.
  format text,
  published text,
  entry_count integer,
  sha256 text,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((name = 'service') = (verdict IS NULL))
);
GRANT SELECT ON screening_sources TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON screening_sources TO gateway_worker, gateway_admin;
GRANT UPDATE, DELETE ON screening_sources TO gateway_admin;

CREATE TABLE screening_entries (
  list text NOT NULL REFERENCES screening_sources ON DELETE CASCADE,
  -- As canonicalAddress in src/destinations writes it.
  address text NOT NULL,
  -- Whose address it is, as the list says.
  note text,
  PRIMARY KEY (address, list)
);
GRANT SELECT ON screening_entries TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, DELETE ON screening_entries TO gateway_admin;

-- Every answer is kept.
CREATE TABLE screening_answers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- The payout or recipient that it was asked for.
  object_id text NOT NULL,
  destination_type text NOT NULL,
  destination_value text NOT NULL,
  network text,
  -- The question named a beneficiary, so the answer counts for this object alone.
  with_beneficiary boolean NOT NULL,
  source text NOT NULL,
  source_version integer NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('clear', 'review', 'block')),
  -- The service's own id of the answer.
  reference text,
  reasons text[] NOT NULL,
  answered_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX screening_answers_latest
  ON screening_answers (account_id, mode, destination_value, source, id DESC);
CREATE INDEX screening_answers_of_object ON screening_answers (object_id, id DESC);
GRANT SELECT, INSERT ON screening_answers TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- A payout that waits for an answer, or for an operator. It counts while the payout is not submitted.
CREATE TABLE screening_holds (
  payout_id text PRIMARY KEY REFERENCES payouts,
  kind text NOT NULL CHECK (kind IN ('no_answer', 'review')),
  reason text NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT ON screening_holds TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE, DELETE ON screening_holds TO gateway_worker;

-- An operator allowed the payout in spite of the answers up to answers_seen.
CREATE TABLE screening_allowances (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payout_id text NOT NULL REFERENCES payouts,
  answers_seen bigint NOT NULL,
  allowed_by text NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX screening_allowances_of_payout ON screening_allowances (payout_id);
GRANT SELECT ON screening_allowances TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON screening_allowances TO gateway_dashboard;

-- Who receives the money, as the travel rule asks for it, encrypted with a key that is not here.
CREATE TABLE payout_beneficiaries (
  payout_id text PRIMARY KEY REFERENCES payouts,
  sealed bytea,
  key_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The row stays, and says that the payout had a beneficiary.
  erased_at timestamptz,
  CONSTRAINT payout_beneficiaries_erased
    CHECK ((sealed IS NULL) = (erased_at IS NOT NULL))
);
CREATE INDEX payout_beneficiaries_of_key ON payout_beneficiaries (key_id) WHERE sealed IS NOT NULL;
GRANT SELECT ON payout_beneficiaries TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payout_beneficiaries TO gateway_worker;
GRANT UPDATE ON payout_beneficiaries TO gateway_admin;
`;
