/** What a new gateway starts with: routes (decisions/currencies), fees, and payout limits (decisions/payout-limits). */
export const sql = /* sql */ `
INSERT INTO currency_routes (provider, direction, currency, network, min_amount)
SELECT provider, direction, currency, network, min_amount::numeric
  FROM (VALUES
    ('onchain_provider', 'USDT', 'ethereum', '1'),
    ('onchain_provider', 'USDT', 'tron', '1'),
    ('onchain_provider', 'USDC', 'ethereum', '1'),
    ('onchain_provider', 'USDC', 'tron', '1'),
    ('onchain_provider', 'USDC', 'base', '1'),
    ('onchain_provider', 'ETH', 'ethereum', '0.0005'),
    ('onchain_provider', 'BTC', 'bitcoin', '0.00005'),
    ('onchain_provider', 'XRP', 'xrpl', '1'),
    ('exchange_pay', 'USDT', 'internal', '0.01'),
    ('exchange_pay', 'USDC', 'internal', '0.01'),
    ('exchange_pay', 'BTC', 'internal', '0.000001'),
    ('exchange_pay', 'ETH', 'internal', '0.00001')
  ) AS route(provider, currency, network, min_amount)
  CROSS JOIN (VALUES ('payin'), ('payout')) AS way(direction);

INSERT INTO fee_rules (direction, provider, currency, percentage, valid_from)
SELECT DISTINCT direction, provider, currency, 1.0000, '2020-01-01T00:00:00Z'::timestamptz
  FROM currency_routes;

INSERT INTO payout_policies (currency, per_transaction_max, daily_max) VALUES
  ('USDT', 50000, 200000),
  ('USDC', 50000, 200000),
  ('BTC', 1, 4),
  ('ETH', 15, 60),
  ('XRP', 20000, 80000);
`;
