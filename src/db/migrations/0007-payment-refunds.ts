/**
 * What operators decide about payments, and refunds. Harmless where it has run already:
 * test/db/migrate.test.ts takes the newest migration off the record and runs it again.
 */
export const sql = /* sql */ `
-- What of the credits was taken back, before fees, and the fees that were given up with it.
ALTER TABLE payments
  ADD COLUMN IF NOT EXISTS reversed_amount numeric(38,8) NOT NULL DEFAULT 0
    CHECK (reversed_amount BETWEEN 0 AND credited_amount),
  -- No bounds: fees are rounded at each credit and each refund.
  ADD COLUMN IF NOT EXISTS reversed_fee numeric(38,8) NOT NULL DEFAULT 0;

-- Every decision of an operator, also those that came to nothing. The newest pending one is taken
-- to the provider until that has a clear answer.
CREATE TABLE IF NOT EXISTS payment_decisions (
  payment_id text NOT NULL REFERENCES payments,
  -- Chosen by who decided, so that the same decision counts once.
  id text NOT NULL,
  -- From 1 for each payment.
  number integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('release', 'reject', 'cancel', 'refund')),
  -- Of a refund; null when no amount could be made of it.
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
CREATE UNIQUE INDEX IF NOT EXISTS payment_decisions_pending ON payment_decisions (payment_id)
  WHERE state = 'pending';

-- One row for each refund, ordered by us or found at the provider.
CREATE TABLE IF NOT EXISTS payment_refunds (
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
CREATE INDEX IF NOT EXISTS payment_refunds_owed ON payment_refunds (payment_id)
  WHERE state = 'owed';

GRANT SELECT, INSERT, UPDATE ON payment_decisions, payment_refunds TO gateway_app;
`;
