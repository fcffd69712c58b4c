/** Refusals of POST /payouts: each with its code and details, and with nothing left behind. */
import { brokenInvariants } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/merchant';
import { buildPayout, randomKey } from '../../support/merchant/merchant-client';
import { buildPayment } from '../../support/payment/payment-steps';
import {
  balanceOf,
  countPayouts,
  keyStates,
  openMerchant,
} from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(sharedInRoom('direct', startDirectGateway));

const EXCHANGE_ID = { type: 'exchange_id', value: '123456789' };
const EMAIL = { type: 'email', value: 'payee@example.com' };
const EVM = { type: 'crypto_address', value: '0x2000000000000000000000000000000000009000' };
const BITCOIN = {
  type: 'crypto_address',
  value: 'bc1qyqqqqqqqqqqqqqqqqqqqqqqqqqqqpyqqmelez6',
};
const XRP = { type: 'crypto_address', value: 'rsvUd9swLeZMiRtm3R8vhWu5xLPFx3MiXn' };
const SUPPORTED = [
  { provider: 'onchain_provider', destination_types: ['crypto_address'] },
  { provider: 'exchange_pay', destination_types: ['exchange_id', 'email'] },
];

const field = (name: string, rule: string) => ({
  fields: [{ field: name, rule, message: expect.stringMatching(/./) }],
});

test.each<{ why: string; body: Record<string, unknown>; code: string; details: object }>([
  {
    why: 'the balance does not cover total_debit, fees included',
    body: { amount: '990' },
    code: 'insufficient_balance',
    details: { currency: 'USDT', available: '1000.00000000', required: '1000.90000000' },
  },
  {
    why: 'the account never had this currency',
    body: { currency: 'USDC', amount: '10' },
    code: 'insufficient_balance',
    details: { currency: 'USDC', available: '0.00000000', required: '11.10000000' },
  },
  {
    why: 'exchange_pay cannot pay to blockchain addresses',
    body: { provider: 'exchange_pay' },
    code: 'destination_not_supported',
    details: {
      currency: 'USDT',
      provider: 'exchange_pay',
      destination_type: 'crypto_address',
      supported: SUPPORTED,
    },
  },
  {
    why: 'onchain_provider cannot pay to an email address',
    body: { provider: 'onchain_provider', destination: EMAIL },
    code: 'destination_not_supported',
    details: {
      currency: 'USDT',
      provider: 'onchain_provider',
      destination_type: 'email',
      supported: SUPPORTED,
    },
  },
  {
    why: 'no provider pays this currency to an exchange account',
    body: { currency: 'XRP', destination: EXCHANGE_ID },
    code: 'destination_not_supported',
    details: {
      currency: 'XRP',
      provider: null,
      destination_type: 'exchange_id',
      supported: [{ provider: 'onchain_provider', destination_types: ['crypto_address'] }],
    },
  },
  {
    why: 'the provider that is named does not have the currency',
    body: {
      currency: 'XRP',
      provider: 'exchange_pay',
      destination: EXCHANGE_ID,
      network: undefined,
    },
    code: 'validation_failed',
    details: field('provider', 'unsupported'),
  },
  {
    why: 'an address needs a network',
    body: { network: undefined },
    code: 'network_required',
    details: {
      provider: 'onchain_provider',
      currency: 'USDT',
      networks: expect.arrayContaining(['ethereum', 'tron']),
    },
  },
  {
    why: 'no provider knows the currency',
    body: { currency: 'DOGE' },
    code: 'validation_failed',
    details: field('currency', 'unsupported'),
  },
  {
    why: 'the currency does not live on the network',
    body: { network: 'bitcoin' },
    code: 'validation_failed',
    details: field('network', 'unsupported'),
  },
  {
    why: 'an internal transfer has no blockchain network',
    body: { destination: EXCHANGE_ID, network: 'tron' },
    code: 'validation_failed',
    details: field('network', 'unsupported'),
  },
  {
    why: 'the amount is below the least of its route',
    body: { amount: '0.99999999' },
    code: 'validation_failed',
    details: field('amount', 'min_amount'),
  },
  {
    why: 'an internal transfer has a least amount of its own',
    body: { destination: EXCHANGE_ID, network: undefined, amount: '0.00999999' },
    code: 'validation_failed',
    details: field('amount', 'min_amount'),
  },
  {
    why: 'nobody said whether an XRP address has a tag',
    body: { currency: 'XRP', network: 'xrpl', destination: XRP },
    code: 'validation_failed',
    details: field('destination.memo', 'memo_required'),
  },
  {
    why: 'a tag is a number of 32 bits',
    body: { currency: 'XRP', network: 'xrpl', destination: { ...XRP, memo: '4294967296' } },
    code: 'validation_failed',
    details: field('destination.memo', 'format'),
  },
  {
    why: 'ethereum takes no memo',
    body: { destination: { ...EVM, memo: '7' }, network: 'ethereum' },
    code: 'validation_failed',
    details: field('destination.memo', 'memo_not_supported'),
  },
  {
    why: 'an exchange account takes no memo',
    body: { destination: { ...EXCHANGE_ID, memo: '7' }, network: undefined },
    code: 'validation_failed',
    details: field('destination.memo', 'memo_not_supported'),
  },
])(
  '$code when $why [error 422 insufficient_balance] [error 422 destination_not_supported] [error 422 network_required]',
  async ({ body, code, details }) => {
    const { accountId, client } = await openMerchant(gateway, { funds: { USDT: '1000' } });
    const answer = await client.createPayout(buildPayout(body), 'key-1');
    expect(answer).toMatchObject({ status: 422, json: { error: { code, details } } });
    expect(answer.json.error.details).toEqual(details);
    expect(await countPayouts(gateway, accountId)).toBe(0);
    expect(await keyStates(gateway, accountId)).toEqual({});
    expect(await balanceOf(client)).toMatchObject({ available: '1000.00000000' });

    // The key is free for a request that can pass.
    expect(await client.createPayout(buildPayout(), 'key-1')).toMatchObject({ status: 201 });
  },
);

test.each([
  { spelled: 'with the same body', changes: {} },
  {
    spelled: 'in another currency',
    changes: { currency: 'BTC', amount: '0.1', network: 'bitcoin' },
  },
  { spelled: 'in a currency that nobody has', changes: { currency: 'DOGE' } },
  { spelled: 'without a network', changes: { network: undefined } },
  { spelled: 'below the minimum', changes: { amount: '0.00000001' } },
  {
    spelled: 'with an address that does not exist',
    changes: {
      destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u' },
    },
  },
] as { spelled: string; changes: Record<string, unknown> }[])(
  'a used reference is refused $spelled, also with a new key [error 409 duplicate_reference]',
  async ({ changes }) => {
    const { accountId, client, otherMode } = await openMerchant(gateway, {
      funds: { USDT: '1000', BTC: '1' },
    });
    const body = buildPayout();
    const first = await client.createPayout(body);
    const destination = changes.currency === 'BTC' ? { destination: BITCOIN } : {};
    const again = { ...body, ...changes, ...destination };
    expect(await client.createPayout(again)).toMatchObject({
      status: 409,
      json: {
        error: {
          code: 'duplicate_reference',
          details: { existing_id: first.json.data.id, existing_object: 'payout' },
        },
      },
    });
    expect(await countPayouts(gateway, accountId)).toBe(1);
    await fund(gateway.db, accountId, 'test', 'USDT', '100');
    expect(await otherMode.createPayout(body)).toMatchObject({ status: 201 });
  },
);

test('requests with one reference at the same time make one payout', async () => {
  const { accountId, client } = await openMerchant(gateway, {
    funds: { USDT: '1000', USDC: '1000' },
  });
  const reference = `ref-${randomKey()}`;
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      client.createPayout(buildPayout({ reference, currency: index % 2 ? 'USDC' : 'USDT' })),
    ),
  );
  const [made, ...others] = answers.filter(({ status }) => status === 201);
  expect(others).toEqual([]);
  const details = { existing_id: made!.json.data.id, existing_object: 'payout' };
  for (const answer of answers.filter((one) => one !== made)) {
    expect(answer).toMatchObject({ status: 409, json: { error: { details } } });
  }
  expect(await countPayouts(gateway, accountId)).toBe(1);
  expect(await brokenInvariants(gateway)).toEqual([]);
});

test.each([
  { destination: EVM, network: 'ethereum', provider: 'onchain_provider' },
  { destination: EXCHANGE_ID, network: undefined, provider: 'exchange_pay' },
  { destination: EMAIL, network: undefined, provider: 'exchange_pay' },
])('without provider $destination.type goes through $provider', async (row) => {
  const { client } = await openMerchant(gateway);
  const { destination, network, provider } = row;
  const answer = await client.createPayout(buildPayout({ destination, network }));
  expect(answer).toMatchObject({ status: 201, json: { data: { provider } } });
});

test('an XRP payout goes to a wallet without a tag when the request says so', async () => {
  const { client } = await openMerchant(gateway, { funds: { XRP: '100' } });
  const destination = { ...XRP, memo: null };
  const body = buildPayout({ currency: 'XRP', network: 'xrpl', destination });
  const first = await client.createPayout(body, 'key-1');
  expect(first).toMatchObject({ status: 201, json: { data: { destination } } });
  expect(await client.createPayout(body, 'key-1')).toMatchObject({ text: first.text });
  const empty = { ...body, reference: `ref-${randomKey()}`, destination: { ...XRP, memo: '' } };
  expect(await client.createPayout(empty)).toMatchObject({
    status: 422,
    json: { error: { details: field('destination.memo', 'memo_required') } },
  });
});

test('an XRP payout carries its tag', async () => {
  const { client } = await openMerchant(gateway, { funds: { XRP: '100' } });
  const destination = { ...XRP, memo: '4294967295' };
  const body = buildPayout({ currency: 'XRP', network: 'xrpl', destination });
  expect(await client.createPayout(body)).toMatchObject({
    status: 201,
    json: { data: { destination, network_fee: '0.00010000' } },
  });
});

describe('an amount with more decimals than its currency has on the network', () => {
  const more = { currency: 'XRP', network: 'xrpl', amount: '25.0000001' };
  const row = (changes: Record<string, unknown> = {}) =>
    buildPayout({ ...more, destination: { ...XRP, memo: null }, ...changes });
  const fields = [
    { field: 'amount', rule: 'format', message: expect.stringContaining('decimals') },
  ];
  const refusal = { code: 'validation_failed', details: { fields } };

  test('is refused in a payout, a payment, a row of a batch or a schedule and their dry runs, before anything is kept', async () => {
    const { accountId, client } = await openMerchant(gateway, { funds: { XRP: '100' } });
    const rows = { payouts: [row(), row({ amount: '25.000001' })] };
    const schedule = { ...rows, reference: 'monthly', interval_seconds: 3_600 };
    const rowRefusal = { refused_rows: [{ row: 1, ...refusal }] };
    const post = async (path: string, body: Record<string, unknown>, key = randomKey()) => {
      const { status, json } = await client.create(path, body, key);
      return [status, json.error ?? json.data];
    };
    const refused = [422, expect.objectContaining(refusal)];
    const shown = [200, expect.objectContaining({ valid: false })];
    expect(await post('/payouts', row(), 'key-1')).toEqual(refused);
    expect(await post('/payments', buildPayment(more))).toEqual(refused);
    for (const [path, body] of [
      ['/payout_batches', { ...rows, reference: 'monthly' }],
      ['/payout_schedules', schedule],
    ] as const) {
      const [status, data] = await post(path, { ...body, dry_run: true });
      expect([status, data]).toEqual(shown);
      expect(data).toMatchObject(rowRefusal);
      const [code, error] = await post(path, body);
      expect([code, error.details.rows]).toMatchObject([422, rowRefusal.refused_rows]);
    }
    expect(await keyStates(gateway, accountId)).toEqual({});
    expect(await balanceOf(client, 'XRP')).toMatchObject({ available: '100.00000000' });
    expect(await post('/payouts', row({ amount: '25.000001' }), 'key-1')).toMatchObject([201, {}]);
  });

  test('is refused with 422 by the payment’s provider too, whatever the gateway could know', async () => {
    const { accountId, client } = await openMerchant(gateway, { funds: {} });
    const order = buildPayment({ network: 'tron', amount: '25.00009101' });
    const first = await client.createPayment(order, 'key-1');
    expect(first).toMatchObject({ status: 422, json: { error: refusal } });
    expect(await client.createPayment(order, 'key-1')).toMatchObject({ status: 422 });
    expect(await keyStates(gateway, accountId)).toEqual({});
    const sound = { ...order, amount: '25' };
    expect(await client.createPayment(sound, 'key-1')).toMatchObject({ status: 201 });
  });
});
