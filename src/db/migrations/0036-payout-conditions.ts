/** What a payout waits for before it is submitted (decisions/payouts#payout-conditions). */
export const sql = /* sql */ `
ALTER TABLE payouts
  -- Null: it has no conditions. True: it waits for some of them, or for its review. False: it waited,
  -- and was released or has ended.
  ADD COLUMN awaits_release boolean,
  -- When a payout that was not released by then is cancelled.
  ADD COLUMN release_expires_at timestamptz,
  ADD COLUMN released_at timestamptz,
  ADD COLUMN release_expired_at timestamptz,
  -- Nothing is submitted that still waits, whatever a program does.
  ADD CONSTRAINT payouts_wait_before_approval
    CHECK (awaits_release IS NOT TRUE OR status IN ('requested', 'under_review')) NOT VALID;

-- A row is one condition. It is met once, and the payout is released when all of its rows are.
CREATE TABLE payout_conditions (
  payout_id text NOT NULL REFERENCES payouts,
  kind text NOT NULL,
  parameters jsonb NOT NULL DEFAULT '{}',
  met_at timestamptz,
  PRIMARY KEY (payout_id, kind)
);
-- A payment that completes finds the payouts that wait for it.
CREATE INDEX payout_conditions_of_payment ON payout_conditions ((parameters ->> 'payment'))
  WHERE kind = 'payment' AND met_at IS NULL;

-- The conditions of a payout, as src/domain/payout-condition.ts has them. A function, because the planner
-- of a list would take a subquery for more expensive than it is.
CREATE FUNCTION conditions_of_payout(p_payout_id text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_agg(jsonb_build_object('kind', kind, 'parameters', parameters, 'metAt', met_at)
                   ORDER BY kind)
    FROM payout_conditions WHERE payout_id = p_payout_id
$$;

-- The key that a condition names has approved the payout.
CREATE TABLE payout_approvals (
  payout_id text NOT NULL REFERENCES payouts,
  api_key_id text NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (payout_id, api_key_id)
);

CREATE POLICY all_rows ON payout_conditions
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard USING (true);
CREATE POLICY own_rows ON payout_conditions FOR SELECT TO gateway_merchant
  USING ((SELECT p.account_id FROM payouts p WHERE p.id = payout_id)
         = current_setting('app.account_id', true));
ALTER TABLE payout_conditions ENABLE ROW LEVEL SECURITY;

GRANT SELECT ON payout_conditions
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;
GRANT INSERT, UPDATE (parameters, met_at) ON payout_conditions TO gateway_worker;
GRANT EXECUTE ON FUNCTION conditions_of_payout
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard, gateway_merchant;
GRANT SELECT ON payout_approvals TO gateway_api, gateway_worker, gateway_admin;
GRANT INSERT ON payout_approvals TO gateway_api;
`;

export const steps = [
  'ALTER TABLE payouts VALIDATE CONSTRAINT payouts_wait_before_approval',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_awaiting_release ON payouts (id)
     WHERE awaits_release`,
];
