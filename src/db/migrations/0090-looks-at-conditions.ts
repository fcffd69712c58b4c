/** The sweep of payouts that wait looks at the conditions that it has not looked at for longest. */
export const sql = /* sql */ `
-- Null: never. 'infinity': its payout waits no more.
ALTER TABLE payout_conditions ADD COLUMN looked_at timestamptz;
GRANT UPDATE (looked_at) ON payout_conditions TO gateway_worker;
`;

export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_conditions_to_look_at
     ON payout_conditions ((coalesce(looked_at, '-infinity')))
    WHERE met_at IS NULL AND kind <> 'time' OR kind = 'recipient'`,
];
