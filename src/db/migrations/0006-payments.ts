/** Payments, and the providers' transfers that were credited for them. */
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
  -- What the provider has seen, confirmed or not; what was credited of it, before fees.
  received_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (received_amount >= 0),
  credited_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (credited_amount >= 0),
  service_fee numeric(38,8) NOT NULL DEFAULT 0 CHECK (service_fee >= 0),
  refunded_amount numeric(38,8) NOT NULL DEFAULT 0 CHECK (refunded_amount >= 0),
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
  UNIQUE (account_id, mode, reference)
) WITH (fillfactor = 70);
CREATE INDEX payments_newest ON payments (account_id, mode, created_at DESC, id DESC);
CREATE INDEX payments_open ON payments (workflow_checked_at)
  WHERE status IN ('created', 'pending', 'processing', 'on_hold');
-- GET /balance sums what is seen and not yet credited (decision P10).
CREATE INDEX payments_pending ON payments (account_id, mode, currency)
  WHERE status IN ('processing', 'on_hold');

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

GRANT SELECT, INSERT, UPDATE ON payments, payment_verifications TO gateway_app;
GRANT SELECT, INSERT ON payment_credits TO gateway_app;
`;
