/**
 * Payments, what was credited for them, what operators decided about them, and refunds. A refund to an address is
 * carried out by a payout (decisions/payments#refunds-to-address).
 */
export const payments = /* sql */ `
CREATE TABLE payments (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  reference text NOT NULL,
  status text NOT NULL CHECK (status IN ('created', 'pending', 'processing', 'on_hold', 'completed',
    'underpaid', 'failed', 'expired', 'cancelled', 'refunded')),
  provider text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  network text,
  -- What the provider has confirmed, and what was credited of it, before fees.
  received_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (received_amount >= 0),
  credited_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (credited_amount >= 0),
  service_fee numeric(38,8) NOT NULL DEFAULT 0 CHECK (service_fee >= 0),
  refunded_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (refunded_amount >= 0),
  -- What of the credits was taken back, before fees, and the fees that were given up with it. The
  -- fee has no bounds: fees are rounded at each credit and each refund.
  reversed_amount numeric(38,8) NOT NULL DEFAULT 0
    CHECK (reversed_amount BETWEEN 0 AND credited_amount),
  reversed_fee numeric(38,8) NOT NULL DEFAULT 0,
  fee_terms jsonb NOT NULL,
  exceptions text[] NOT NULL DEFAULT '{}',
  tx_hash text,
  checkout_url text NOT NULL,
  success_url text,
  cancel_url text,
  description text,
  customer_email text,
  metadata jsonb NOT NULL DEFAULT '{}',
  failure_reason text,
  api_key_id text NOT NULL,
  provider_checkout_id text NOT NULL,
  sequence integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  completed_at timestamptz,
  workflow_checked_at timestamptz NOT NULL DEFAULT now(),
  -- What the provider has seen and not confirmed.
  unconfirmed_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (unconfirmed_amount >= 0),
  UNIQUE (account_id, mode, reference)
) WITH (fillfactor = 70);
CREATE INDEX payments_newest ON payments (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payments_open ON payments (workflow_checked_at)
  WHERE status IN ('created', 'pending', 'processing', 'on_hold');
-- GET /balance sums what is seen and not yet credited (decisions/money#pending-balance).
CREATE INDEX payments_uncredited ON payments (account_id, mode, currency)
  WHERE status IN ('processing', 'on_hold')
  OR (status IN ('expired', 'cancelled', 'underpaid', 'completed') AND unconfirmed_amount > 0);
-- Payments that have ended, and are underpaid or whose money was seen and not credited
-- (decisions/payments#late-payments). Those whose time is over get workflow_checked_at 'infinity', and are never
-- looked at again.
CREATE INDEX payments_late_money ON payments (workflow_checked_at)
  WHERE status IN ('expired', 'cancelled', 'underpaid', 'completed')
  AND (status = 'underpaid' OR credited_amount < received_amount + unconfirmed_amount);
-- As for payouts: what a list filters by.
CREATE INDEX payments_by_status ON payments (account_id, mode, status, created_at DESC, id DESC);
CREATE INDEX payments_by_provider ON payments (account_id, mode, provider, created_at DESC, id DESC);
CREATE INDEX payments_by_currency ON payments (account_id, mode, currency, created_at DESC, id DESC);
CREATE STATISTICS payments_filters (mcv)
  ON account_id, mode, status, provider, currency FROM payments;
-- For the console's list of all accounts. Only its query has the condition id > '': without it,
-- PostgreSQL would read these indexes for an account's list too, and pass over the rows of others.
CREATE INDEX payments_of_all ON payments (created_at, id) WHERE id > '';
CREATE INDEX payments_of_status ON payments (status, created_at, id) WHERE id > '';
CREATE INDEX payments_exceptional ON payments (created_at, id) WHERE id > '' AND exceptions <> '{}';
CREATE INDEX payments_of_reference_start
  ON payments (reference text_pattern_ops, created_at, id) WHERE id > '';
CREATE INDEX payments_of_hash ON payments (tx_hash) WHERE tx_hash IS NOT NULL;
GRANT SELECT ON payments TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON payments TO gateway_worker;
CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE OF
  id, account_id, mode, currency, reference, status, sequence, api_key_id, credited_amount,
  service_fee, reversed_amount, reversed_fee ON payments
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('id');

-- One row for each transfer that was credited: the key makes a second credit impossible.
CREATE TABLE payment_credits (
  payment_id text NOT NULL REFERENCES payments,
  provider_transfer_id text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  fee numeric(38,8) NOT NULL CHECK (fee >= 0),
  credited_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (payment_id, provider_transfer_id)
);
GRANT SELECT ON payment_credits TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payment_credits TO gateway_worker;
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON payment_credits
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('payment_id');

-- Counts POST /payments/{id}/verify in the present minute. Unlogged like api_key_minutes: after a
-- crash of the database a minute starts from zero.
CREATE UNLOGGED TABLE payment_verifications (
  payment_id text PRIMARY KEY,
  minute timestamptz NOT NULL,
  requests integer NOT NULL DEFAULT 0,
  cancellations integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE ON payment_verifications TO gateway_api;

-- Every decision of an operator, also those that came to nothing. The newest pending one is taken
-- to the provider until that has a clear answer.
CREATE TABLE payment_decisions (
  payment_id text NOT NULL REFERENCES payments,
  -- Chosen by who decided, so that the same decision counts once.
  id text NOT NULL,
  -- From 1 for each payment.
  number integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('release', 'reject', 'cancel', 'refund')),
  -- What a refund returns; null when no amount could be made of it.
  amount numeric(38,8) CHECK (amount > 0),
  decided_by text,
  reason text,
  -- pending: the provider has not answered. accepted: it did as it was told.
  state text NOT NULL CHECK (state IN ('pending', 'accepted', 'refused')),
  -- Why it was refused, by the provider or by ourselves.
  refusal text,
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  -- Whose decision it is: an operator's, or a merchant's request to cancel.
  requested_by text NOT NULL DEFAULT 'operator',
  PRIMARY KEY (payment_id, id),
  UNIQUE (payment_id, number),
  CONSTRAINT payment_decisions_requested_by_check
    CHECK (requested_by IN ('merchant', 'operator'))
);
CREATE UNIQUE INDEX payment_decisions_pending ON payment_decisions (payment_id) WHERE state = 'pending';
GRANT SELECT ON payment_decisions TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON payment_decisions TO gateway_worker;

-- One row for each refund, ordered by us or found at the provider.
CREATE TABLE payment_refunds (
  payment_id text NOT NULL REFERENCES payments,
  -- Ours for the provider, or the provider's own of a refund that was not asked for here.
  reference text NOT NULL,
  -- Null until the provider confirms it.
  provider_refund_id text,
  -- What the customer gets back.
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  -- What it took from the available balance, and the fee that was given up.
  taken numeric(38,8) NOT NULL CHECK (taken >= 0),
  fee numeric(38,8) NOT NULL CHECK (fee >= 0),
  -- ordered: taken, and the provider was or will be asked. done: the provider confirms it, and what
  -- was to be taken is taken. refused: the provider refuses, and what was taken is back. owed: the
  -- provider made it and the balance does not cover it. waived: so, and an operator let it be.
  state text NOT NULL CHECK (state IN ('ordered', 'done', 'refused', 'owed', 'waived')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  id text,
  account_id text,
  mode text,
  currency text,
  -- Who asked for it. A refund of the provider's own was asked for by nobody here.
  requested_by text,
  -- The operator's name.
  operator text,
  -- The id of the key, or of the user of the dashboard, with which the merchant asked.
  api_key_id text,
  merchant_reference text,
  reason text,
  -- Where the merchant wants the money to go; null: the provider decides.
  destination jsonb,
  -- Why it failed.
  refusal text,
  -- Counts the events.
  sequence integer NOT NULL DEFAULT 1,
  updated_at timestamptz,
  -- When the provider confirmed or refused it.
  ended_at timestamptz,
  second_person text,
  second_person_until timestamptz,
  -- True while it waits: the provider is not asked.
  awaits_person boolean NOT NULL DEFAULT false,
  -- Set: the money goes to an address. Until then somebody has to name it; afterwards the money is returned.
  address_until timestamptz,
  -- The payout that carries the money to the address.
  payout_id text,
  PRIMARY KEY (payment_id, reference),
  UNIQUE (payment_id, provider_refund_id),
  CONSTRAINT payment_refunds_requested_by_check
    CHECK (requested_by IN ('merchant', 'operator', 'provider')),
  CONSTRAINT payment_refunds_complete CHECK (id IS NOT NULL AND account_id IS NOT NULL AND mode IS NOT NULL
    AND currency IS NOT NULL AND requested_by IS NOT NULL AND updated_at IS NOT NULL)
);
CREATE UNIQUE INDEX payment_refunds_ids ON payment_refunds (id);
CREATE UNIQUE INDEX payment_refunds_references ON payment_refunds (account_id, mode, merchant_reference);
CREATE INDEX payment_refunds_newest ON payment_refunds (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payment_refunds_open ON payment_refunds (payment_id) WHERE state IN ('ordered', 'owed');
CREATE INDEX payment_refunds_of_reference_start
  ON payment_refunds (merchant_reference text_pattern_ops) WHERE merchant_reference IS NOT NULL;
CREATE UNIQUE INDEX payment_refunds_of_payout ON payment_refunds (payout_id) WHERE payout_id IS NOT NULL;
GRANT SELECT ON payment_refunds TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE ON payment_refunds TO gateway_worker;
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON payment_refunds
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('payment_id');

-- The form of src/platform/lib/new-id.ts: the time in milliseconds, then 16 random digits.
CREATE FUNCTION new_refund_id(p_at timestamptz) RETURNS text LANGUAGE sql VOLATILE AS $$
  WITH digits (all_of_them, ms, random) AS MATERIALIZED (
    SELECT '0123456789ABCDEFGHJKMNPQRSTVWXYZ', floor(extract(epoch FROM p_at) * 1000)::bigint,
           uuid_send(gen_random_uuid()))
  SELECT 'rf_'
         || (SELECT string_agg(substr(all_of_them, 1 + ((ms >> (5 * (9 - n))) & 31)::integer, 1), '' ORDER BY n)
               FROM generate_series(0, 9) AS n)
         || (SELECT string_agg(substr(all_of_them, 1 + (get_byte(random, n) & 31), 1), '' ORDER BY n)
               FROM generate_series(0, 15) AS n)
    FROM digits
$$;
GRANT EXECUTE ON FUNCTION new_refund_id TO gateway_worker;

CREATE FUNCTION complete_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT p.account_id, p.mode, p.currency INTO NEW.account_id, NEW.mode, NEW.currency
    FROM payments p WHERE p.id = NEW.payment_id;
  NEW.id := coalesce(NEW.id, new_refund_id(NEW.created_at));
  NEW.requested_by := coalesce(NEW.requested_by,
    CASE NEW.state WHEN 'ordered' THEN 'operator' ELSE 'provider' END);
  NEW.updated_at := coalesce(NEW.updated_at, NEW.created_at);
  RETURN NEW;
END $$;
CREATE TRIGGER complete_refund BEFORE INSERT ON payment_refunds
  FOR EACH ROW EXECUTE FUNCTION complete_refund();

-- The link with which a customer names the address. A new one replaces it.
CREATE TABLE refund_links (
  refund_id text PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  -- 'mail', or the operator who read the link.
  made_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- What was named last. It counts once the refund has a payout.
  destination jsonb
);
GRANT SELECT (refund_id, destination) ON refund_links TO gateway_worker;
GRANT SELECT ON refund_links TO gateway_admin, gateway_dashboard;
GRANT INSERT, UPDATE (token_hash, made_by, created_at, destination) ON refund_links TO gateway_admin;
GRANT UPDATE (destination) ON refund_links TO gateway_dashboard;
`;
