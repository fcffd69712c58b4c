/** Runs of schedules are opened from the table, at the times that the gateway computes (decisions/payouts#payout-schedules). */
export const sql = /* sql */ `
-- The index payout_schedules_open goes with its columns.
ALTER TABLE payout_schedules DROP COLUMN followed_sequence, DROP COLUMN workflow_checked_at;
GRANT DELETE ON payout_schedule_runs TO gateway_worker;
`;

export const indexes = [
  // The time of the next run, and after the last one the end. An active schedule with neither has no time yet.
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_schedules_next ON payout_schedules
     ((CASE status WHEN 'active' THEN coalesce(next_run_at, end_at, '-infinity') ELSE end_at END))
    WHERE status <> 'ended'`,
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_schedule_runs_ended
     ON payout_schedule_runs (ended_at) WHERE status <> 'pending'`,
];
