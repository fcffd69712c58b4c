/** GET /currencies (the specification, "Currencies"; decisions/money#currencies and decisions/money#capabilities). */
import { createKey } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { openMerchant } from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(sharedInRoom('direct', startDirectGateway));

const ONCHAIN = {
  code: 'onchain_provider',
  name: expect.stringMatching(/./),
  pay_in: true,
  pay_out: true,
  capabilities: {
    pay_in: true,
    pay_out: true,
    destination_types: ['crypto_address'],
    network_required: true,
    memo_supported: true,
    network_fee_estimate: true,
    tx_hash: true,
    refunds: true,
    refund_destination_types: ['crypto_address'],
    partial_payments: true,
    checkout_ttl_seconds: 3600,
  },
};
const EXCHANGE = {
  code: 'exchange_pay',
  name: expect.stringMatching(/./),
  pay_in: true,
  pay_out: true,
  capabilities: {
    pay_in: true,
    pay_out: true,
    destination_types: ['exchange_id', 'email'],
    network_required: false,
    memo_supported: false,
    network_fee_estimate: false,
    tx_hash: false,
    refunds: true,
    refund_destination_types: [],
    partial_payments: false,
    checkout_ttl_seconds: null,
  },
};

const ROUTES = [
  ['onchain_provider', 'USDT', 'ethereum', '1.00000000'],
  ['onchain_provider', 'USDT', 'tron', '1.00000000'],
  ['onchain_provider', 'USDC', 'ethereum', '1.00000000'],
  ['onchain_provider', 'USDC', 'tron', '1.00000000'],
  ['onchain_provider', 'USDC', 'base', '1.00000000'],
  ['onchain_provider', 'ETH', 'ethereum', '0.00050000'],
  ['onchain_provider', 'BTC', 'bitcoin', '0.00005000'],
  ['onchain_provider', 'XRP', 'xrpl', '1.00000000'],
  ['exchange_pay', 'USDT', 'internal', '0.01000000'],
  ['exchange_pay', 'USDC', 'internal', '0.01000000'],
  ['exchange_pay', 'BTC', 'internal', '0.00000100'],
  ['exchange_pay', 'ETH', 'internal', '0.00001000'],
];

const routesOf = (wanted: string) =>
  ROUTES.filter(([provider]) => provider === wanted).flatMap(
    ([provider, currency, network, min_amount]) =>
      ['payin', 'payout'].map((direction) => ({
        provider,
        direction,
        currency,
        network,
        min_amount,
        max_amount: null,
      })),
  );

/** In the order of the keys above; the order of the list is not promised. */
const sorted = (routes: object[]) => routes.map((route) => JSON.stringify(route)).sort();

test('it lists the providers with what they can do, and what they move [endpoint GET /currencies]', async () => {
  const { client, otherMode } = await openMerchant(gateway);
  const { status, json, text } = await client.get('/currencies');
  expect([status, json.object]).toEqual([200, 'list']);
  expect(json.providers).toEqual([ONCHAIN, EXCHANGE]);
  const all = [...routesOf('onchain_provider'), ...routesOf('exchange_pay')];
  expect(sorted(json.data)).toEqual(sorted(all));
  expect((await otherMode.get('/currencies')).text).toBe(text);
});

test('only providers that are enabled in the key’s mode are listed', async () => {
  const { client, otherMode } = await openMerchant(gateway, { mode: 'test' });
  const url = await gateway.startWithout('ONCHAIN_TEST_');
  const through = ({ apiKey }: MerchantClient) => new MerchantClient(url, apiKey);
  const { json } = await through(client).get('/currencies');
  expect(json.providers).toEqual([EXCHANGE]);
  expect(sorted(json.data)).toEqual(sorted(routesOf('exchange_pay')));
  expect((await through(otherMode).get('/currencies')).json.providers).toEqual([ONCHAIN, EXCHANGE]);
});

test('a route that is not enabled is not listed', async () => {
  const { client } = await openMerchant(gateway);
  const enable = (enabled: boolean) =>
    gateway.db.query(
      `UPDATE currency_routes SET enabled = ? WHERE network = 'xrpl' AND direction = 'payout'`,
      [enabled],
    );
  await enable(false);
  const { json } = await client.get('/currencies');
  await enable(true);
  const listed = json.data as { currency: string; direction: string }[];
  const xrp = listed.filter(({ currency }) => currency === 'XRP');
  expect(xrp.map(({ direction }) => direction)).toEqual(['payin']);
});

test('amounts are taken from the least to the greatest that is listed [limit currency minimum and maximum amounts]', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDC: '1000' } });
  const route = `provider = 'onchain_provider' AND direction = 'payout' AND currency = 'USDC'
    AND network = 'tron'`;
  const setBounds = (least: string, greatest: string | null) =>
    gateway.db.query(`UPDATE currency_routes SET min_amount = ?, max_amount = ? WHERE ${route}`, [
      least,
      greatest,
    ]);
  await setBounds('2', '50');
  const { json } = await client.get('/currencies');
  const send = (amount: string) => client.createPayout(buildPayout({ currency: 'USDC', amount }));
  const answers = [];
  for (const amount of ['1.99999999', '2', '50', '50.00000001']) answers.push(await send(amount));
  await setBounds('1', null);

  expect(json.data).toContainEqual({
    provider: 'onchain_provider',
    direction: 'payout',
    currency: 'USDC',
    network: 'tron',
    min_amount: '2.00000000',
    max_amount: '50.00000000',
  });
  const told = answers.map(({ status, json: { error } }) => {
    const fields = (error?.details.fields ?? []) as { field: string; rule: string }[];
    return [status, ...fields.map(({ field, rule }) => `${field} ${rule}`)];
  });
  expect(told).toEqual([[422, 'amount min_amount'], [201], [201], [422, 'amount max_amount']]);
});

test('fees, quotes and currencies need no scope, but a key [scope any valid key]', async () => {
  const { accountId } = await openMerchant(gateway);
  const key = { accountId, mode: 'live', scopes: [] } as const;
  const bare = new MerchantClient(
    gateway.baseUrl,
    await createKey(gateway.db, gateway.pepper, key),
  );
  const paths = [
    '/fees',
    '/fees/quote?direction=payout&provider=exchange_pay&currency=BTC&amount=1',
    '/currencies',
  ];
  for (const path of paths) {
    expect((await bare.get(path)).status).toBe(200);
    const { status } = await new MerchantClient(gateway.baseUrl, 'nonsense').get(path);
    expect({ path, status }).toEqual({ path, status: 401 });
  }
  expect((await bare.get('/balance')).status).toBe(403);
});
