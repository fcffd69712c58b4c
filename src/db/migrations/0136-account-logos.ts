/** The logo of a merchant, for the pages that its customers see. */
export const sql = /* sql */ `
CREATE TABLE account_logos (
  account_id text PRIMARY KEY REFERENCES accounts,
  type text NOT NULL CHECK (type IN ('image/png', 'image/jpeg', 'image/webp')),
  content bytea NOT NULL CHECK (length(content) BETWEEN 1 AND 65536),
  -- In hexadecimal, as the public path has it. Two accounts may have the same logo.
  sha256 text NOT NULL CHECK (sha256 = encode(sha256(content), 'hex')),
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX account_logos_by_sha256 ON account_logos (sha256);
CREATE POLICY all_rows ON account_logos TO gateway_dashboard USING (true);
CREATE POLICY own_rows ON account_logos FOR SELECT TO gateway_merchant
  USING (account_id = current_setting('app.account_id', true));
ALTER TABLE account_logos ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON account_logos TO gateway_merchant;
GRANT SELECT, INSERT, UPDATE, DELETE ON account_logos TO gateway_dashboard;
`;
