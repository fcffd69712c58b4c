/** Each named scenario of a test-mode payment over HTTP, up to the balance and the events. */
import type { PaymentStatus } from '../../../src/domain/payment';
import { PROVIDER_CODES, type ProviderCode } from '../../../src/domain/provider-codes';
import type { MerchantClient } from '../../support/merchant/merchant-client';
import {
  atProvider,
  creditsOf,
  endWindow,
  expectEvents,
  expectMoney,
  openedPayment,
  type PaymentWay,
  readPayment,
  whenConfirmed,
  whenPayment,
} from '../../support/payment/payment-steps';
import { balanceOf, openMerchant } from '../../support/payout/payout-steps';
import { scaled } from '../../support/scale';
import { isSound, useSharedGateway } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(useSharedGateway, isSound);

interface Played {
  client: MerchantClient;
  id: string;
}

interface Ending {
  /** What the scenario leaves to others: time, or a decision. */
  then?: (played: Played) => Promise<void>;
  status: PaymentStatus;
  /** Every status that it may pass; quick ones may be missed. */
  way: PaymentWay;
  received: string;
  /** Null when nothing is credited. */
  net: string | null;
  exceptions?: string[];
  failure?: string;
}

const endOfWindow = ({ client, id }: Played) => endWindow(gateway, client, id);

async function release({ client, id }: Played): Promise<void> {
  await whenPayment(client, id, 'on_hold');
  await waitFor(
    'the money to be pending',
    async () => (await balanceOf(client))?.pending === '100.00000000',
  );
  await atProvider(gateway, id, 'release');
}

async function whenPaidAgain({ client, id }: Played): Promise<void> {
  await waitFor(
    'the second credit',
    async () => (await readPayment(client, id)).net_amount === '148.50000000',
  );
}

const PAID: Ending = {
  status: 'completed',
  way: ['created', 'pending', 'processing', 'completed'],
  received: '100.00000000',
  net: '99.00000000',
};

const ENDINGS: [scenario: string, ending: Ending][] = [
  ['completed', PAID],
  ['callback_lost', PAID],
  ['callback_twice', PAID],
  ['out_of_order', PAID],
  [
    'overpaid',
    { ...PAID, received: '150.00000000', net: '148.50000000', exceptions: ['overpaid'] },
  ],
  [
    'paid_again',
    {
      ...PAID,
      then: whenPaidAgain,
      way: [...PAID.way, 'received'],
      received: '150.00000000',
      net: '148.50000000',
      exceptions: ['overpaid'],
    },
  ],
  [
    'underpaid',
    {
      status: 'underpaid',
      way: ['created', 'pending', 'processing', 'underpaid'],
      received: '50.00000000',
      net: '49.50000000',
    },
  ],
  [
    'expired',
    {
      status: 'expired',
      way: ['created', 'expired'],
      received: '0.00000000',
      net: null,
    },
  ],
  [
    'late',
    {
      status: 'completed',
      // The money can be seen before the end of the window is recorded.
      way: ['created', 'pending', 'expired', 'processing', 'completed'],
      received: '100.00000000',
      net: '99.00000000',
      exceptions: ['late'],
    },
  ],
  [
    'on_hold',
    { ...PAID, then: release, way: ['created', 'pending', 'processing', 'on_hold', 'completed'] },
  ],
  [
    'failed',
    {
      status: 'failed',
      way: ['created', 'pending', 'failed'],
      received: '0.00000000',
      net: null,
      failure: 'The provider could not carry out the payment.',
    },
  ],
  [
    'cancelled',
    {
      status: 'cancelled',
      way: ['created', 'pending', 'cancelled'],
      received: '0.00000000',
      net: null,
    },
  ],
];

/** The providers differ in their adapters, which have tests of their own: by day one of them plays all. */
const playedBy = (provider: ProviderCode) =>
  scaled(provider === PROVIDER_CODES[0] ? ENDINGS : ENDINGS.slice(0, 1), ENDINGS);

describe.each(PROVIDER_CODES)('%s', (provider) => {
  test.concurrent.each(playedBy(provider))('%s', async (scenario, ending) => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const id = await openedPayment(client, { provider, metadata: { scenario } });
    await ending.then?.({ client, id });
    const data = await whenPayment(client, id, ending.status);
    expect(data).toMatchObject({
      received_amount: ending.received,
      net_amount: ending.net,
      exceptions: ending.exceptions ?? [],
      failure_reason: ending.failure ?? null,
    });
    await expectEvents(gateway, id, ending.way, data);
    await expectMoney(gateway, client, id, data);
  });
});

test.concurrent('the rest of an underpaid payment comes late and completes it', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client, { metadata: { scenario: 'underpaid' } });
  await whenConfirmed(gateway, id);
  await endOfWindow({ client, id });
  await whenPayment(client, id, 'underpaid');
  await atProvider(gateway, id, 'pay', { amount: '20' });
  await waitFor(
    'the second transfer',
    async () => (await readPayment(client, id)).net_amount === '69.30000000',
  );
  await atProvider(gateway, id, 'pay', { amount: '30' });
  const data = await whenPayment(client, id, 'completed');
  expect(data).toMatchObject({ net_amount: '99.00000000', exceptions: ['late'] });
  // More where it stands is credited with an event of its own.
  const steps: PaymentWay = [
    'created',
    'pending',
    'processing',
    'underpaid',
    'received',
    'completed',
  ];
  await expectEvents(gateway, id, steps, data);
  await expectMoney(gateway, client, id, data);
});

test.concurrent.each(PROVIDER_CODES)(
  'transfers of nothing by %s change nothing',
  async (provider) => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const id = await openedPayment(client, { provider });
    await atProvider(gateway, id, 'pay', { amount: '0' });
    await whenConfirmed(gateway, id);
    expect((await client.post(`/payments/${id}/verify`)).status).toBe(200);
    expect(['created', 'pending']).toContain((await readPayment(client, id)).status);
    await atProvider(gateway, id, 'pay');
    await atProvider(gateway, id, 'pay', { amount: '0' });
    const data = await whenPayment(client, id, 'completed');
    expect(data).toMatchObject({ received_amount: '100.00000000', exceptions: [] });
    expect(await creditsOf(gateway, id)).toMatchObject([{ amount: '100.00000000' }]);
    expect(await balanceOf(client)).toMatchObject({ available: '99.00000000' });
  },
);

test.concurrent(
  'money for a payment that has failed is credited to nobody: an operator hears of it',
  async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const id = await openedPayment(client);
    await atProvider(gateway, id, 'pay', { then: 'stay' });
    await atProvider(gateway, id, 'hold');
    await whenPayment(client, id, 'on_hold');
    await atProvider(gateway, id, 'drop');
    await atProvider(gateway, id, 'release');
    await endOfWindow({ client, id });
    const failed = await whenPayment(client, id, 'failed');
    expect(failed.failure_reason).toBe('The transfer was never confirmed.');
    await atProvider(gateway, id, 'pay');
    const openedCase = await waitFor('the case', async () => {
      const [row] = await gateway.db.query<{ details: unknown }>(
        `SELECT details FROM cases WHERE kind = 'money_not_credited' AND object_id = ?`,
        [id],
      );
      return row;
    });
    expect(openedCase.details).toMatchObject({ transfers: [{ amount: '100.00000000' }] });
    expect(await creditsOf(gateway, id)).toEqual([]);
  },
);

test.concurrent('a hold that is rejected ends as refunded, and nothing is credited', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client, { metadata: { scenario: 'on_hold' } });
  await whenPayment(client, id, 'on_hold');
  await whenConfirmed(gateway, id);
  await atProvider(gateway, id, 'reject');
  const data = await whenPayment(client, id, 'refunded');
  expect(data).toMatchObject({ net_amount: null, service_fee: '0.00000000' });
  await expectEvents(
    gateway,
    id,
    ['created', 'pending', 'processing', 'on_hold', 'refunded'],
    data,
  );
  expect(await creditsOf(gateway, id)).toEqual([]);
});

test.concurrent(
  'a payment that was cancelled in its window is late when it is paid after all',
  async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const id = await openedPayment(client, { metadata: { scenario: 'cancelled' } });
    await whenPayment(client, id, 'cancelled');
    await atProvider(gateway, id, 'pay');
    const data = await whenPayment(client, id, 'completed');
    expect(data.exceptions).toEqual(['late']);
    await expectEvents(gateway, id, ['created', 'pending', 'cancelled', 'completed'], data);
    await expectMoney(gateway, client, id, data);
  },
);
