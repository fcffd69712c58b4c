/** What a payment's page and the search show: its deposit address, every transfer, and payments by customer. */
export const sql = /* sql */ `
ALTER TABLE payments ADD COLUMN deposit_address text,
  -- As the provider last reported them; those that were credited are in payment_credits.
  ADD COLUMN transfers jsonb NOT NULL DEFAULT '[]';
`;

export const concurrent = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_by_deposit_address ON payments (deposit_address)
     WHERE deposit_address IS NOT NULL`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_by_customer ON payments (lower(customer_email))
     WHERE customer_email IS NOT NULL`,
];
