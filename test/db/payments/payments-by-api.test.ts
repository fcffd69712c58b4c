/** Payments over HTTP: the list, the rates of questions, scopes and references. */
import { createKey, createMerchant } from '../../support/merchant/merchant';
import { buildPayout, MerchantClient } from '../../support/merchant/merchant-client';
import { openMerchant as openPayoutMerchant } from '../../support/payout/payout-steps';
import { buildPayment, openedPayment } from '../../support/payment/payment-steps';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);

async function openMerchant() {
  const merchant = await createMerchant(gateway.db, gateway.pepper);
  return new MerchantClient(gateway.baseUrl, merchant.testKey);
}

test('[endpoint GET /payments] payments are listed newest first, and filtered', async () => {
  const client = await openMerchant();
  const ids: string[] = [];
  for (const currency of ['USDT', 'BTC', 'USDT']) {
    const amount = currency === 'BTC' ? '0.5' : '100';
    const { json } = await client.createPayment(buildPayment({ currency, amount }));
    ids.unshift(json.data.id);
  }
  const listed = async (query: string) => {
    const { json } = await client.get(`/payments${query}`);
    return (json.data as { id: string }[]).map(({ id }) => id);
  };
  expect(await listed('')).toEqual(ids);
  expect(await listed('?currency=BTC')).toEqual([ids[1]]);
  expect(await listed('?status=completed')).toEqual([]);
  const { json } = await client.get('/payments?limit=2');
  expect(await listed(`?limit=2&cursor=${json.meta.next_cursor}`)).toEqual([ids[2]]);
});

test('[endpoint POST /payments/{id}/verify] [limit verify rate] an open payment is checked six times a minute', async () => {
  const client = await openMerchant();
  const id = await openedPayment(client);
  const statuses: number[] = [];
  // Two minutes at the most: the window may turn in between.
  while (statuses.at(-1) !== 429 && statuses.length < 14) {
    statuses.push((await client.post(`/payments/${id}/verify`)).status);
  }
  expect(statuses.length).toBeGreaterThanOrEqual(7);
  expect(statuses.at(-1)).toBe(429);
  // A check whose answer is late is answered with 503, and counts.
  expect(new Set(statuses.filter((status) => status !== 503))).toEqual(new Set([200, 429]));
});

test('[endpoint POST /payments/{id}/cancel] a payment is asked to be cancelled six times a minute', async () => {
  const client = await openMerchant();
  const refusedAfterSix = async () => {
    const { id } = (await client.createPayment(buildPayment())).json.data;
    await gateway.db.query(
      `INSERT INTO payment_verifications (payment_id, minute, cancellations)
       VALUES (?, date_trunc('minute', now()), 6)`,
      [id],
    );
    const { status, json } = await client.post(`/payments/${id}/cancel`);
    // They are counted apart.
    expect((await client.post(`/payments/${id}/verify`)).status).toBe(200);
    return [status, json.error?.code];
  };
  const first = await refusedAfterSix();
  // The minute may end in between.
  expect(first[0] === 200 ? await refusedAfterSix() : first).toEqual([429, 'rate_limited']);
});

test('[scope payments:write] a key without the scope neither creates nor verifies', async () => {
  const merchant = await createMerchant(gateway.db, gateway.pepper);
  const { accountId } = merchant;
  const scopes = ['payments:read'] as const;
  const key = await createKey(gateway.db, gateway.pepper, { accountId, mode: 'test', scopes });
  const client = new MerchantClient(gateway.baseUrl, key);
  const refused = {
    status: 403,
    json: { error: { details: { required_scope: 'payments:write' } } },
  };
  expect(await client.createPayment(buildPayment())).toMatchObject(refused);
  const id = await openedPayment(new MerchantClient(gateway.baseUrl, merchant.testKey));
  expect(await client.post(`/payments/${id}/verify`)).toMatchObject(refused);
  expect((await client.get(`/payments/${id}`)).status).toBe(200);
});

test('a payment request is idempotent, and its reference is unique', async () => {
  const client = await openMerchant();
  const body = buildPayment();
  const first = await client.createPayment(body, 'key-1');
  const replay = await client.createPayment(body, 'key-1');
  expect([replay.text, replay.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  expect(await client.createPayment(body, 'key-2')).toMatchObject({
    status: 409,
    json: {
      error: { code: 'duplicate_reference', details: { existing_id: first.json.data.id } },
    },
  });
  expect((await client.createPayment({ ...body, amount: '1000' }, 'key-1')).status).toBe(422);
});

test('a payment and a payout may have the same reference', async () => {
  const { client } = await openPayoutMerchant(gateway, { mode: 'test' });
  const body = buildPayout();
  expect((await client.createPayout(body)).status).toBe(201);
  const { status, json } = await client.createPayment(buildPayment({ reference: body.reference }));
  expect({ status, reference: json.data.reference }).toEqual({
    status: 201,
    reference: body.reference,
  });
});
