/**
 * What pages show: the hash of each credited transfer, which the search finds, and links for customers who name the
 * address of a refund, which pages make too (decisions/payments#refunds-to-address).
 */
export const sql = /* sql */ `
ALTER TABLE payment_credits ADD COLUMN tx_hash text;
GRANT INSERT (refund_id, token_hash, made_by), UPDATE (token_hash, made_by, created_at)
  ON refund_links TO gateway_dashboard;
`;

export const concurrent = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_credits_by_hash ON payment_credits (tx_hash)
     WHERE tx_hash IS NOT NULL`,
];
