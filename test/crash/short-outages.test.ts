/**
 * A provider, or the worker, is away for a moment: what merchants and operators see meanwhile, and
 * that it goes on afterwards. Every outage of each provider is in
 * test/crash/scenario-outages.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { brokenInvariants, startGateway } from '../support/servers/gateway';
import { buildPayout, type MerchantClient } from '../support/merchant/merchant-client';
import {
  atProvider,
  checkoutOf,
  decide,
  eventsOf,
  openedPayment,
  postingsOf,
  whenDetails,
  whenPayment,
} from '../support/payment/payment-steps';
import {
  acceptedPayout,
  approve,
  balanceOf,
  countPayouts,
  keyStates,
  magic,
  openMerchant,
  reject,
  whenPayout,
} from '../support/payout/payout-steps';
import { control } from '../support/servers/sandbox';
import { started } from '../support/started';

const EVM = { type: 'crypto_address', value: '0x2000000000000000000000000000000000009000' };

const gateway = started(startGateway);

afterEach(async () => {
  expect(await brokenInvariants(gateway)).toEqual([]);
});

const cancel = (client: MerchantClient, id: string) => client.post(`/payouts/${id}/cancel`);

const invalidState = (status: string) => ({
  status: 409,
  json: { error: { code: 'invalid_state', details: { status } } },
});

test('a test payout passes all its statuses by itself, each with an event of what GET showed', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test' });
  const outage = { provider: 'onchain_provider', mode: 'test' };
  // The provider's fee is known from another payout, so that the outage may begin before this one.
  await whenPayout(client, await acceptedPayout(client), 'completed');
  await control(gateway.sandbox.url, 'outage', { ...outage, kind: 'answer_503' });
  const created = await client.createPayout(buildPayout({ destination: magic('never_settles') }));
  const { id } = created.json.data;
  const seen = [created.json.data];

  seen.push(await whenPayout(client, id, 'approved'));
  await control(gateway.sandbox.url, 'outage', { ...outage, kind: null });
  seen.push(await whenPayout(client, id, 'processing'));
  await control(gateway.sandbox.url, 'transfers/settle', { ...outage, client_reference: id });
  await gateway.temporal.workflow.getHandle(id).signal('providerUpdate');
  seen.push(await whenPayout(client, id, 'completed'));

  const events = await gateway.db.query<{
    id: string;
    type: string;
    sequence: number;
    body: Buffer;
  }>('SELECT id, type, sequence, body FROM events WHERE object_id = ? ORDER BY sequence', [id]);
  expect(events.map(({ type, sequence }) => [sequence, type])).toEqual([
    [1, 'payout.requested'],
    [2, 'payout.approved'],
    [3, 'payout.processing'],
    [4, 'payout.completed'],
  ]);
  const bodies = events.map(({ body }) => JSON.parse(body.toString()));
  expect(bodies.map(({ data }) => data)).toEqual(seen);
  expect(bodies.map((body) => [body.id, body.type, body.sequence, body.mode])).toEqual(
    events.map((event) => [event.id, event.type, event.sequence, 'test']),
  );
});

test('what is on its way or has ended cannot be cancelled [error 409 invalid_state]', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '1000' } });
  const outage = { provider: 'onchain_provider', mode: 'live' };
  const id = await acceptedPayout(client, { destination: magic('never_settles') });
  await control(gateway.sandbox.url, 'outage', { ...outage, kind: 'answer_503' });
  await approve(gateway, id);
  await whenPayout(client, id, 'approved');
  expect(await cancel(client, id)).toMatchObject(invalidState('approved'));
  await control(gateway.sandbox.url, 'outage', { ...outage, kind: null });
  await whenPayout(client, id, 'processing');
  expect(await cancel(client, id)).toMatchObject(invalidState('processing'));
  await control(gateway.sandbox.url, 'transfers/settle', { ...outage, client_reference: id });
  await whenPayout(client, id, 'completed');
  expect(await cancel(client, id)).toMatchObject(invalidState('completed'));

  const failed = await acceptedPayout(client, { destination: magic('refuses') });
  await approve(gateway, failed);
  await whenPayout(client, failed, 'failed');
  expect(await cancel(client, failed)).toMatchObject(invalidState('failed'));

  const rejected = await acceptedPayout(client);
  await reject(gateway, rejected, 'no');
  await whenPayout(client, rejected, 'rejected');
  expect(await cancel(client, rejected)).toMatchObject(invalidState('rejected'));
});

test('a cancel that waits for a worker takes effect once', async () => {
  const { client } = await openMerchant(gateway, { funds: { USDT: '100' } });
  const id = await acceptedPayout(client);
  await gateway.worker.kill();
  const waiting = cancel(client, id);
  await gateway.worker.start();
  expect([200, 503]).toContain((await waiting).status);
  await whenPayout(client, id, 'cancelled');
  expect(await cancel(client, id)).toMatchObject(invalidState('cancelled'));
  expect(await balanceOf(client)).toMatchObject({ available: '100.00000000' });
});

test('without the provider’s fee estimate nothing is stored, and the key works afterwards', async () => {
  const { accountId, client } = await openMerchant(gateway, { funds: { USDC: '100' } });
  // A route that nobody here has asked for: an estimate that is known already would do.
  const body = buildPayout({ currency: 'USDC', network: 'base', destination: EVM });
  const outage = { provider: 'onchain_provider', mode: 'live' };
  for (const kind of ['answer_503', 'hang', 'refuse', 'answer_429']) {
    await control(gateway.sandbox.url, 'outage', { ...outage, kind });
    const answer = await client.createPayout(body, 'key-1');
    const reason = kind === 'answer_429' ? 'provider_rate_limited' : 'provider_unavailable';
    expect(answer).toMatchObject({
      status: 503,
      json: { error: { code: 'service_unavailable', details: { reason } } },
    });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await countPayouts(gateway, accountId)).toBe(0);
    expect(await keyStates(gateway, accountId)).toEqual({});
  }
  await control(gateway.sandbox.url, 'outage', { ...outage, kind: null });
  // Not asked before the time that the provider named.
  expect((await client.createPayout(body, 'key-1')).headers.get('retry-after')).toBe('1');
  await sleep(1_000);
  const answer = await client.createPayout(body, 'key-1');
  expect(answer).toMatchObject({ status: 201, json: { data: { network_fee: '0.05000000' } } });
});

test('a decision that the provider does not answer is carried out when it does', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client);
  // Confirmed only once it is held: the gateway would credit it at once.
  await atProvider(gateway, id, 'pay', { then: 'stay' });
  await atProvider(gateway, id, 'hold');
  await whenPayment(client, id, 'on_hold');
  await atProvider(gateway, id, 'confirm');
  const outage = { provider: 'onchain_provider', mode: 'test' };
  await control(gateway.sandbox.url, 'outage', { ...outage, kind: 'answer_503' });
  await decide(gateway, id, 'release');
  await whenDetails(gateway, id, /Waiting for the provider to carry out the `release`/);
  await decide(gateway, id, 'reject', { by: 'bob', reason: 'no' });
  await whenDetails(
    gateway,
    id,
    /`reject` by bob had no effect: a `release` is already in progress/,
  );
  expect((await checkoutOf(gateway, id)).on_hold).toBe(true);
  await control(gateway.sandbox.url, 'outage', { ...outage, kind: null });
  const data = await whenPayment(client, id, 'completed');
  expect(data.exceptions).toEqual(['manual']);
  const events = await eventsOf(gateway, id);
  expect(events.at(-1)).toMatchObject({ type: 'payment.completed', body: { data } });
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_one, index) => index + 1));
  expect((await balanceOf(client))?.available).toBe('99.00000000');
  expect(await postingsOf(gateway, id)).toHaveLength(1);
});
