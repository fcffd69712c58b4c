/** GET /fees/quote (the specification, "Fee quote"; decisions/money#service-fees). */
import { addFeeRule, type FeeRuleWish } from '../fee-rules';
import { MerchantClient } from '../../support/merchant/merchant-client';
import { acceptedPayout, openMerchant } from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(sharedInRoom('direct', startDirectGateway));

const ASKED = {
  direction: 'payout',
  provider: 'onchain_provider',
  currency: 'USDT',
  amount: '10000',
};

const quote = (client: MerchantClient, changes: Record<string, string> = {}) =>
  client.get(`/fees/quote?${new URLSearchParams({ ...ASKED, ...changes }).toString()}`);

test('a payout’s fee is added on top, so that there is no net amount [endpoint GET /fees/quote]', async () => {
  const { client } = await openMerchant(gateway);
  const { status, json } = await quote(client);
  expect([status, json]).toEqual([
    200,
    {
      object: 'fee_quote',
      direction: 'payout',
      provider: 'onchain_provider',
      currency: 'USDT',
      amount: '10000.00000000',
      service_fee: '100.00000000',
      net_amount: null,
      note: expect.stringMatching(/network fee/),
    },
  ]);
});

test('a payin’s fee is taken from the amount, without a note', async () => {
  const { client } = await openMerchant(gateway);
  const { json } = await quote(client, { direction: 'payin', provider: 'exchange_pay' });
  expect(json).toMatchObject({
    direction: 'payin',
    provider: 'exchange_pay',
    service_fee: '100.00000000',
    net_amount: '9900.00000000',
    note: null,
  });
});

const TERMS = { percentage: '1', fixed: '0.5', min: '2', max: '10' };

test.each<{ terms: Partial<FeeRuleWish>; amount: string; payout: string; payin?: string }>([
  { terms: TERMS, amount: '500', payout: '5.50000000' },
  { terms: TERMS, amount: '100', payout: '2.00000000' },
  { terms: TERMS, amount: '150', payout: '2.00000000' },
  { terms: TERMS, amount: '150.000001', payout: '2.00000001' },
  { terms: TERMS, amount: '950', payout: '10.00000000' },
  { terms: TERMS, amount: '950.1', payout: '10.00000000' },
  { terms: TERMS, amount: '1', payout: '2.00000000', payin: '1.00000000' },
  { terms: TERMS, amount: '0.00000001', payout: '2.00000000', payin: '0.00000001' },
  { terms: { ...TERMS, min: null }, amount: '1', payout: '0.51000000' },
  { terms: { ...TERMS, max: null }, amount: '100000', payout: '1000.50000000' },
  { terms: { ...TERMS, min: '12' }, amount: '500', payout: '10.00000000' },
  { terms: { percentage: '0', fixed: '0' }, amount: '500', payout: '0.00000000' },
  { terms: { percentage: '100' }, amount: '3', payout: '3.00000000' },
  { terms: { percentage: '1' }, amount: '0.0000015', payout: '0.00000002' },
  { terms: { percentage: '1' }, amount: '0.00000149', payout: '0.00000001' },
  {
    terms: { percentage: '0.0001' },
    amount: '999999999999999999.99999999',
    payout: '1000000000000.00000000',
  },
])('$amount under $terms costs $payout', async ({ terms, amount, payout, payin = payout }) => {
  const { accountId, client } = await openMerchant(gateway);
  for (const direction of ['payout', 'payin'] as const) {
    await addFeeRule(gateway.db, { accountId, direction, ...terms });
  }
  expect((await quote(client, { amount })).json.service_fee).toBe(payout);
  const taken = (await quote(client, { direction: 'payin', amount })).json;
  expect(taken.service_fee).toBe(payin);
  expect(Number(taken.net_amount)).toBeGreaterThanOrEqual(0);
});

test('a payout is charged what the quote said', async () => {
  const { accountId, client } = await openMerchant(gateway);
  await addFeeRule(gateway.db, { accountId, percentage: '0.7', fixed: '0.3', min: '1.1' });
  for (const amount of ['10', '333.33333333']) {
    const { json } = await quote(client, { amount });
    const id = await acceptedPayout(client, { amount });
    const payout = (await client.get(`/payouts/${id}`)).json.data;
    expect(payout.service_fee).toBe(json.service_fee);
  }
});

test.each([
  ['direction', 'unsupported', 'both'],
  ['direction', 'unsupported', ''],
  ['provider', 'unknown_provider', 'bank'],
  ['currency', 'format', 'usdt'],
  ['currency', 'unsupported', 'DOGE'],
  ['amount', 'format', '0'],
  ['amount', 'format', '-1'],
  ['amount', 'format', '1e2'],
  ['amount', 'format', '1.123456789'],
  ['amount', 'format', ''],
])('a bad %s is %s: "%s"', async (field, rule, value) => {
  const { client } = await openMerchant(gateway);
  const { status, json } = await quote(client, { [field]: value });
  expect([status, json.error.code]).toEqual([422, 'validation_failed']);
  const message = expect.stringMatching(/^\S.*\.$/);
  expect(json.error.details.fields).toEqual([{ field, rule, message }]);
});

test.each([
  ['', ['amount required', 'currency required', 'direction required', 'provider required']],
  [
    'direction=x&provider=y&currency=z&amount=-1',
    ['amount format', 'currency format', 'direction unsupported', 'provider unknown_provider'],
  ],
  [
    'direction=payin&provider=bank&amount=1&amount=2',
    ['amount format', 'currency required', 'provider unknown_provider'],
  ],
])('all that is wrong is told at once: "%s"', async (query, expected) => {
  const { client } = await openMerchant(gateway);
  const { status, json } = await client.get(`/fees/quote?${query}`);
  expect(status).toBe(422);
  const fields = json.error.details.fields as { field: string; rule: string }[];
  expect(fields.map(({ field, rule }) => `${field} ${rule}`).sort()).toEqual(expected);
});

test('what a provider does not move has no quote: a currency of another, or one not enabled', async () => {
  const { client } = await openMerchant(gateway);
  const there = new MerchantClient(await gateway.startWithout('EXCHANGE_PAY_LIVE_'), client.apiKey);
  const answers = [
    await quote(client, { provider: 'exchange_pay', currency: 'XRP' }),
    await quote(there, { provider: 'exchange_pay' }),
  ];
  for (const { status, json } of answers) {
    expect([status, json.error.code]).toEqual([422, 'validation_failed']);
    expect(json.error.details.fields).toHaveLength(1);
  }
});
