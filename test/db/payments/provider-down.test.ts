/** A merchant asks about a payment while its provider is down. */
import type { ProviderCode } from '../../../src/domain/provider-codes';
import {
  atProvider,
  creditsOf,
  openedPayment,
  readPayment,
} from '../../support/payment/payment-steps';
import { openMerchant } from '../../support/payout/payout-steps';
import { type Outage, setOutage } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);

const openTestMerchant = () => openMerchant(gateway, { mode: 'test', funds: {} });

const outage = (kind: Outage, provider: ProviderCode = 'onchain_provider') =>
  setOutage(gateway, provider, 'test', kind);

describe.each<[kind: Outage, reason: string, retryAfter: string]>([
  ['answer_503', 'provider_unavailable', '10'],
  ['hang', 'provider_unavailable', '10'],
  ['refuse', 'provider_unavailable', '10'],
  ['lose_answer', 'provider_unavailable', '10'],
  ['answer_429', 'provider_rate_limited', '1'],
])('a provider that is down: %s', (kind, reason, retryAfter) => {
  afterEach(() => outage(null));

  test('verify says so and changes nothing; afterwards it finds the money', async () => {
    const { client } = await openTestMerchant();
    const id = await openedPayment(client);
    const before = await readPayment(client, id);
    await outage(kind);
    await atProvider(gateway, id, 'pay', { at: new Date().toISOString() });
    const refused = await client.post(`/payments/${id}/verify`);
    expect(refused).toMatchObject({ status: 503, json: { error: { details: { reason } } } });
    expect(refused.headers.get('retry-after')).toBe(retryAfter);
    expect(await readPayment(client, id)).toEqual(before);

    await outage(null);
    expect(await client.post(`/payments/${id}/verify`)).toMatchObject({
      status: 200,
      json: { data: { status: 'completed', net_amount: '99.00000000' } },
    });
    expect(await creditsOf(gateway, id)).toHaveLength(1);
  });
});

test('verify of a payment that has ended answers without asking the provider', async () => {
  const { client } = await openTestMerchant();
  const id = await openedPayment(client);
  await atProvider(gateway, id, 'fail');
  await gateway.look(id);
  const ended = await readPayment(client, id);
  expect(ended.status).toBe('failed');
  await outage('answer_503');
  try {
    const { status, json } = await client.post(`/payments/${id}/verify`);
    expect([status, json.data]).toEqual([200, ended]);
  } finally {
    await outage(null);
  }
});
