/**
 * One payment of a merchant of its own, inside the workflow world; payout-case.ts has what is the
 * same for both: reading the workflow's page, its history and its failures.
 */
import { randomBytes } from 'node:crypto';
import { listBalances } from '../../../src/db/ledger/ledger';
import { findPayment } from '../../../src/db/payments/payments';
import { amount } from '../../../src/domain/money';
import type { Payment, PaymentRequest, PaymentStatus } from '../../../src/domain/payment';
import { control, readCheckoutEntry } from '../servers/sandbox';
import type { FaultPlan } from '../chaos/activity-faults';
import { createMerchant } from '../merchant/merchant';
import type { PayoutCase } from '../payout/payout-case';
import type { WorkflowWorld } from '../servers/workflow-world';
import { waitFor, waitThroughFaults } from '../wait-for';

export type PaymentCase = PayoutCase;

export interface PaymentOptions {
  plan?: FaultPlan;
  request?: Partial<PaymentRequest>;
  onStart?: (paymentId: string) => void;
}

export async function createPaymentCase(
  world: WorkflowWorld,
  { plan, request, onStart = () => undefined }: PaymentOptions = {},
): Promise<PaymentCase> {
  const { accountId } = await createMerchant(world.db, randomBytes(32).toString('hex'));
  const [key] = await world.db.query<{ id: string }>(
    `SELECT id FROM api_keys WHERE account_id = ? AND mode = 'test'`,
    [accountId],
  );
  const mode = 'test' as const;
  const caller = { apiKeyId: key?.id ?? '', accountId, mode, scopes: ['payments:write'] as const };
  const payments = world.payments((id) => {
    if (plan !== undefined) world.planFaults(id, plan);
    onStart(id);
  });
  const wanted = {
    idempotencyKey: randomBytes(12).toString('hex'),
    request: buildRequest(request),
  };
  // Merchants are told to send what was answered with 503 again, with the same key.
  const { body } = await waitThroughFaults('the payment to open', () =>
    payments.create(caller, wanted),
  );
  const { id } = (JSON.parse(body.toString()) as { data: { id: string } }).data;
  return { id, caller, handle: world.temporal.workflow.getHandle(id) };
}

function buildRequest(request: Partial<PaymentRequest> = {}): PaymentRequest {
  return {
    amount: amount('100'),
    currency: 'USDT',
    reference: `order-${randomBytes(8).toString('hex')}`,
    description: null,
    customerEmail: null,
    successUrl: null,
    cancelUrl: null,
    provider: 'exchange_pay',
    network: null,
    metadata: {},
    expiresInSeconds: 3_600,
    ...request,
  };
}

export async function readPaymentRow(world: WorkflowWorld, id: string): Promise<Payment> {
  const payment = await findPayment(world.db, id);
  if (payment === null) throw new Error(`there is no payment ${id}`);
  return payment;
}

export async function whenPaymentRow(
  world: WorkflowWorld,
  { id }: PaymentCase,
  ...wanted: PaymentStatus[]
): Promise<Payment> {
  return waitFor(`${id} to be ${wanted.join(' or ')}`, async () => {
    const payment = await readPaymentRow(world, id);
    return wanted.includes(payment.status) ? payment : undefined;
  });
}

/** Lets something happen at the provider, which then calls back. */
export async function playAtProvider(
  world: WorkflowWorld,
  { id }: PaymentCase,
  verb: string,
  members: Record<string, unknown> = {},
): Promise<void> {
  const key = { provider: 'exchange_pay', mode: 'test', client_reference: id };
  const status = await control(world.sandbox.url, `checkouts/${verb}`, { ...key, ...members });
  if (status !== 200) throw new Error(`${verb} of ${id} was answered with ${status}`);
}

/** A transfer that is confirmed already, so that it is known at the next look. */
export async function payAtProvider(
  world: WorkflowWorld,
  payment: PaymentCase,
  value: string,
): Promise<void> {
  await playAtProvider(world, payment, 'pay', { amount: value, at: new Date().toISOString() });
}

/** Closes the window now, and wakes the workflow. */
export async function closeWindowOf(world: WorkflowWorld, payment: PaymentCase): Promise<void> {
  const sql = 'UPDATE payments SET expires_at = clock_timestamp() WHERE id = ?';
  await world.db.query(sql, [payment.id]);
  await payment.handle.signal('providerUpdate');
}

export interface PaymentRecords {
  status: PaymentStatus;
  exceptions: string[];
  /** Statuses, in the order of their events. */
  events: string[];
  available: string;
  postings: string[];
  /** What the provider sent back. */
  refunds: string[];
}

/** @throws Error when the events are not numbered from 1 without a gap */
export async function readPaymentRecords(
  world: WorkflowWorld,
  { id, caller }: PaymentCase,
): Promise<PaymentRecords> {
  const payment = await readPaymentRow(world, id);
  const events = await world.db.query<{ type: string; sequence: number }>(
    'SELECT type, sequence FROM events WHERE object_id = ? ORDER BY sequence',
    [id],
  );
  events.forEach(({ sequence }, index) => {
    if (sequence !== index + 1) throw new Error(`events of ${id}: ${JSON.stringify(events)}`);
  });
  const postings = await world.db.query<{ type: string }>(
    'SELECT type FROM ledger_transactions WHERE source_id = ? ORDER BY balance_version',
    [id],
  );
  const [balance] = await listBalances(world.db, caller.accountId, caller.mode);
  const entry = await readCheckoutEntry(world.sandbox.url, id);
  return {
    status: payment.status,
    exceptions: payment.exceptions,
    events: events.map(({ type }) => type.replace('payment.', '')),
    available: balance?.available ?? '0.00000000',
    postings: postings.map(({ type }) => type),
    refunds: entry?.refunds.map((one) => one.amount) ?? [],
  };
}
