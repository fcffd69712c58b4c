/** The roles that the running gateway has, merchant accounts, and the idempotency records. */
export const accounts = /* sql */ `
-- The API, the worker, the admin command and the pages log in as members of these roles. Money moves
-- only through ledger_post (the worker) and ledger_adjust (the admin command). Nobody logs in as
-- gateway_merchant: the pages' login takes it for single statements (baseline/account-rows).
-- test/db/database/rights.test.ts has the table of all rights.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['gateway_api', 'gateway_worker', 'gateway_admin', 'gateway_dashboard',
                              'gateway_merchant'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
  IF NOT pg_has_role('gateway_dashboard', 'gateway_merchant', 'MEMBER') THEN
    GRANT gateway_merchant TO gateway_dashboard;
  END IF;
END $$;
GRANT USAGE ON SCHEMA public
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;
-- For /readyz and the admin command.
GRANT SELECT ON schema_migrations TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;

-- A function is callable only by the roles that it is granted to.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

CREATE TABLE accounts (
  id text PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  verified_at timestamptz,
  -- Every live payout waits for an operator unless this is switched off (decisions/controls#payout-review);
  -- rehearse_review makes test payouts wait too.
  review_all boolean NOT NULL DEFAULT true,
  rehearse_review boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- A live recipient waits this long after its destination was set.
  recipient_wait_hours integer NOT NULL DEFAULT 24
    CHECK (recipient_wait_hours BETWEEN 0 AND 720),
  -- Live payouts must name a recipient.
  recipients_only boolean NOT NULL DEFAULT false,
  -- The amount by currency, above which another person approves: {"USDT": "1000.00000000"}. Empty: never.
  second_person_above jsonb NOT NULL DEFAULT '{}',
  time_zone text NOT NULL DEFAULT 'UTC',
  -- The names of the journal's accounts that differ from the defaults.
  journal_accounts jsonb NOT NULL DEFAULT '{}',
  tax_rate text NOT NULL DEFAULT 'Tax Exempt',
  -- Whether live keys are made and rolled by API. People decide it.
  live_keys_by_api boolean NOT NULL DEFAULT false
);
CREATE INDEX accounts_newest ON accounts (created_at, id);
CREATE INDEX accounts_by_name ON accounts (lower(name) text_pattern_ops, id);
GRANT SELECT ON accounts TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON accounts TO gateway_admin;
-- What is counted by account, such as its endpoints, is counted under a lock of the account, for which
-- PostgreSQL asks for the right to change a column. Nothing reads this one to decide.
GRANT UPDATE (created_at) ON accounts TO gateway_api;
-- What the console changes of an account, and nothing else.
GRANT UPDATE (status, verified_at, review_all, rehearse_review, recipient_wait_hours, recipients_only,
  second_person_above, time_zone, journal_accounts, tax_rate, live_keys_by_api) ON accounts TO gateway_dashboard;

-- A claim (running) holds the new object's id and what the client asked for. The transaction that
-- creates the object turns it into the stored response (done); a refusal deletes it. A claim whose
-- lease has run out is dead: nothing can be created from it any more.
CREATE TABLE idempotency_keys (
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL,
  key text NOT NULL,
  body_hash bytea NOT NULL,
  object_id text NOT NULL UNIQUE,
  state text NOT NULL CHECK (state IN ('running', 'done')),
  lease_until timestamptz NOT NULL,
  request jsonb,
  response_status smallint,
  response_body bytea,
  completed_at timestamptz,
  PRIMARY KEY (account_id, mode, key),
  CHECK ((state = 'done') = (response_body IS NOT NULL))
);
-- For the clean-up, which looks at the oldest of each kind.
CREATE INDEX idempotency_keys_done ON idempotency_keys (completed_at) WHERE state = 'done';
CREATE INDEX idempotency_keys_running ON idempotency_keys (lease_until) WHERE state = 'running';
GRANT SELECT ON idempotency_keys TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON idempotency_keys TO gateway_api;
GRANT UPDATE, DELETE ON idempotency_keys TO gateway_api, gateway_worker;
`;
