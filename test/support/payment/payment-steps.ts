/** Steps that the tests of payments over HTTP share: opening one, what the provider does, waiting. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentDecisionKind, PaymentStatus } from '../../../src/domain/payment';
import type { RefundStatus } from '../../../src/domain/refund';
import { control, readCheckoutEntry, type CheckoutEntry } from '../servers/sandbox';
import type { TestGateway } from '../servers/gateway';
import { fund } from '../merchant/ledger';
import { type ApiAnswer, type MerchantClient, randomKey } from '../merchant/merchant-client';
import { isUnavailable, retry } from '../merchant/patient-client';
import { waitFor, waitThroughFaults } from '../wait-for';
import { balanceOf, openMerchant } from '../payout/payout-steps';
import { readPage } from '../workflow-page';

export function buildPayment(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return { amount: '100', currency: 'USDT', reference: `order-${randomKey()}`, ...overrides };
}

/** The id of a payment that was opened. What is about a 503 calls `createPayment` itself. */
export async function openedPayment(
  client: MerchantClient,
  overrides: Record<string, unknown> = {},
): Promise<string> {
  const body = buildPayment(overrides);
  const key = randomKey();
  const ask = () => client.createPayment(body, key);
  const { status, text, json } = await retry(ask, isUnavailable);
  if (status !== 201) throw new Error(`the payment was not opened: ${status} ${text}`);
  return json.data.id;
}

export async function readPayment(client: MerchantClient, id: string): Promise<ApiAnswer['json']> {
  return (await retry(() => client.get(`/payments/${id}`), isUnavailable)).json.data;
}

export async function whenPayment(
  client: MerchantClient,
  id: string,
  ...wanted: PaymentStatus[]
): Promise<ApiAnswer['json']> {
  return waitFor(`${id} to be ${wanted.join(' or ')}`, async () => {
    const { json } = await client.get(`/payments/${id}`);
    return wanted.includes(json.data?.status) ? json.data : undefined;
  });
}

type Verb =
  | 'start'
  | 'pay'
  | 'confirm'
  | 'drop'
  | 'reorg'
  | 'hold'
  | 'release'
  | 'reject'
  | 'cancel'
  | 'fail'
  | 'refund';

/** Lets something happen at the provider, which then calls back. */
export async function atProvider(
  gateway: Pick<TestGateway, 'sandbox'>,
  id: string,
  verb: Verb | 'resend-callback',
  members: Record<string, unknown> = {},
): Promise<void> {
  const entry = await checkoutOf(gateway, id);
  const key = { provider: entry.provider, mode: entry.mode, client_reference: id };
  const status = await control(gateway.sandbox.url, `checkouts/${verb}`, { ...key, ...members });
  if (status !== 200) throw new Error(`${verb} of ${id} was answered with ${status}`);
}

export async function checkoutOf(
  gateway: Pick<TestGateway, 'sandbox'>,
  id: string,
): Promise<CheckoutEntry> {
  const entry = await readCheckoutEntry(gateway.sandbox.url, id);
  if (entry === undefined) throw new Error(`the provider has no checkout for ${id}`);
  return entry;
}

/** The gateway's clock is PostgreSQL's as it was last read, so it is behind by the time that the answer took. */
const CLOCK_BEHIND_MS = 250;

/** Closes the window: no merchant may ask for one as short as a test needs. Times of the gateway have milliseconds. */
export async function closeWindow(gateway: Pick<TestGateway, 'db'>, id: string): Promise<void> {
  const closed = `clock_timestamp() - interval '2 milliseconds'`;
  await gateway.db.query(`UPDATE payments SET expires_at = ${closed} WHERE id = ?`, [id]);
  await sleep(CLOCK_BEHIND_MS);
}

export interface StoredEvent {
  type: string;
  sequence: number;
  // The body as it will be sent.
  body: ApiAnswer['json'];
}

export async function eventsOf(
  gateway: Pick<TestGateway, 'db'>,
  id: string,
): Promise<StoredEvent[]> {
  const found = await gateway.db.query<{ type: string; sequence: number; body: Buffer }>(
    'SELECT type, sequence, body FROM events WHERE object_id = ? ORDER BY sequence',
    [id],
  );
  return found.map((one) => ({ ...one, body: JSON.parse(one.body.toString()) }));
}

/** The provider's ids of the transfers that were credited, in the order of their ids. */
export async function creditsOf(
  gateway: Pick<TestGateway, 'db'>,
  id: string,
): Promise<{ id: string; amount: string }[]> {
  return gateway.db.query<{ id: string; amount: string }>(
    `SELECT provider_transfer_id AS id, amount::text FROM payment_credits
      WHERE payment_id = ? ORDER BY provider_transfer_id`,
    [id],
  );
}

export async function signalsOf(gateway: TestGateway, id: string): Promise<string[]> {
  const { events } = await gateway.temporal.workflow.getHandle(id).fetchHistory();
  return (events ?? []).flatMap(
    (one) => one.workflowExecutionSignaledEventAttributes?.signalName ?? [],
  );
}

/** What an operator types into Temporal. */
export async function decide(
  gateway: TestGateway,
  id: string,
  kind: PaymentDecisionKind,
  input: Record<string, unknown> = {},
): Promise<void> {
  await gateway.temporal.workflow.getHandle(id).signal(kind, { by: 'alice', ...input });
}

/** What an operator reads on the workflow's page. */
export async function whenDetails(
  gateway: TestGateway,
  id: string,
  wanted: RegExp,
): Promise<string> {
  const handle = gateway.temporal.workflow.getHandle(id);
  return waitThroughFaults(`${String(wanted)} on the page of ${id}`, async () => {
    const details = await readPage(handle);
    return wanted.test(details) ? details : undefined;
  });
}

export async function needsAttention(gateway: TestGateway, id: string): Promise<unknown> {
  const { typedSearchAttributes } = await gateway.temporal.workflow.getHandle(id).describe();
  return typedSearchAttributes.getAll().find(({ key }) => key.name === 'NeedsAttention')?.value;
}

export interface SeenPosting {
  type: string;
  lines: string[];
}

/** What a payment moved, all accounts, oldest first. */
export async function postingsOf(
  gateway: Pick<TestGateway, 'db'>,
  id: string,
): Promise<SeenPosting[]> {
  return gateway.db.query<SeenPosting>(
    `SELECT t.type, array_agg(concat_ws(' ', e.account, e.direction, e.amount) ORDER BY e.line) AS lines
       FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.source_id = ? GROUP BY t.id ORDER BY t.balance_version`,
    [id],
  );
}

/** Until the first transfer is confirmed at the provider. */
export async function whenConfirmed(
  gateway: Pick<TestGateway, 'sandbox'>,
  id: string,
): Promise<void> {
  await waitFor('the confirmation', async () => {
    const { transfers } = await checkoutOf(gateway, id);
    return transfers[0]?.status === 'confirmed';
  });
}

/** The window closes, and the merchant asks. */
export async function endWindow(
  gateway: Pick<TestGateway, 'db'>,
  client: MerchantClient,
  id: string,
): Promise<void> {
  await closeWindow(gateway, id);
  const { status, text } = await client.post(`/payments/${id}/verify`);
  if (status !== 200) throw new Error(`verify was answered with ${status} ${text}`);
}

/** What pays payments at the provider; it may have no Temporal. */
export type Payable = Pick<TestGateway, 'baseUrl' | 'db' | 'pepper' | 'sandbox'>;

export interface Opened {
  accountId: string;
  client: MerchantClient;
  id: string;
}

/** A payment of 100 USDT that was paid and credited, of a merchant of its own, where the provider knows who paid. */
export async function paidPayment(gateway: Payable, provider = 'exchange_pay'): Promise<Opened> {
  const { accountId, client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client, { provider });
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  return { accountId, client, id };
}

/** Takes so much of the balance of a merchant as if it had been paid out. */
export async function spend(
  { db }: Pick<TestGateway, 'db'>,
  { accountId }: Pick<Opened, 'accountId'>,
  value: string,
): Promise<void> {
  await fund(db, { accountId, mode: 'test', currency: 'USDT' }, value, 'out');
}

/** A refund once it stands in the status. */
export async function whenRefund(
  client: MerchantClient,
  id: string,
  wanted: RefundStatus,
): Promise<ApiAnswer['json']> {
  return waitFor(`${id} to be ${wanted}`, async () => {
    const { json } = await client.get(`/refunds/${id}`);
    return json.data.status === wanted ? json.data : undefined;
  });
}

/** One that got 50 of 100 and waits for the rest: its workflow stays open. */
export async function underpaidPayment(gateway: Payable): Promise<Opened> {
  const { accountId, client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client, { provider: 'exchange_pay' });
  await atProvider(gateway, id, 'pay', { amount: '50' });
  await whenConfirmed(gateway, id);
  await endWindow(gateway, client, id);
  await whenPayment(client, id, 'underpaid');
  return { accountId, client, id };
}

export async function statusesOf(gateway: Pick<TestGateway, 'db'>, id: string): Promise<string[]> {
  return (await eventsOf(gateway, id)).map(({ body }) => body.data.status);
}

/** The lines of a credit, and of a refund or of its way back. */
export function creditOf(gross: string, fee: string): SeenPosting {
  const lines = [
    `available in ${gross}`,
    `available out ${fee}`,
    `provider_clearing out ${gross}`,
    `fee_income in ${fee}`,
  ];
  return { type: 'payin_settlement', lines };
}

export function refundOf(
  gross: string,
  net: string,
  fee: string,
  direction: 'in' | 'out' = 'out',
): SeenPosting {
  const against = direction === 'in' ? 'out' : 'in';
  const lines = [
    `available ${direction} ${net}`,
    `fee_income ${direction} ${fee}`,
    `provider_clearing ${against} ${gross}`,
  ];
  return { type: 'payin_refund', lines };
}

/** `received`: more money was credited, and the status stayed. */
export type PaymentWay = (PaymentStatus | 'received')[];

/** One event for each step, and the last of them says what GET says. */
export async function expectEvents(
  gateway: Pick<TestGateway, 'db'>,
  id: string,
  way: PaymentWay,
  data: ApiAnswer['json'],
) {
  const events = await eventsOf(gateway, id);
  const steps = events.map(({ type }) => type.replace('payment.', ''));
  expect(steps).toEqual(way.filter((step) => steps.includes(step)));
  expect(steps[0]).toBe(way[0]);
  // A gateway that looks late sees both payments at once: one step credits all.
  const lasts = way.at(-1) === 'received' ? way.slice(-2) : way.slice(-1);
  expect(lasts).toContain(steps.at(-1));
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, index) => index + 1));
  for (const { type, sequence, body } of events) {
    expect(body).toMatchObject({ type, sequence, mode: 'test', data: { id, object: 'payment' } });
    if (type !== 'payment.received') expect(type).toBe(`payment.${body.data.status}`);
  }
  expect(events.at(-1)?.body.data).toEqual(data);
}

/** Each transfer of the provider is credited once, or none, and the ledger says the same. */
export async function expectMoney(
  gateway: Pick<TestGateway, 'db' | 'sandbox'>,
  client: MerchantClient,
  id: string,
  data: ApiAnswer['json'],
) {
  const isCredited = data.net_amount !== null;
  const { transfers } = await checkoutOf(gateway, id);
  const confirmed = transfers.filter(({ status }) => status === 'confirmed');
  const credits = await creditsOf(gateway, id);
  expect(credits.map((one) => one.id)).toEqual(
    isCredited ? confirmed.map((one) => one.id).sort() : [],
  );
  const { json } = await client.get('/transactions?type=payin_settlement');
  expect(json.data).toHaveLength(credits.length);
  const available = data.net_amount ?? '0.00000000';
  const balance = (await balanceOf(client)) ?? { available: '0.00000000', pending: '0.00000000' };
  expect(balance).toMatchObject({ available, pending: '0.00000000' });
}

/** Where a refund of a payment on a chain goes. */
export const ADDRESS = { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' };

export function refund(
  { client, id }: Pick<Opened, 'client' | 'id'>,
  body: Record<string, unknown> = {},
  key = randomKey(),
): Promise<ApiAnswer> {
  const request = { reference: `refund-${randomKey()}`, ...body };
  const send = () => client.create(`/payments/${id}/refunds`, request, key);
  return retry(send, isUnavailable);
}

/** A refund that was accepted. */
export async function refunded(payment: Opened, body: Record<string, unknown> = {}) {
  const { status, text, json } = await refund(payment, body);
  if (status !== 201) throw new Error(`the refund was answered with ${status} ${text}`);
  return json.data;
}

/** The refunds of a payment, newest first. */
export async function refundsOf(
  { client, id }: Opened,
  query = '',
): Promise<Record<string, unknown>[]> {
  const { json } = await client.get(`/payments/${id}/refunds${query}`);
  return json.data;
}

/** Paid on a chain, which does not say who paid. */
export async function paidOnChain(
  gateway: Payable,
  mode: 'test' | 'live',
  overrides: Record<string, unknown> = {},
) {
  const { accountId, client } = await openMerchant(gateway, { mode, funds: {} });
  const id = await openedPayment(client, { provider: 'onchain_provider', ...overrides });
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  const key = (change: string) =>
    gateway.db.query(`UPDATE api_keys SET ${change} WHERE account_id = ? AND mode = ?`, [
      accountId,
      mode,
    ]);
  return { accountId, client, id, key };
}
