/** The main job over HTTP: a payout from request to its end, with the operator's part in it. */
import { useSharedGateway, isSound } from '../../support/servers/gateway';
import { buildPayout } from '../../support/merchant/merchant-client';
import {
  approve,
  balanceOf,
  magic,
  openMerchant,
  reject,
  whenFinal,
} from '../../support/payout/payout-steps';
import { readBookEntry } from '../../support/servers/sandbox';
import { started } from '../../support/started';

const gateway = started(useSharedGateway, isSound);

test.concurrent(
  'a live payout waits for an operator, is sent, and is debited by exactly total_debit [endpoint POST /payouts]',
  async () => {
    const { client } = await openMerchant(gateway);
    const created = await client.createPayout(buildPayout({ amount: '10000' }));
    expect(created.status).toBe(201);
    expect(created.headers.get('idempotent-replayed')).toBeNull();
    expect(created.json.data).toMatchObject({
      object: 'payout',
      mode: 'live',
      status: 'under_review',
      amount: '10000.00000000',
      service_fee: '100.00000000',
      network_fee: '1.00000000',
      total_debit: '10101.00000000',
      tx_hash: null,
    });
    expect(await balanceOf(client)).toMatchObject({
      available: '9899.00000000',
      reserved: '10101.00000000',
    });

    const { id } = created.json.data;
    await approve(gateway, id);
    const payout = await whenFinal(client, id);
    const sent = await readBookEntry(gateway.sandbox.url, id);
    expect(payout).toMatchObject({ status: 'completed', tx_hash: sent?.tx_hash });
    expect(sent).toMatchObject({ status: 'sent', amount: '10000.00000000', times_sent: 1 });
    expect(await balanceOf(client)).toMatchObject({
      available: '9899.00000000',
      reserved: '0.00000000',
    });
  },
);

test.concurrent.each([
  {
    way: 'rejected by the operator',
    end: { status: 'rejected', rejection_reason: 'sanctions hit', failure_reason: null },
    finish: (id: string) => reject(gateway, id, 'sanctions hit'),
  },
  {
    way: 'refused by the provider',
    destination: magic('refuses'),
    end: { status: 'failed', rejection_reason: null, failure_reason: expect.stringMatching(/./) },
    finish: (id: string) => approve(gateway, id),
  },
  {
    way: 'failed at the provider',
    destination: magic('fails_later'),
    end: { status: 'failed', rejection_reason: null, failure_reason: expect.stringMatching(/./) },
    finish: (id: string) => approve(gateway, id),
  },
])('a payout that is $way gives everything back', async ({ destination, end, finish }) => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '500' } });
  const body = buildPayout({ amount: '300', ...(destination && { destination }) });
  const { json } = await client.createPayout(body);
  expect(await balanceOf(client)).toMatchObject({ available: '196.00000000' });

  await finish(json.data.id);

  expect(await whenFinal(client, json.data.id)).toMatchObject({ ...end, tx_hash: null });
  expect(await balanceOf(client)).toMatchObject({
    available: '500.00000000',
    reserved: '0.00000000',
  });
});

test.concurrent(
  'a payout that the merchant cancels gives everything back and is never sent',
  async () => {
    const { client } = await openMerchant(gateway, { funds: { USDT: '500' } });
    const { json } = await client.createPayout(buildPayout({ amount: '300' }));
    const cancelled = await client.post(`/payouts/${json.data.id}/cancel`);
    expect(cancelled.json.data).toMatchObject({ id: json.data.id, status: 'cancelled' });
    expect(await balanceOf(client)).toMatchObject({ available: '500.00000000' });
    expect(await readBookEntry(gateway.sandbox.url, json.data.id)).toBeUndefined();
  },
);

test.concurrent.each([
  { type: 'exchange_id', value: '123456789' },
  { type: 'email', value: 'payee@example.com' },
])('a payout to an $type has no network, no network fee and no tx_hash', async (destination) => {
  const { client } = await openMerchant(gateway);
  const body = buildPayout({ amount: '10000', destination, network: undefined });
  const { status, json } = await client.createPayout(body);
  expect(status).toBe(201);
  expect(json.data).toMatchObject({
    provider: 'exchange_pay',
    network: null,
    destination: { ...destination, memo: null },
    service_fee: '100.00000000',
    network_fee: '0.00000000',
    total_debit: '10100.00000000',
  });
  await approve(gateway, json.data.id);
  expect(await whenFinal(client, json.data.id)).toMatchObject({
    status: 'completed',
    tx_hash: null,
  });
  expect(await balanceOf(client)).toMatchObject({ available: '9900.00000000' });
});

test.concurrent(
  'without review_all a live payout to a known destination approves itself',
  async () => {
    const { client } = await openMerchant(gateway, { reviewAll: false });
    const first = await client.createPayout(buildPayout());
    // Nobody was paid there before.
    expect(first.json.data.status).toBe('under_review');
    await approve(gateway, first.json.data.id);
    await whenFinal(client, first.json.data.id);

    const second = await client.createPayout(buildPayout());
    expect(second.json.data.status).toBe('requested');
    expect(await whenFinal(client, second.json.data.id)).toMatchObject({ status: 'completed' });
    const [row] = await gateway.db.query<{ decidedBy: string | null }>(
      'SELECT decided_by FROM payouts WHERE id = ?',
      [second.json.data.id],
    );
    expect(row).toEqual({ decidedBy: null });
  },
);

test.concurrent('rehearse_review lets an account try an operator in test mode', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', rehearseReview: true });
  const { json } = await client.createPayout(buildPayout());
  expect(json.data.status).toBe('under_review');
  await approve(gateway, json.data.id);
  expect(await whenFinal(client, json.data.id)).toMatchObject({ status: 'completed' });
});
