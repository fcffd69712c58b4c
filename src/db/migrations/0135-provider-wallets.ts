/** What the providers hold in the wallets that they pay from, as they last told, for the Operations page. */
export const sql = /* sql */ `
CREATE TABLE provider_wallets (
  provider text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('test', 'live')),
  -- Empty: the provider does not report them.
  wallets jsonb NOT NULL,
  read_at timestamptz NOT NULL,
  PRIMARY KEY (provider, mode)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON provider_wallets TO gateway_worker;
GRANT SELECT ON provider_wallets TO gateway_dashboard;
`;
