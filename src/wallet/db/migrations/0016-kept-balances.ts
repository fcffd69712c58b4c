/** The last known balances of the deposit addresses, so that the sums ask only about those that changed. */
export const KEPT_BALANCES = `
CREATE TABLE wallet.address_balance (
  chain_id bigint NOT NULL,
  asset text NOT NULL,
  address text NOT NULL CHECK (address ~ '^0x[0-9a-f]{40}$'),
  units numeric(78,0) NOT NULL CHECK (units >= 0),
  -- At this block, which was final.
  block_number bigint NOT NULL,
  asked_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (chain_id, asset, address)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON wallet.address_balance TO wallet_app;
`;
