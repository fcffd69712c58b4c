/** Merchants see the beneficiaries of their payouts again, and they can be erased (decisions/payouts#beneficiaries). */
export const sql = /* sql */ `
ALTER TABLE payout_beneficiaries
  ALTER COLUMN sealed DROP NOT NULL,
  -- The row stays, and says that the payout had a beneficiary.
  ADD COLUMN erased_at timestamptz,
  ADD CONSTRAINT payout_beneficiaries_erased
    CHECK ((sealed IS NULL) = (erased_at IS NOT NULL)) NOT VALID;
GRANT SELECT ON payout_beneficiaries TO gateway_api, gateway_merchant;
CREATE POLICY all_rows ON payout_beneficiaries
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard USING (true);
CREATE POLICY own_rows ON payout_beneficiaries FOR SELECT TO gateway_merchant
  USING ((SELECT p.account_id FROM payouts p WHERE p.id = payout_id)
         = current_setting('app.account_id', true));
ALTER TABLE payout_beneficiaries ENABLE ROW LEVEL SECURITY;
`;

/** For those that are encrypted with an earlier key. */
export const steps = [
  'ALTER TABLE payout_beneficiaries VALIDATE CONSTRAINT payout_beneficiaries_erased',
  `CREATE INDEX CONCURRENTLY IF NOT EXISTS payout_beneficiaries_of_key
     ON payout_beneficiaries (key_id) WHERE sealed IS NOT NULL`,
];
