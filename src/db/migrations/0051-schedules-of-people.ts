/** People make schedules of payouts on the dashboard, and another person approves those above an amount. */
export const sql = /* sql */ `
-- Whether a person made the schedule, one of its runs is above an amount that the account has now, and
-- nobody else who may approve has approved it.
CREATE FUNCTION schedule_awaits_second_person(p_schedule_id text, p_roles text[]) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM payout_schedules s JOIN accounts a ON a.id = s.account_id
      CROSS JOIN LATERAL jsonb_to_recordset(s.totals) AS total (currency text, amount numeric)
     WHERE s.id = p_schedule_id AND s.status <> 'ended'
       AND EXISTS (SELECT FROM users u WHERE u.id = s.api_key_id)
       AND total.amount > (a.second_person_above ->> total.currency)::numeric
       -- Who reads as an account learns of its own only.
       AND s.account_id = coalesce(nullif(current_setting('app.account_id', true), ''), s.account_id)
       AND NOT approved_by_second_person(s.id, '', s.account_id, s.api_key_id, p_roles))
$$;
GRANT EXECUTE ON FUNCTION schedule_awaits_second_person
  TO gateway_worker, gateway_api, gateway_admin, gateway_dashboard, gateway_merchant;
`;

/** Operators pause and resume schedules with the admin command. */
export const operatorRights = /* sql */ `
GRANT UPDATE (status, next_run_at, sequence, followed_sequence, updated_at, ended_at)
  ON payout_schedules TO gateway_admin;
`;

/** For the metric of times that have come and were not run. */
export const indexes = [
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_schedules_due ON payout_schedules (next_run_at)
    WHERE status = 'active'`,
];
