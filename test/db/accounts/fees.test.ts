/** GET /fees (the specification, "Fee rule"; decisions/money#service-fees). */
import { type FeeRuleWish, addFeeRule } from '../fee-rules';
import { MerchantClient } from '../../support/merchant/merchant-client';
import { acceptedPayout, openMerchant } from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(sharedInRoom('direct', startDirectGateway));

const DEFAULT = {
  percentage: '1.0000',
  fixed_amount: '0.00000000',
  min_fee: null,
  max_fee: null,
};

async function feesOf(client: MerchantClient) {
  const { status, json } = await client.get('/fees');
  expect([status, json.object]).toEqual([200, 'list']);
  return json.data as Record<string, string | null>[];
}

/** The terms of one rule of the list. */
async function termsOf(client: MerchantClient, wanted: Partial<FeeRuleWish> = {}) {
  const { direction = 'payout', provider = 'onchain_provider', currency = 'USDT' } = wanted;
  const found = (await feesOf(client)).filter(
    (rule) =>
      rule['direction'] === direction &&
      rule['provider'] === provider &&
      rule['currency'] === currency,
  );
  expect(found).toHaveLength(1);
  const { direction: _d, provider: _p, currency: _c, ...terms } = found[0]!;
  return terms;
}

const inEveryDirection = (provider: string, currencies: string[]) =>
  ['payin', 'payout'].flatMap((direction) =>
    currencies.map((currency) => ({ direction, provider, currency, ...DEFAULT })),
  );
const ONCHAIN = inEveryDirection('onchain_provider', ['USDT', 'USDC', 'ETH', 'BTC', 'XRP']);
const EXCHANGE = inEveryDirection('exchange_pay', ['USDT', 'USDC', 'ETH', 'BTC']);

const sorted = (rules: object[]) =>
  rules.map((rule) => JSON.stringify(rule, Object.keys(rule).sort())).sort();

test('there is one rule for each enabled provider, direction and currency [endpoint GET /fees]', async () => {
  const { client, otherMode } = await openMerchant(gateway, { mode: 'test' });
  const all = sorted([...ONCHAIN, ...EXCHANGE]);
  expect(sorted(await feesOf(client))).toEqual(all);
  expect(sorted(await feesOf(otherMode))).toEqual(all);
});

test('a provider that is not enabled in the mode has no rules', async () => {
  const { client, otherMode } = await openMerchant(gateway, { mode: 'test' });
  const url = await gateway.startWithout('EXCHANGE_PAY_TEST_');
  const through = ({ apiKey }: MerchantClient) => new MerchantClient(url, apiKey);
  expect(sorted(await feesOf(through(client)))).toEqual(sorted(ONCHAIN));
  expect(await feesOf(through(otherMode))).toHaveLength(ONCHAIN.length + EXCHANGE.length);
});

test('a currency keeps its rules while one of its networks is enabled', async () => {
  const { client } = await openMerchant(gateway);
  const enable = (network: string, enabled: boolean) =>
    gateway.db.query(
      `UPDATE currency_routes SET enabled = ?
        WHERE (provider, direction, currency, network) = ('onchain_provider', 'payout', 'USDT', ?)`,
      [enabled, network],
    );
  const count = async () => (await feesOf(client)).length;
  await enable('tron', false);
  const oneNetwork = await count();
  await enable('ethereum', false);
  const noNetwork = await count();
  await enable('tron', true);
  await enable('ethereum', true);
  expect([oneNetwork, noNetwork]).toEqual([18, 17]);
});

test('an account’s own rule takes the place of the default, in both modes, for nobody else', async () => {
  const { accountId, client, otherMode } = await openMerchant(gateway);
  const stranger = await openMerchant(gateway);
  const wish = { percentage: '0.2500', fixed: '0.1', min: '0.5', max: '20' };
  await addFeeRule(gateway.db, { accountId, ...wish });
  const own = {
    percentage: '0.2500',
    fixed_amount: '0.10000000',
    min_fee: '0.50000000',
    max_fee: '20.00000000',
  };
  for (const who of [client, otherMode]) expect(await termsOf(who)).toEqual(own);
  expect(await termsOf(stranger.client)).toEqual(DEFAULT);
  for (const other of [
    { direction: 'payin' },
    { provider: 'exchange_pay' },
    { currency: 'USDC' },
  ] as const) {
    expect(await termsOf(client, other)).toEqual(DEFAULT);
  }
  expect(await feesOf(client)).toHaveLength(18);
});

test.each<{ when: string; added: Partial<FeeRuleWish>[]; percentage: string }>([
  { when: 'begins in the future', added: [{ from: 3_600 }], percentage: '1.0000' },
  { when: 'has ended', added: [{ from: -3_600, until: -1 }], percentage: '1.0000' },
  { when: 'ends in the future', added: [{ until: 3_600 }], percentage: '2.0000' },
  {
    when: 'follows on another',
    added: [
      { from: -7_200, until: -3_600, percentage: '3' },
      { from: -3_600, percentage: '4' },
      { from: 3_600, percentage: '5' },
    ],
    percentage: '4.0000',
  },
  {
    when: 'is newer than another that has not ended',
    added: [
      { from: -60, percentage: '4' },
      { from: -3_600, percentage: '3' },
    ],
    percentage: '4.0000',
  },
])('of rules the one in force counts: one that $when', async ({ added, percentage }) => {
  const { accountId, client } = await openMerchant(gateway);
  for (const rule of added) await addFeeRule(gateway.db, { accountId, ...rule });
  expect(await termsOf(client)).toEqual({ ...DEFAULT, percentage });
  const id = await acceptedPayout(client, { amount: '100' });
  const { json } = await client.get(`/payouts/${id}`);
  expect(json.data.service_fee).toBe(`${percentage.slice(0, 1)}.00000000`);
});

test('a new default is for all that have no rule of their own, also when theirs is older', async () => {
  const own = await openMerchant(gateway);
  const other = await openMerchant(gateway);
  const place = { direction: 'payin', currency: 'XRP' } as const;
  await addFeeRule(gateway.db, {
    ...place,
    accountId: own.accountId,
    from: -3_600,
    percentage: '7',
  });
  await addFeeRule(gateway.db, { ...place, accountId: null, percentage: '6' });
  expect(await termsOf(own.client, place)).toMatchObject({ percentage: '7.0000' });
  expect(await termsOf(other.client, place)).toMatchObject({ percentage: '6.0000' });
});
