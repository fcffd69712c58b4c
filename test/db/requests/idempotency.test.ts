/** Idempotency keys of POST /payouts and POST /payments, over HTTP (the specification; decisions/api#idempotency). */
import { brokenInvariants } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient, randomKey } from '../../support/merchant/merchant-client';
import {
  balanceOf,
  countPayouts,
  keyStates,
  openMerchant,
  sendUntilAnswered,
} from '../../support/payout/payout-steps';
import { buildPayment, checkoutOf } from '../../support/payment/payment-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);
const second = started(async () => ({ baseUrl: await gateway.startWithout() }));

test('the same request again is answered with the same bytes, whatever became of the payout [idempotency first request with a key] [idempotency same key, same body, after success]', async () => {
  const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
  const body = buildPayout({ metadata: { zebra: '1', ant: '2' }, description: 'Füllung' });
  const first = await client.createPayout(body, 'key-1');
  expect(first.status).toBe(201);
  const again = await client.createPayout(body, 'key-1');
  await gateway.drive(first.json.data.id);
  const later = await new MerchantClient(second.baseUrl, client.apiKey).createPayout(body, 'key-1');
  for (const replay of [again, later]) {
    expect(replay).toMatchObject({ status: 201, text: first.text });
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(replay.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  }
  expect(await countPayouts(gateway, accountId)).toBe(1);
});

const REFERENCE = 'ref-1';
const ADDRESS = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const PLAIN = `{"amount":"1","currency":"USDT","network":"tron","reference":"${REFERENCE}",
  "destination":{"type":"crypto_address","value":"${ADDRESS}"}}`;

test.each([
  ['an amount with more zeros', PLAIN.replace('"1"', '"1.00000000"')],
  ['an amount with leading zeros', PLAIN.replace('"1"', '"001.0"')],
  ['an amount as a number', PLAIN.replace('"1"', '1.0')],
  ['an amount as a number with an exponent', PLAIN.replace('"1"', '10e-1')],
  [
    'members in another order',
    `{"destination":{"value":"${ADDRESS}","type":"crypto_address"},"reference":"${REFERENCE}",
      "network":"tron","currency":"USDT","amount":"1"}`,
  ],
  [
    'null instead of absent',
    PLAIN.replace('{"amount"', '{"provider":null,"description":null,"metadata":null,"amount"'),
  ],
  ['an absent memo as null', PLAIN.replace('"type"', '"memo":null,"type"')],
  ['no metadata as an empty object', PLAIN.replace('{"amount"', '{"metadata":{},"amount"')],
  ['escaped characters', PLAIN.replace('"USDT"', '"\\u0055SDT"')],
])('%s is the same request', async (_what, text) => {
  const { client } = await openMerchant(gateway);
  const first = await client.createFromText('/payouts', PLAIN, 'key-1');
  expect(first.status).toBe(201);
  const again = await client.createFromText('/payouts', text, 'key-1');
  expect(again).toMatchObject({ status: 201, text: first.text });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});

const PAYMENT = `{"amount":"1","currency":"USDT","reference":"${REFERENCE}"}`;

test.each([
  ['an amount with more zeros', PAYMENT.replace('"1"', '"1.00000000"')],
  ['an amount as a number', PAYMENT.replace('"1"', '1.0')],
  ['members in another order', `{"reference":"${REFERENCE}","currency":"USDT","amount":"1"}`],
  [
    'null instead of absent',
    PAYMENT.replace('{', '{"provider":null,"network":null,"metadata":null,"success_url":null,'),
  ],
  ['no metadata as an empty object', PAYMENT.replace('{', '{"metadata":{},')],
])('%s is the same request for a payment', async (_what, text) => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const first = await client.createFromText('/payments', PAYMENT, 'key-1');
  expect(first.status).toBe(201);
  const again = await client.createFromText('/payments', text, 'key-1');
  expect(again).toMatchObject({ status: 201, text: first.text });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});

test('metadata in another order is the same request', async () => {
  const { client } = await openMerchant(gateway);
  const withMetadata = (text: string) => PLAIN.replace('{"amount"', `{"metadata":${text},"amount"`);
  const first = await client.createFromText('/payouts', withMetadata('{"b":"1","a":"2"}'), 'key-1');
  const again = await client.createFromText('/payouts', withMetadata('{"a":"2","b":"1"}'), 'key-1');
  expect(again).toMatchObject({ status: 201, text: first.text });
});

test.each([
  ['amount', PLAIN.replace('"1"', '"1.00000001"')],
  ['reference', PLAIN.replace(REFERENCE, 'ref-2')],
  ['destination', PLAIN.replace(ADDRESS, 'TCtQdCQtVNgK1bxPihSdafbrs899D2dH3W')],
  ['provider', PLAIN.replace('{"amount"', '{"provider":"onchain_provider","amount"')],
  ['metadata', PLAIN.replace('{"amount"', '{"metadata":{"a":"1"},"amount"')],
])('the key with another %s is refused', async (_what, text) => {
  const { accountId, client } = await openMerchant(gateway);
  await client.createFromText('/payouts', PLAIN, 'key-1');
  const answer = await client.createFromText('/payouts', text, 'key-1');
  expect(answer).toMatchObject({
    status: 422,
    json: { error: { code: 'idempotency_key_reused' } },
  });
  expect(answer.headers.get('idempotent-replayed')).toBeNull();
  expect(await countPayouts(gateway, accountId)).toBe(1);
});

test('a replay is recognised before anything that would refuse a new request', async () => {
  const { accountId, client } = await openMerchant(gateway, { funds: { USDT: '11.1' } });
  const body = buildPayout();
  const first = await client.createPayout(body, 'key-1');
  await gateway.db.query(
    `INSERT INTO payout_policies (account_id, currency, daily_max) VALUES (?, 'USDT', 1)`,
    [accountId],
  );
  await gateway.db.query(
    `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'x')`,
    [accountId],
  );
  expect(await client.createPayout(body, 'key-1')).toMatchObject({ status: 201, text: first.text });
});

test('a refused request stores nothing, and its key takes any other', async () => {
  const { accountId, client } = await openMerchant(gateway, { funds: { USDT: '100' } });
  const refusals = [
    { body: buildPayout({ amount: 'much' }), code: 'validation_failed' },
    { body: buildPayout({ amount: '1000' }), code: 'insufficient_balance' },
    { body: buildPayout({ network: undefined }), code: 'network_required' },
  ];
  for (const { body, code } of refusals) {
    expect(await client.createPayout(body, 'key-1')).toMatchObject({ json: { error: { code } } });
    expect(await keyStates(gateway, accountId)).toEqual({});
  }
  const answer = await client.createPayout(buildPayout(), 'key-1');
  expect(answer.status).toBe(201);
  expect(answer.headers.get('idempotent-replayed')).toBeNull();
});

test('a key belongs to one account and one mode', async () => {
  const one = await openMerchant(gateway, { funds: { USDT: '100' } });
  const two = await openMerchant(gateway, { funds: { USDT: '100' } });
  const body = buildPayout();
  const first = await one.client.createPayout(body, 'key-1');
  const second = await two.client.createPayout(body, 'key-1');
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.json.data.id).not.toBe(first.json.data.id);
  await fund(gateway.db, one.accountId, 'test', 'USDT', '100');
  const third = await one.otherMode.createPayout(body, 'key-1');
  expect(third).toMatchObject({ status: 201, json: { data: { mode: 'test' } } });
  expect(third.headers.get('idempotent-replayed')).toBeNull();
  expect(third.json.data.id).not.toBe(first.json.data.id);
});

/** What the key of a request protects from being made twice. */
const KINDS = {
  payout: {
    create: (client: MerchantClient, body: unknown) => client.createPayout(body, 'key-1'),
    build: buildPayout,
    count: (accountId: string) => countRows('payouts', accountId),
  },
  payment: {
    create: (client: MerchantClient, body: unknown) => client.createPayment(body, 'key-1'),
    build: buildPayment,
    count: (accountId: string) => countRows('payments', accountId),
  },
};
const KIND_NAMES = ['payout', 'payment'] as const;

async function countRows(table: 'payouts' | 'payments', accountId: string): Promise<number> {
  return (await gateway.db.query(`SELECT 1 FROM ${table} WHERE account_id = ?`, [accountId]))
    .length;
}

test.each(KIND_NAMES)('after 24 hours the key of a %s starts a new request', async (kind) => {
  const { create, build, count } = KINDS[kind];
  const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
  const body = build();
  const first = await create(client, body);
  const setBack = (hours: string) =>
    gateway.db.query(
      `UPDATE idempotency_keys SET completed_at = now() - ?::interval WHERE account_id = ?`,
      [hours, accountId],
    );
  await setBack('23 hours 59 minutes');
  expect(await create(client, body)).toMatchObject({ text: first.text });
  await setBack('24 hours 1 second');
  const fresh = await create(client, { ...body, reference: `ref-${randomKey()}` });
  expect(fresh.status).toBe(201);
  expect(fresh.headers.get('idempotent-replayed')).toBeNull();
  expect(fresh.json.data.id).not.toBe(first.json.data.id);
  await setBack('24 hours 1 second');
  // The reference protects the merchant beyond the key's day.
  expect(await create(client, body)).toMatchObject({
    status: 409,
    json: { error: { details: { existing_id: first.json.data.id } } },
  });
  expect(await count(accountId)).toBe(2);
});

const BOTH = [
  { through: 'one API process', urls: () => [gateway.baseUrl] },
  { through: 'two API processes', urls: () => [gateway.baseUrl, second.baseUrl] },
];

test.each(KIND_NAMES.flatMap((kind) => BOTH.map((both) => ({ kind, ...both }))))(
  'a $kind sent 20 times at once through $through is made once [idempotency same key while the first is running] [error 409 request_in_progress]',
  async ({ kind, urls }) => {
    const { create, build, count } = KINDS[kind];
    const { accountId, client } = await openMerchant(gateway, { mode: 'test' });
    const clients = urls().map((url) => new MerchantClient(url, client.apiKey));
    const body = build();
    const send = (index: number) => create(clients[index % clients.length]!, body);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send(index)));

    const created = answers.filter(({ status }) => status === 201);
    expect(created.filter(({ headers }) => !headers.has('idempotent-replayed')).length).toBe(1);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter((one) => one.status !== 201)) {
      expect(answer).toMatchObject({
        status: 409,
        json: { error: { code: 'request_in_progress' } },
      });
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    expect(await count(accountId)).toBe(1);
    expect(await sendUntilAnswered(() => send(0))).toMatchObject({ text: created[0]!.text });
    expect(await brokenInvariants(gateway)).toEqual([]);
  },
);

test('of a payout sent 20 times at once, the funds are reserved once', async () => {
  const { client } = await openMerchant(gateway);
  const body = buildPayout();
  await Promise.all(Array.from({ length: 20 }, () => client.createPayout(body, 'key-1')));
  expect(await balanceOf(client)).toMatchObject({ reserved: '11.10000000' });
});

test('of a payment sent 20 times at once, the provider has one open checkout', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const body = buildPayment();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.createPayment(body, 'key-1')),
  );
  const ids = answers.flatMap(({ status, json }) => (status === 201 ? [json.data.id] : []));
  expect(new Set(ids).size).toBe(1);
  expect((await checkoutOf(gateway, ids[0])).state).toBe('open');
});
