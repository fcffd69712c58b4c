/** What is seen and not confirmed has a column of its own; `received_amount` is what is confirmed. */
export const sql = /* sql */ `
ALTER TABLE payments ADD COLUMN unconfirmed_amount numeric(38,8) NOT NULL DEFAULT 0;
ALTER TABLE payments ADD CONSTRAINT payments_unconfirmed_amount_check
  CHECK (unconfirmed_amount >= 0) NOT VALID;
`;

const LATE = `status IN ('expired', 'cancelled', 'underpaid', 'completed')`;

/**
 * Nobody knows which part of the money that was seen and not credited is confirmed. All of it counts as
 * unconfirmed until the payment's next check. These are few rows: open payments with money, and ended ones
 * with late money.
 */
const SPLIT = `DO $$
BEGIN
  UPDATE payments
     SET unconfirmed_amount = received_amount - credited_amount, received_amount = credited_amount
   WHERE status IN ('processing', 'on_hold') AND credited_amount < received_amount
     AND unconfirmed_amount = 0;
  UPDATE payments
     SET unconfirmed_amount = received_amount - credited_amount, received_amount = credited_amount
   WHERE ${LATE} AND (status = 'underpaid' OR credited_amount < received_amount)
     AND credited_amount < received_amount AND unconfirmed_amount = 0
     AND expires_at > now() - interval '30 days' AND workflow_checked_at < 'infinity';
END $$`;

export const steps = [
  'ALTER TABLE payments VALIDATE CONSTRAINT payments_unconfirmed_amount_check',
  SPLIT,
  // GET /balance sums what is seen and not yet credited (decisions/pending-balance).
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_uncredited ON payments (account_id, mode, currency)
     WHERE status IN ('processing', 'on_hold') OR (${LATE} AND unconfirmed_amount > 0)`,
  'DROP INDEX CONCURRENTLY IF EXISTS payments_pending',
  // This index replaces payments_late, because money that was seen and not credited includes what is
  // unconfirmed.
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_late_money ON payments (workflow_checked_at)
     WHERE ${LATE}
       AND (status = 'underpaid' OR credited_amount < received_amount + unconfirmed_amount)`,
  'DROP INDEX CONCURRENTLY IF EXISTS payments_late',
];
