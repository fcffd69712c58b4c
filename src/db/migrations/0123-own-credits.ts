/** Pages read the credited transfers of a payment as its account (decisions/database#row-level-security). */
export const sql = /* sql */ `
CREATE POLICY all_rows ON payment_credits
  TO gateway_api, gateway_worker, gateway_admin, gateway_dashboard USING (true);
CREATE POLICY own_rows ON payment_credits FOR SELECT TO gateway_merchant
  USING ((SELECT p.account_id FROM payments p WHERE p.id = payment_id)
         = current_setting('app.account_id', true));
ALTER TABLE payment_credits ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payment_credits TO gateway_merchant;
`;
