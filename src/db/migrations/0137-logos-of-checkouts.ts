/** The worker sends the address of a merchant's logo with a checkout. */
export const sql = /* sql */ `
CREATE POLICY worker_rows ON account_logos FOR SELECT TO gateway_worker USING (true);
GRANT SELECT (account_id, sha256) ON account_logos TO gateway_worker;
`;
