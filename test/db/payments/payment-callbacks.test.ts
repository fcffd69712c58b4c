/** Callbacks about payments: only an authentic one is taken, for its own payment alone. */
import type { Mode } from '../../../src/domain/mode';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import { newId } from '../../../src/platform/lib/new-id';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import {
  atProvider,
  openedPayment,
  readPayment,
  whenPayment,
} from '../../support/payment/payment-steps';
import { balanceOf, openMerchant } from '../../support/payout/payout-steps';
import {
  type Callback,
  callbackSecret,
  deliverCallback,
  PAYMENT_CLAIMS,
} from '../../support/servers/provider-callbacks';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway);

const secretOf = (provider: ProviderCode, mode: Mode) => callbackSecret(gateway, provider, mode);
const deliver = (provider: ProviderCode, mode: Mode, callback: Callback) =>
  deliverCallback(gateway, `${provider}/${mode}`, callback);

const other = (provider: ProviderCode): ProviderCode =>
  provider === 'exchange_pay' ? 'onchain_provider' : 'exchange_pay';

const openTestMerchant = () => openMerchant(gateway, { mode: 'test', funds: {} });

/** A payment in processing: all of it is seen, and nothing is confirmed by itself. */
async function seenPayment(provider: ProviderCode) {
  const merchant = await openTestMerchant();
  const id = await openedPayment(merchant.client, { provider });
  await atProvider(gateway, id, 'pay', { then: 'stay' });
  await whenPayment(merchant.client, id, 'processing');
  return { ...merchant, id };
}

/** The payment, and how often a callback has told of it: once, when the money was seen. */
async function settled(client: MerchantClient, id: string) {
  const times = await waitFor(
    'the callback of the provider',
    () => gateway.heard.filter((one) => one === id).length || undefined,
  );
  return { times, payment: await readPayment(client, id) };
}

describe.each(PROVIDER_CODES)('callbacks of %s', (provider) => {
  const authentic = (id: string) => PAYMENT_CLAIMS[provider](id, secretOf(provider, 'test'));

  test('forged ones are refused and change nothing', async () => {
    const { client, id } = await seenPayment(provider);
    const before = await settled(client, id);
    const forgeries: [string, Callback][] = [
      ['a made-up secret', PAYMENT_CLAIMS[provider](id, 'a'.repeat(48))],
      ['the secret of the other mode', PAYMENT_CLAIMS[provider](id, secretOf(provider, 'live'))],
      [
        'that of the other provider',
        PAYMENT_CLAIMS[provider](id, secretOf(other(provider), 'test')),
      ],
      [
        'a recording of six minutes ago',
        PAYMENT_CLAIMS[provider](id, secretOf(provider, 'test'), Date.now() - 360_000),
      ],
      ['another body', { ...authentic(newId('payment')), body: authentic(id).body }],
      ['no signature', { ...authentic(id), headers: {} }],
    ];
    for (const [what, forged] of forgeries) {
      const { status, json } = await deliver(provider, 'test', forged);
      expect([what, status, json.error?.code]).toEqual([what, 401, 'invalid_signature']);
    }
    expect(await settled(client, id)).toEqual(before);
  });

  test('one for the other mode, the other provider or nobody is taken and changes nothing', async () => {
    const { client, otherMode, id } = await seenPayment(provider);
    const before = await settled(client, id);
    const live = PAYMENT_CLAIMS[provider](id, secretOf(provider, 'live'));
    expect((await deliver(provider, 'live', live)).status).toBe(200);
    const strange = PAYMENT_CLAIMS[other(provider)](id, secretOf(other(provider), 'test'));
    expect((await deliver(other(provider), 'test', strange)).status).toBe(200);
    expect((await deliver(provider, 'test', authentic(newId('payment')))).status).toBe(200);
    expect(await settled(client, id)).toEqual(before);
    expect((await otherMode.get(`/payments/${id}`)).status).toBe(404);
    expect((await otherMode.post(`/payments/${id}/verify`)).status).toBe(404);
  });

  test("one about another account's payment credits its own account alone", async () => {
    const mine = await seenPayment(provider);
    const theirs = await seenPayment(provider);
    await atProvider(gateway, theirs.id, 'confirm');
    await deliver(provider, 'test', authentic(mine.id));
    await whenPayment(theirs.client, theirs.id, 'completed');
    expect(await readPayment(mine.client, mine.id)).toMatchObject({ status: 'processing' });
    expect(await balanceOf(mine.client)).toMatchObject({ available: '0.00000000' });
    expect((await mine.client.get(`/payments/${theirs.id}`)).status).toBe(404);
    expect((await mine.client.post(`/payments/${theirs.id}/verify`)).status).toBe(404);
  });
});
