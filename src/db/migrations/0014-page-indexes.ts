/** Indexes for what the pages filter by, so that a value without rows is not looked for in all rows. */

/** The parts of request_log: a partitioned table as a whole has no concurrent indexes. */
const SLOTS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_transactions_by_type
     ON ledger_transactions (account_id, mode, type, posted_at DESC, id DESC)`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_log_of_account_action
     ON audit_log (account_id, action, id)`,
  ...SLOTS.flatMap((slot) => [
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS request_log_${slot}_by_path
       ON request_log_${slot} (account_id, mode, path text_pattern_ops, id)`,
    `CREATE INDEX CONCURRENTLY IF NOT EXISTS request_log_${slot}_errors
       ON request_log_${slot} (account_id, mode, id) WHERE status >= 500`,
  ]),
];
