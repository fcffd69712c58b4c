/** A payout that a person makes on the dashboard waits for another person of the account above an amount. */
export const sql = /* sql */ `
ALTER TABLE accounts
  -- The amount by currency, above which another person approves: {"USDT": "1000.00000000"}. Empty: never.
  ADD COLUMN second_person_above jsonb NOT NULL DEFAULT '{}';
GRANT UPDATE (second_person_above) ON accounts TO gateway_dashboard;

CREATE TABLE payout_person_approvals (
  payout_id text NOT NULL REFERENCES payouts,
  user_id text NOT NULL REFERENCES users,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (payout_id, user_id)
);
GRANT SELECT ON payout_person_approvals TO gateway_worker, gateway_admin, gateway_dashboard;
GRANT INSERT ON payout_person_approvals TO gateway_dashboard;

-- Whether an owner of the account who did not make the payout has approved it, and is still one.
CREATE FUNCTION approved_by_second_person(p_payout_id text, p_maker text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM payout_person_approvals a
      JOIN payouts p ON p.id = a.payout_id
      JOIN memberships m ON m.user_id = a.user_id AND m.account_id = p.account_id AND m.role = 'owner'
      JOIN users u ON u.id = a.user_id AND u.disabled_at IS NULL
     WHERE a.payout_id = p_payout_id AND a.user_id <> p_maker)
$$;
GRANT EXECUTE ON FUNCTION approved_by_second_person TO gateway_worker;
`;
