/** Payment links: an amount that a customer pays later, in one of the currencies and networks that the merchant allows. */
export const sql = /* sql */ `
CREATE TABLE payment_links (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts,
  mode text NOT NULL,
  user_id text NOT NULL,
  amount numeric(38,8) NOT NULL CHECK (amount > 0),
  -- Such as {USDT tron,USDC base}.
  routes text[] NOT NULL CHECK (cardinality(routes) > 0),
  reference text NOT NULL,
  -- The other fields of the payment request.
  request jsonb NOT NULL,
  expires_at timestamptz NOT NULL,
  closed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The latest payment, and how many there were: a checkout that has expired can be opened again.
  payment_id text REFERENCES payments,
  opened integer NOT NULL DEFAULT 0,
  UNIQUE (account_id, mode, reference)
);
CREATE POLICY all_rows ON payment_links TO gateway_dashboard USING (true);
CREATE POLICY own_rows ON payment_links FOR SELECT TO gateway_merchant
  USING (account_id = current_setting('app.account_id', true));
ALTER TABLE payment_links ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON payment_links TO gateway_merchant;
GRANT SELECT, INSERT, UPDATE (closed_at, payment_id, opened) ON payment_links TO gateway_dashboard;
CREATE INDEX payment_links_by_account ON payment_links (account_id, mode, created_at, id);
`;
