/** The sweep of payouts that wait looks at times once each has passed, and operators see those that wait on. */
export const concurrent = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_conditions_due
     ON payout_conditions ((coalesce(looked_at, '-infinity')))
    WHERE met_at IS NULL OR kind = 'recipient'`,
  'DROP INDEX CONCURRENTLY IF EXISTS payout_conditions_to_look_at',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_conditions_times
     ON payout_conditions ((coalesce(looked_at, '-infinity'))) WHERE kind = 'time' AND met_at IS NULL`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_expiring
     ON payouts (release_expires_at) WHERE awaits_release`,
];
