/** Payments, what was credited for them, what operators decided about them, and refunds. */
export const sql = /* sql */ `
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
CREATE INDEX payments_by_status
  ON payments (account_id, mode, status, created_at DESC, id DESC);
CREATE INDEX payments_by_provider
  ON payments (account_id, mode, provider, created_at DESC, id DESC);
CREATE INDEX payments_by_currency
  ON payments (account_id, mode, currency, created_at DESC, id DESC);
CREATE STATISTICS payments_filters (mcv)
  ON account_id, mode, status, provider, currency FROM payments;

-- For the console's list of all accounts. Only its query has the condition id > '': without it,
-- PostgreSQL would read these indexes for an account's list too, and pass over the rows of others.
CREATE INDEX payments_of_all ON payments (created_at, id) WHERE id > '';
CREATE INDEX payments_of_status ON payments (status, created_at, id) WHERE id > '';
CREATE INDEX payments_of_reference ON payments (reference, created_at, id) WHERE id > '';
CREATE INDEX payments_exceptional ON payments (created_at, id) WHERE id > '' AND exceptions <> '{}';

-- One row for each transfer that was credited: the key makes a second credit impossible.
CREATE TABLE payment_credits (
  payment_id text NOT NULL REFERENCES payments,
  provider_transfer_id text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  fee numeric(38,8) NOT NULL CHECK (fee >= 0),
  credited_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (payment_id, provider_transfer_id)
);

-- Counts POST /payments/{id}/verify in the present minute. Unlogged like api_key_minutes: after a
-- crash of the database a minute starts from zero.
CREATE UNLOGGED TABLE payment_verifications (
  payment_id text PRIMARY KEY,
  minute timestamptz NOT NULL,
  requests integer NOT NULL
) WITH (fillfactor = 50);

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
  PRIMARY KEY (payment_id, id),
  UNIQUE (payment_id, number)
);
CREATE UNIQUE INDEX payment_decisions_pending ON payment_decisions (payment_id)
  WHERE state = 'pending';

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
  PRIMARY KEY (payment_id, reference),
  UNIQUE (payment_id, provider_refund_id)
);
CREATE INDEX payment_refunds_owed ON payment_refunds (payment_id)
  WHERE state = 'owed';

CREATE TRIGGER note_change AFTER INSERT OR DELETE OR UPDATE OF
  id, account_id, mode, currency, reference, status, sequence, api_key_id, credited_amount,
  service_fee, reversed_amount, reversed_fee ON payments
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('id');
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON payment_credits
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('payment_id');
CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON payment_refunds
  FOR EACH ROW EXECUTE FUNCTION note_ledger_change('payment_id');

GRANT SELECT ON payments, payment_credits, payment_decisions, payment_refunds
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard;
GRANT SELECT, INSERT, UPDATE ON payment_verifications TO gateway_api;
GRANT INSERT, UPDATE ON payments, payment_decisions, payment_refunds TO gateway_worker;
GRANT INSERT ON payment_credits TO gateway_worker;
`;
