/** Money for a payment that is seen, confirmed, dropped or late, as the provider tells of it. */
import type { PaymentStatus } from '../../../src/domain/payment';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import {
  atProvider,
  endWindow,
  eventsOf,
  expectEvents,
  expectMoney,
  openedPayment,
  readPayment,
  whenPayment,
} from '../../support/payment/payment-steps';
import { balanceOf, openMerchant } from '../../support/payout/payout-steps';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);

interface Played {
  client: MerchantClient;
  id: string;
}

const endOfWindow = ({ client, id }: Played) => endWindow(gateway, client, id);

test.concurrent('more money for a completed payment is credited where it stands', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client, { metadata: { scenario: 'completed' } });
  const { completed_at } = await whenPayment(client, id, 'completed');
  const before = (await eventsOf(gateway, id)).length;
  await atProvider(gateway, id, 'pay', { amount: '10' });
  const data = await waitFor('the credit', async () => {
    const now = await readPayment(client, id);
    return now.net_amount === '108.90000000' ? now : undefined;
  });
  const more = { overpaid_amount: '10.00000000', exceptions: ['overpaid'], completed_at };
  expect(data).toMatchObject(more);
  const events = await eventsOf(gateway, id);
  expect(events).toHaveLength(before + 1);
  expect(events.at(-1)).toMatchObject({ type: 'payment.received', sequence: before + 1 });
  expect(events.at(-1)?.body.data).toEqual(data);
  await expectMoney(gateway, client, id, data);
});

test.concurrent('two transfers that make the amount complete it together', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client);
  await atProvider(gateway, id, 'pay', { amount: '40' });
  await waitFor('the first', async () => {
    const { amount_due, net_amount } = await readPayment(client, id);
    return amount_due === '60.00000000' && net_amount === null;
  });
  await atProvider(gateway, id, 'pay', { amount: '60' });
  const data = await whenPayment(client, id, 'completed');
  await expectEvents(gateway, id, ['created', 'pending', 'processing', 'completed'], data);
  await expectMoney(gateway, client, id, data);
});

test.concurrent('what is seen and not confirmed is pending and not received', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client);
  await atProvider(gateway, id, 'pay', { then: 'stay' });
  const seen = await whenPayment(client, id, 'processing');
  expect(seen).toMatchObject({
    received_amount: '0.00000000',
    unconfirmed_amount: '100.00000000',
    amount_due: '0.00000000',
    overpaid_amount: '0.00000000',
  });
  await expectEvents(gateway, id, ['created', 'pending', 'processing'], seen);
  expect(await balanceOf(client)).toMatchObject({ pending: '100.00000000' });
});

test.concurrent('late money that is not confirmed yet is pending', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client);
  await endOfWindow({ client, id });
  await whenPayment(client, id, 'expired');
  await atProvider(gateway, id, 'pay', { amount: '40', then: 'stay' });
  await waitFor(
    'the late money to be pending',
    async () => (await balanceOf(client))?.pending === '40.00000000',
  );
  expect(await readPayment(client, id)).toMatchObject({
    status: 'expired',
    received_amount: '0.00000000',
    unconfirmed_amount: '40.00000000',
    amount_due: '60.00000000',
  });
  await atProvider(gateway, id, 'drop');
  await waitFor(
    'nothing to be pending',
    async () => ((await balanceOf(client))?.pending ?? '0.00000000') === '0.00000000',
  );
});

test.concurrent(
  'a transfer that vanishes leaves time to pay again, and what replaces it later is late',
  async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const id = await openedPayment(client);
    await atProvider(gateway, id, 'pay', { then: 'stay' });
    await whenPayment(client, id, 'processing');
    await atProvider(gateway, id, 'drop');
    await waitFor(
      'the money to be gone',
      async () => (await readPayment(client, id)).unconfirmed_amount === '0.00000000',
    );
    expect((await readPayment(client, id)).status).toBe('processing');
    await endOfWindow({ client, id });
    const way: PaymentStatus[] = ['created', 'pending', 'processing', 'expired', 'completed'];
    await expectEvents(gateway, id, way.slice(0, -1), await whenPayment(client, id, 'expired'));
    await atProvider(gateway, id, 'pay');
    const data = await whenPayment(client, id, 'completed');
    expect(data.exceptions).toEqual(['late']);
    await expectEvents(gateway, id, way, data);
    await expectMoney(gateway, client, id, data);
  },
);
