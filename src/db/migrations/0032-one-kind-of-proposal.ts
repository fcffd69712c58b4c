/** A threshold for two approvals is proposed like any other policy: about no account, so `account_id` is null. */
export const sql = /* sql */ `
ALTER TABLE policy_proposals ALTER COLUMN account_id DROP NOT NULL;
-- The admin command proposes a threshold without a reason.
ALTER TABLE policy_proposals ALTER COLUMN reason DROP NOT NULL;
ALTER TABLE policy_proposals ADD CONSTRAINT policy_proposals_reason_check
  CHECK (reason IS NOT NULL OR account_id IS NULL);

INSERT INTO policy_proposals
    (id, account_id, topic, wish, before, after, reason, proposed_by, created_at, expires_at)
  SELECT 'prop_0' || left(upper(md5(p.currency)), 25), NULL, 'threshold ' || p.currency,
      jsonb_build_object('kind', 'threshold', 'currency', p.currency, 'amount', p.amount::text),
      jsonb_build_object('currency', p.currency, 'above', t.amount::text),
      jsonb_build_object('currency', p.currency, 'above', p.amount::text),
      p.reason, p.proposed_by, p.created_at, p.created_at + interval '7 days'
    FROM four_eyes_proposals p LEFT JOIN four_eyes_thresholds t USING (currency);
DROP TABLE four_eyes_proposals;

-- The admin command proposes thresholds too, and decides about them. What was proposed cannot be changed.
GRANT INSERT ON policy_proposals TO gateway_admin;
GRANT UPDATE (outcome, decided_by, decided_at) ON policy_proposals TO gateway_admin;
`;

/** At most one proposal about a policy is open. A null account is equal to another one. */
export const indexes = [
  `CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS policy_proposals_one_open
     ON policy_proposals (account_id, topic) NULLS NOT DISTINCT WHERE outcome IS NULL`,
  'DROP INDEX CONCURRENTLY IF EXISTS policy_proposals_open',
];
