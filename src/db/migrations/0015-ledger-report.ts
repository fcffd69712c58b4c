/** What the last ledger check found, for operators who download it. */
export const sql = /* sql */ `
-- One row. A table of its own, because a running check holds a lock on ledger_proof.
CREATE TABLE ledger_report (checked_at timestamptz, report jsonb);
INSERT INTO ledger_report VALUES (NULL, NULL);
GRANT SELECT, UPDATE ON ledger_report TO gateway_worker;
GRANT SELECT ON ledger_report TO gateway_dashboard;
`;
