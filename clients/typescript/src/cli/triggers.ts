/** How each event is made to happen in test mode: by a real object and the sandbox. docs/guides/testing.md. */
import { randomBytes } from 'node:crypto';
import {
  type Event,
  type GatewayClient,
  InsufficientBalanceError,
  type PaymentRequest,
  type PayoutScheduleRequest,
} from '../index';
import { TEST_EVENTS, TEST_PAYMENT, TEST_PAYOUT } from '../generated';

type EventType = Event['type'];
type Provider = NonNullable<PaymentRequest['provider']>;
type ScheduledPayout = PayoutScheduleRequest['payouts'][number];

export interface World {
  client: GatewayClient;
  signal: AbortSignal;
  note: (line: string) => void;
}

interface Trigger {
  /** Completes "The command …". */
  how: string;
  /** @returns the ID of the object that gets the event */
  make: (world: World) => Promise<string>;
}

const payment = (scenario: string): Trigger => ({
  how: `creates a payment with the scenario ${scenario}`,
  make: ({ client, signal }) => pay(client, scenario, signal),
});

const payout = (amount: string): Trigger => ({
  how: `creates a payout of ${amount} USDT`,
  make: async (world) => (await withFunds(world, () => sendPayout(world, amount))).id,
});

const batch = (how: string, then?: (world: World, id: string) => Promise<unknown>): Trigger => ({
  how,
  make: async (world) => {
    const { client, signal } = world;
    const reference = newReference();
    const request = { reference, payouts: [payoutOf('1'), payoutOf('2')] };
    const { id } = await withFunds(world, () => client.payoutBatches.create(request, { signal }));
    await then?.(world, id);
    return id;
  },
});

const recipient = (
  how: string,
  then?: (world: World, id: string) => Promise<unknown>,
): Trigger => ({
  how,
  make: async (world) => {
    const id = await newRecipient(world);
    await then?.(world, id);
    return id;
  },
});

/** At a provider that knows who paid. A refund on a chain would wait for the customer's address. */
const refund = (amount: string): Trigger => ({
  how: `refunds ${amount} USDT of a paid payment`,
  make: async (world) => {
    const { client, signal } = world;
    const paid = await paidPayment(world, 'exchange_pay');
    const request = { amount, reference: newReference() };
    return (await client.refunds.create(paid, request, { signal })).id;
  },
});

function ofOneRequest(): Record<keyof typeof TEST_EVENTS, Trigger> {
  const triggers = Object.entries(TEST_EVENTS).map(([type, event]) => [
    type,
    event.object === 'payment' ? payment(event.scenario) : payout(event.amount),
  ]);
  return Object.fromEntries(triggers) as ReturnType<typeof ofOneRequest>;
}

export type Triggered = Exclude<
  EventType,
  'payout.rejected' | 'payout_batch.rejected' | 'webhook.ping'
>;

export const TRIGGERS: Readonly<Record<Triggered, Trigger>> = {
  ...ofOneRequest(),
  'payment.pending': {
    how: 'creates a payment and opens its checkout as a customer',
    make: startedPayment,
  },
  'payout.cancelled': {
    how: 'creates a payout that waits, and cancels it',
    make: cancelledPayout,
  },
  'payout_batch.approved': batch('creates a batch of two payouts'),
  'payout_batch.completed': batch('creates a batch of two payouts'),
  'payout_batch.stopped': batch('creates a batch and stops it', ({ client, signal }, id) =>
    client.payoutBatches.stop(id, { signal }),
  ),
  'payout_schedule.run_created': {
    how: 'creates a schedule that runs every 5 seconds and ends after 15',
    make: async (world) => {
      await paidPayment(world);
      return schedule(world, payoutOf('1'));
    },
  },
  'payout_schedule.run_failed': {
    how: 'creates a schedule that pays a recipient, and deletes the recipient',
    make: scheduleWithoutRecipient,
  },
  'payout_schedule.ended': {
    how: 'creates a schedule that ends after 15 seconds',
    make: (world) => schedule(world, payoutOf('1')),
  },
  'recipient.created': recipient('creates a recipient'),
  'recipient.updated': recipient('creates a recipient and renames it', ({ client, signal }, id) =>
    client.recipients.update(id, { name: `Renamed ${newReference()}` }, { signal }),
  ),
  'recipient.deleted': recipient('creates a recipient and deletes it', ({ client, signal }, id) =>
    client.recipients.delete(id, { signal }),
  ),
  'refund.created': refund('1'),
  'refund.completed': refund('1'),
  'refund.failed': refund('1.00009001'),
};

/** Who makes the others happen. */
export const NOT_TRIGGERED: Readonly<Record<Exclude<EventType, Triggered>, string>> = {
  'payout.rejected': 'only an operator of the gateway rejects a payout',
  'payout_batch.rejected': 'only an operator of the gateway rejects a batch',
  'webhook.ping':
    "the dashboard sends it on an endpoint's page, and POST /webhook_endpoints/{id}/ping",
};

/** A new reference for each run, because references are unique. */
function newReference(): string {
  return `trigger-${randomBytes(8).toString('hex')}`;
}

async function pay(
  client: GatewayClient,
  scenario: string,
  signal: AbortSignal,
  provider?: Provider,
): Promise<string> {
  const request = { ...TEST_PAYMENT, reference: newReference(), ...(provider && { provider }) };
  const metadata = { scenario };
  return (await client.payments.create({ ...request, metadata }, { signal })).id;
}

/** Also adds to the balance. @returns its ID, once it is completed */
async function paidPayment({ client, signal, note }: World, provider?: Provider): Promise<string> {
  const id = await pay(client, 'completed', signal, provider);
  note(`Waiting for the payment ${id}, which adds to the test balance.`);
  const feed = client.events.follow({ object_id: id, type: 'payment.completed', signal });
  for await (const _ of feed) return id;
  throw signal.reason as Error;
}

function payoutOf(amount: string) {
  return { ...TEST_PAYOUT, amount, reference: newReference() } as const;
}

function sendPayout({ client, signal }: World, amount: string) {
  return client.payouts.create(payoutOf(amount), { signal });
}

/** A payout with a condition is approved when it is met, so it can be cancelled until then. */
async function cancelledPayout(world: World): Promise<string> {
  const { client, signal } = world;
  const at = new Date(Date.now() + 86_400_000).toISOString();
  const request = { ...payoutOf('10'), release: { at } };
  const { id } = await withFunds(world, () => client.payouts.create(request, { signal }));
  await client.payouts.cancel(id, { signal });
  return id;
}

/** A customer who has started and does nothing more: what the button of the sandbox's checkout does. */
async function startedPayment({ client, signal }: World): Promise<string> {
  const request = { ...TEST_PAYMENT, reference: newReference(), expires_in: 300 };
  const { id, checkout_url: checkout } = await client.payments.create(request, { signal });
  const answer = await fetch(`${checkout}/start`, { method: 'POST', redirect: 'manual', signal });
  await answer.body?.cancel();
  return id;
}

async function newRecipient({ client, signal }: World): Promise<string> {
  const { currency, network, destination } = payoutOf('1');
  const request = { name: `Trigger ${newReference()}`, currency, network, destination };
  return (await client.recipients.create(request, { signal })).id;
}

async function scheduleWithoutRecipient(world: World): Promise<string> {
  const recipient = await newRecipient(world);
  const { destination: _, ...payout } = payoutOf('1');
  const id = await schedule(world, { ...payout, recipient });
  await world.client.recipients.delete(recipient, { signal: world.signal });
  return id;
}

async function schedule({ client, signal }: World, row: ScheduledPayout): Promise<string> {
  const request = {
    reference: newReference(),
    interval_seconds: 5,
    end_at: new Date(Date.now() + 15_000).toISOString(),
    payouts: [row],
  };
  return (await client.payoutSchedules.create(request, { signal })).id;
}

/** A refused request has created nothing, so it is sent again when the balance covers it. */
async function withFunds<Created>(world: World, create: () => Promise<Created>): Promise<Created> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof InsufficientBalanceError)) throw error;
    await paidPayment(world);
    return create();
  }
}
