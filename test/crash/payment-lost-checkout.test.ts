/** A provider with which an operator has to speak: it lost a checkout, or holds late money. */
import { startSandbox, type Sandbox } from '../../src/rails/sandbox/server';
import { startGateway, type OwnGateway } from '../support/servers/gateway';
import type { MerchantClient } from '../support/merchant/merchant-client';
import {
  atProvider,
  closeWindow,
  eventsOf,
  openedPayment,
  readPayment,
  whenPayment,
} from '../support/payment/payment-steps';
import { openMerchant } from '../support/payout/payout-steps';
import { waitThroughFaults } from '../support/wait-for';

let gateway: OwnGateway;
let emptied: Sandbox;
let client: MerchantClient;

beforeAll(async () => {
  gateway = await startGateway();
  ({ client } = await openMerchant(gateway));
});

afterAll(async () => {
  await emptied.stop();
  await gateway.stop();
});

test('late money that the provider holds opens a case, and is credited once it is released', async () => {
  const id = await openedPayment(client);
  await closeWindow(gateway, id);
  expect((await client.post(`/payments/${id}/verify`)).status).toBe(200);
  await whenPayment(client, id, 'expired');
  await atProvider(gateway, id, 'pay', { then: 'stay' });
  await atProvider(gateway, id, 'hold');
  await atProvider(gateway, id, 'confirm');
  await waitThroughFaults('the case', async () => (await exceptionsOf(id)).length > 0);
  expect(await exceptionsOf(id)).toEqual(['late_money_held']);
  expect((await readPayment(client, id)).status).toBe('expired');
  await atProvider(gateway, id, 'release');
  expect(await whenPayment(client, id, 'completed')).toMatchObject({
    exceptions: ['late'],
    net_amount: '99.00000000',
  });
  await waitThroughFaults(
    'the case to be resolved',
    async () => (await exceptionsOf(id)).length === 0,
  );
});

test('an operator is told; what nobody paid expires at its time, and seen money stays open', async () => {
  const unpaid = await openedPayment(client);
  const seen = await openedPayment(client);
  await atProvider(gateway, seen, 'pay', { then: 'stay' });
  await whenPayment(client, seen, 'processing');
  await loseCheckouts();

  for (const id of [unpaid, seen]) {
    expect((await client.post(`/payments/${id}/verify`)).status).toBe(200);
  }
  expect(await exceptionsOf(unpaid)).toEqual(['checkout_missing']);
  expect(await exceptionsOf(seen)).toEqual(['checkout_missing']);
  expect((await readPayment(client, unpaid)).status).toBe('created');

  for (const id of [unpaid, seen]) {
    await closeWindow(gateway, id);
    expect((await client.post(`/payments/${id}/verify`)).status).toBe(200);
  }
  expect((await readPayment(client, unpaid)).status).toBe('expired');
  expect((await eventsOf(gateway, unpaid)).map(({ type }) => type)).toEqual([
    'payment.created',
    'payment.expired',
  ]);
  expect(await readPayment(client, seen)).toMatchObject({
    status: 'processing',
    received_amount: '0.00000000',
    unconfirmed_amount: '100.00000000',
  });
});

/** The provider starts anew, with an empty book. The payments are not of this minute. */
async function loseCheckouts(): Promise<void> {
  const { credentials } = gateway;
  const { port } = gateway.sandbox;
  await gateway.sandbox.stop();
  emptied = await startSandbox({ credentials, port });
  await gateway.db.query("UPDATE payments SET created_at = created_at - interval '2 minutes'");
}

async function exceptionsOf(id: string): Promise<string[]> {
  const found = await gateway.db.query<{ kind: string }>(
    'SELECT kind FROM cases WHERE object_id = ? AND resolved_at IS NULL',
    [id],
  );
  return found.map(({ kind }) => kind);
}
