/** The other half over HTTP: a payment from checkout to credited balance. */
import { brokenInvariants, useSharedGateway } from '../../support/servers/gateway';
import { createMerchant } from '../../support/merchant/merchant';
import { MerchantClient } from '../../support/merchant/merchant-client';
import { control } from '../../support/servers/sandbox';
import { buildPayment, whenPayment } from '../../support/payment/payment-steps';
import { started } from '../../support/started';

const gateway = started(useSharedGateway);

async function openMerchant() {
  const merchant = await createMerchant(gateway.db, gateway.pepper);
  return new MerchantClient(gateway.baseUrl, merchant.testKey);
}

test('[endpoint POST /payments] [endpoint GET /payments/{id}] a payment that is paid exactly is completed and credited less the fee', async () => {
  const client = await openMerchant();
  const created = await client.createPayment(buildPayment());
  expect(created.status).toBe(201);
  const { id } = created.json.data;
  expect(created.json.data).toMatchObject({
    status: 'created',
    amount: '100.00000000',
    received_amount: '0.00000000',
    amount_due: '100.00000000',
    net_amount: null,
    exceptions: [],
  });
  expect((await fetch(created.json.data.checkout_url)).status).toBe(200);

  const paid = { provider: 'onchain_provider', mode: 'test', client_reference: id, amount: '100' };
  expect(await control(gateway.sandbox.url, 'checkouts/pay', paid)).toBe(200);
  expect(await whenPayment(client, id, 'completed')).toMatchObject({
    received_amount: '100.00000000',
    amount_due: '0.00000000',
    service_fee: '1.00000000',
    net_amount: '99.00000000',
  });
  expect((await client.get('/balance')).json.balances).toEqual([
    {
      currency: 'USDT',
      available: '99.00000000',
      reserved: '0.00000000',
      pending: '0.00000000',
    },
  ]);
  const { json } = await client.get('/transactions?type=payin_settlement');
  expect(json.data).toMatchObject([{ source: { object: 'payment', id } }]);
  expect(await brokenInvariants(gateway)).toEqual([]);
});
