/**
 * Indexes of the console's search (decisions/pages#console-search). `text_pattern_ops` finds the start of a
 * reference in every collation, and the whole reference as before: two indexes take the place of two that did
 * only that.
 */
export const steps = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_of_reference_start
     ON payouts (reference text_pattern_ops) WHERE id > ''`,
  'DROP INDEX CONCURRENTLY IF EXISTS payouts_of_reference',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_of_reference_start
     ON payments (reference text_pattern_ops, created_at, id) WHERE id > ''`,
  'DROP INDEX CONCURRENTLY IF EXISTS payments_of_reference',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payments_of_hash
     ON payments (tx_hash) WHERE tx_hash IS NOT NULL`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_refunds_of_reference_start
     ON payment_refunds (merchant_reference text_pattern_ops) WHERE merchant_reference IS NOT NULL`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_batches_of_reference_start
     ON payout_batches (reference text_pattern_ops)`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_schedules_of_reference_start
     ON payout_schedules (reference text_pattern_ops)`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS recipients_of_name_start
     ON recipients (lower(name) text_pattern_ops)`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS recipients_of_destination
     ON recipients (destination_value)`,
];
