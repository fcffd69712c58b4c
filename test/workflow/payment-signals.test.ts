/** What operators type by hand about payments: whatever it is, the payment's workflow goes on. */
import { Client, Connection } from '@temporalio/client';
import { decidePayment } from '../../activities/payment/decide';
import { PAYMENT_DECISIONS } from '../../src/domain/payment';
import { decideAboutPayment, UnclearDecision } from '../../src/features/payments/payment-changes';
import { createPaymentWorkflows } from '../../src/temporal/payment-workflows';
import { isSound } from '../support/servers/gateway';
import {
  closeWindowOf,
  createPaymentCase,
  payAtProvider,
  type PaymentCase,
  playAtProvider,
  readPaymentRecords,
  whenPaymentRow,
} from '../support/payment/payment-case';
import {
  readHistory,
  readSearchAttributes,
  readTaskFailures,
  whenDetails,
  whenIdle,
  whenOver,
} from '../support/payout/payout-case';
import { byPage, expectRemarks, json, payload, signalRaw, type UnusableSignal } from './raw-signal';
import { findAnyOf, readEverything } from '../support/stored-text';
import { CONSOLE_URL, signalFirst, startWorkflowWorld } from '../support/servers/workflow-world';
import { waitFor } from '../support/wait-for';
import { started } from '../support/started';

const world = started(() => startWorkflowWorld('payments'), isSound);

async function held(): Promise<PaymentCase> {
  const payment = await createPaymentCase(world);
  await playAtProvider(world, payment, 'hold');
  await payAtProvider(world, payment, '100');
  expect(await whenDetails(payment, /^\*\*on hold/)).toContain(
    `[Open in the console](${CONSOLE_URL}/payments/${payment.id})`,
  );
  return payment;
}

/** Completed, with a workflow that has ended. */
async function paid(): Promise<PaymentCase> {
  const payment = await createPaymentCase(world);
  await payAtProvider(world, payment, '100');
  expect(await whenOver(payment)).toBe('completed');
  return payment;
}

async function decisionsAbout({ id }: PaymentCase) {
  return world.db.query<{ kind: string; by: string | null; reason: string | null; state: string }>(
    `SELECT kind, decided_by AS by, reason, state FROM payment_decisions
      WHERE payment_id = ? ORDER BY number`,
    [id],
  );
}

describe('release without a name', () => {
  test.concurrent.each([
    ['no input', []],
    ['an empty object', [json({})]],
    ['null', [json(null)]],
    ['a null without JSON', [payload('binary/null')]],
    ['empty texts', [json({ by: '  ', reason: '' })]],
    ['members that it does not know', [json({ note: 'hello' })]],
  ])('counts with %s', async (_what, payloads) => {
    const payment = await held();
    await signalRaw(world, payment, 'release', payloads);
    expect(await whenOver(payment)).toBe('completed');
    expect(await decisionsAbout(payment)).toEqual([
      { kind: 'release', by: null, reason: null, state: 'accepted' },
    ]);
    expect(await readTaskFailures(payment)).toEqual([]);
  });
});

const OBJECT = 'must be a JSON object';
const UNDECODABLE = 'the input cannot be decoded';

const UNUSABLE: UnusableSignal[] = [
  ['a string', 'release', [json('alice')], OBJECT],
  ['an array', 'cancel', [json(['alice'])], OBJECT],
  ['a number', 'refund', [json(42)], OBJECT],
  ['two inputs', 'release', [json({}), json({})], 'expected one input, received 2'],
  ['a name that is a number', 'release', [json({ by: 42 })], '"by" must be a name'],
  ['an endless name', 'release', [json({ by: 'a'.repeat(101) })], '"by" must be a name'],
  ['an endless reason', 'reject', [json({ reason: 'a'.repeat(501) })], '"reason" must be'],
  ['a NUL in the reason', 'reject', [json({ reason: 'a\0b' })], '"reason" must be a text'],
  ['no reason to reject', 'reject', [], '"reason" is required'],
  ['no reason to refund', 'refund', [json({ amount: '5' })], '"reason" is required'],
  ['a blank reason', 'refund', [json({ reason: ' ' })], '"reason" is required'],
  [
    'an amount as a number',
    'refund',
    [json({ amount: 5, reason: 'x' })],
    'must be a decimal string',
  ],
  [
    'an amount with a sign',
    'refund',
    [json({ amount: '-5', reason: 'x' })],
    'must be a decimal string',
  ],
  ['an empty amount', 'refund', [json({ amount: '', reason: 'x' })], 'must be a decimal string'],
  ['a blank amount', 'refund', [json({ amount: ' ', reason: 'x' })], 'must be a decimal string'],
  [
    'too many decimals',
    'refund',
    [json({ amount: '1.123456789', reason: 'x' })],
    'must be a decimal string',
  ],
  [
    'an amount to release',
    'release',
    [json({ amount: '5' })],
    '"amount" is only valid for `refund`',
  ],
  ['an id that is none', 'release', [json({ id: 7 })], '"id" must be a text'],
  ['JSON that breaks off', 'release', [payload('json/plain', '{oops')], UNDECODABLE],
  ['JSON without bytes', 'release', [payload('json/plain')], UNDECODABLE],
  ['an encrypted input', 'release', [payload('binary/encrypted', 'x'.repeat(64))], UNDECODABLE],
  ['an encoding that nobody knows', 'cancel', [payload('yaml/plain', 'by: bob')], UNDECODABLE],
  ['no encoding at all', 'cancel', [payload(null, '{}')], UNDECODABLE],
  ['plain bytes', 'release', [payload('binary/plain', 'bob')], '`release` was ignored'],
  ['another signal', 'realese', [json({ by: 'alice' })], '`realese` was ignored'],
  ['a payout’s signal', 'approve', [json({ by: 'alice' })], '`approve` was ignored'],
  ['a reserved name', '__temporal_x', [json({})], 'was ignored'],
  ['an unreadable signal', 'pay', [payload('json/plain', '{oops')], '`pay` was ignored'],
];

test.concurrent.each(byPage(UNUSABLE))(
  '%s: ignored with remarks, and the next signal counts',
  async (_all, signals) => {
    const payment = await held();
    const remarks = await expectRemarks(world, payment, signals);
    for (const [index, [, name]] of signals.entries()) {
      if (PAYMENT_DECISIONS.some((kind) => kind === name)) {
        const command = `temporal workflow signal -w ${payment.id} --name ${name} --input`;
        expect(remarks[index]).toContain(command);
      }
    }
    expect(await decisionsAbout(payment)).toEqual([]);
    await payment.handle.signal('reject', { by: 'carol', reason: 'sanctions hit' });
    expect(await whenOver(payment)).toBe('refunded');
    expect(await decisionsAbout(payment)).toEqual([
      { kind: 'reject', by: 'carol', reason: 'sanctions hit', state: 'accepted' },
    ]);
    expect(await readTaskFailures(payment)).toEqual([]);
  },
);

test('of two signals in one workflow task the first counts, and the second is recorded as refused', async () => {
  const decided = [
    { first: 'release', second: 'reject', end: 'completed' },
    { first: 'reject', second: 'release', end: 'refunded' },
    { first: 'release', second: 'release', end: 'completed' },
  ] as const;
  const payments = await Promise.all(
    decided.map(async () => {
      const payment = await held();
      // A late callback of the provider starts another run, which has no remarks.
      const { runId } = await payment.handle.describe();
      return { ...payment, handle: world.temporal.workflow.getHandle(payment.id, runId) };
    }),
  );
  await world.stopWorker();
  for (const [index, { first, second }] of decided.entries()) {
    await payments[index]!.handle.signal(first, { by: 'alice', reason: 'first' });
    await payments[index]!.handle.signal(second, { by: 'bob', reason: 'second' });
  }
  await world.startWorker();
  for (const [index, { first, second, end }] of decided.entries()) {
    const payment = payments[index]!;
    expect(await whenOver(payment)).toBe(end);
    expect(await whenDetails(payment, /Remarks/)).toContain(`\`${second}\` by bob had no effect`);
    expect(await decisionsAbout(payment)).toMatchObject([
      { kind: first, by: 'alice', state: 'accepted' },
      { kind: second, by: 'bob', state: 'refused' },
    ]);
    expect(await readTaskFailures(payment)).toEqual([]);
  }
});

test.concurrent('the same refund sent twice with one id is one refund', async () => {
  const payment = await paid();
  for (let count = 0; count < 2; count += 1) {
    await world.temporal.workflow.signalWithStart('paymentWorkflow', {
      workflowId: payment.id,
      taskQueue: 'payments',
      args: [{ paymentId: payment.id, provider: 'exchange_pay', mode: 'test' }],
      signal: 'refund',
      signalArgs: [{ id: 'ticket-1', amount: '10', reason: 'twice' }],
    });
    await world.temporal.workflow.getHandle(payment.id).result();
  }
  expect(await readPaymentRecords(world, payment)).toMatchObject({ refunds: ['10.00000000'] });
});

test('cancel that comes before the payment is open counts after it', async () => {
  await world.stopWorker();
  const creating = await signalFirst(world, 'cancel', (onStart) =>
    createPaymentCase(world, { onStart }),
  );
  await world.startWorker();
  const payment = await creating();
  await whenPaymentRow(world, payment, 'cancelled');
  expect(await decisionsAbout(payment)).toMatchObject([{ kind: 'cancel', by: 'early' }]);
});

test('a decision that comes when the history has grown too long is not lost', async () => {
  const payment = await held();
  await world.stopWorker();
  for (let count = 0; count < 5; count += 1) {
    await payment.handle.signal('providerUpdate', 'x'.repeat(1_000_000));
  }
  await payment.handle.signal('release', { by: 'alice' });
  await world.startWorker();
  expect(await whenOver(payment)).toBe('completed');
  expect(await decisionsAbout(payment)).toMatchObject([{ kind: 'release', state: 'accepted' }]);
});

test.concurrent(
  'a payment that is held for long goes on in a new run, and can be decided there',
  async () => {
    const payment = await held();
    const { runId } = await payment.handle.describe();
    for (let count = 0; count < 5; count += 1) {
      await payment.handle.signal('providerUpdate', 'x'.repeat(1_000_000));
    }
    // Temporal suggests a new run at the start of a task, by the history that it had before.
    await waitFor('the new run', async () => {
      await payment.handle.signal('providerUpdate');
      // The end of a run is refused while another signal waits.
      await whenIdle(payment);
      return (await payment.handle.describe()).runId !== runId;
    });
    await whenDetails(payment, /^\*\*on hold/);
    expect(await readSearchAttributes(payment)).toMatchObject({
      PaymentStatus: 'on_hold',
      NeedsAttention: true,
    });
    await payment.handle.signal('release', { by: 'alice' });
    expect(await whenOver(payment)).toBe('completed');
    expect(await readTaskFailures(payment)).toEqual([]);
  },
);

const refund = (id: string, value: string | null = null) =>
  ({ id, kind: 'refund', by: 'alice', reason: 'a test', amount: value }) as const;

/** What a decision needs. Nobody subscribes to webhooks here. */
const deciding = () => {
  const nobody = (): void => undefined;
  const webhookDeliveryStarter = { start: nobody, lookFor: nobody };
  const decimalsOf = () => Promise.resolve(null);
  return { db: world.db, providers: world.providers, decimalsOf, webhookDeliveryStarter };
};

test.concurrent('a provider that cannot refund is not asked to', async () => {
  const { id } = await paid();
  const real = world.providers.get('exchange_pay', 'test');
  const unable = { ...real, capabilities: { ...real.capabilities, refunds: false } };
  const deps = { ...deciding(), providers: { ...world.providers, get: () => unable } };
  const { refusal } = await decidePayment(deps, id, refund('r1'));
  expect(refusal).toBe('exchange_pay does not support refunds: refund the customer in another way');
});

test.concurrent('of refunds at the same moment one counts, and takes the money once', async () => {
  const payment = await paid();
  const deps = deciding();
  const results = await Promise.all(
    ['r1', 'r2', 'r3'].map((id) => decidePayment(deps, payment.id, refund(id, '40'))),
  );
  expect(results.filter(({ refusal }) => refusal === null)).toHaveLength(1);
  expect(await readPaymentRecords(world, payment)).toMatchObject({
    available: '59.40000000',
    postings: ['payin_settlement', 'payin_refund'],
  });
});

test('a workflow that has something to do answers no query, because its history could not be replayed', async () => {
  const payment = await held();
  const { options, connection } = world.temporal;
  // The client's own connection asks again.
  const { address } = (connection as Connection).options;
  const asking = await Connection.connect({ address, interceptors: [] });
  const { workflow } = new Client({ connection: asking, namespace: options.namespace });
  const ask = () => workflow.getHandle(payment.id).query('__temporal_workflow_metadata');
  await expect(ask()).resolves.toBeDefined();
  await world.stopWorker();
  await payment.handle.signal('providerUpdate');
  await expect(ask()).rejects.toMatchObject({
    cause: { details: expect.stringContaining('query buffer is full') },
  });
  await world.startWorker();
  await asking.close();
});

test('a decision that its operator was told has no answer has no effect when it arrives late', async () => {
  const payment = await held();
  await world.stopWorker();
  const sentAt = new Date(Date.now() - 6 * 60_000).toISOString();
  await payment.handle.signal('reject', { id: 'late', by: 'bob', reason: 'a test', sentAt });
  const decide = { id: 'in-time', paymentId: payment.id, kind: 'release', amount: null } as const;
  const paymentWorkflows = createPaymentWorkflows(world.temporal);
  const deps = { db: world.db, paymentWorkflows, patienceMs: 100 };
  const sent = decideAboutPayment(deps, { actor: 'alice', reason: null }, decide);
  await expect(sent).rejects.toThrow(UnclearDecision);
  // What the service sends names its time.
  expect(await readEverything(payment)).toMatch(/"id":"in-time"[^}]*"sentAt":"20/);
  await world.startWorker();
  expect(await whenOver(payment)).toBe('completed');
  expect(await decisionsAbout(payment)).toMatchObject([
    { kind: 'reject', by: 'bob', state: 'refused' },
    { kind: 'release', by: 'alice', state: 'accepted' },
  ]);
});

/** The count is the cost of the system: a workflow task is what a worker is slowest at. */
const MOST_EVENTS = 40;

test.concurrent('a payment that is paid takes few events', async () => {
  const payment = await paid();
  const events = (await readHistory(payment)).events ?? [];
  expect(events.length).toBeLessThanOrEqual(MOST_EVENTS);
});

const SECRETS = {
  customerEmail: 'erika.mustermann@example.com',
  description: 'the letters of Erika Mustermann',
  reference: 'order-of-erika-2026',
  successUrl: 'https://shop.example/thanks/erika',
};

test.concurrent(
  'nothing that Temporal stores of a payment says who pays it and what for',
  async () => {
    const request = { ...SECRETS, metadata: { passport_number: 'C01X00T478' } };
    const payment = await createPaymentCase(world, { request });
    await playAtProvider(world, payment, 'hold');
    await payAtProvider(world, payment, '100');
    await whenDetails(payment, /^\*\*on hold/);
    await payment.handle.signal('release', { by: 'alice' });
    expect(await whenOver(payment)).toBe('completed');
    const everything = await readEverything(payment);
    // Decoded indeed: this stands in a payload only.
    expect(everything.includes(`"paymentId":"${payment.id}"`)).toBe(true);
    const secrets = [...Object.values(SECRETS), 'passport_number', 'C01X00T478'];
    expect(findAnyOf([...secrets, payment.caller.apiKeyId], everything)).toEqual([]);
  },
);

test('a payment that nobody pays ends with its window, and late money starts it again', async () => {
  const asked = jest.spyOn(world.providers.get('onchain_provider', 'test'), 'findCheckout');
  const payment = await createPaymentCase(world);
  await closeWindowOf(world, payment);
  expect(await whenOver(payment)).toBe('expired');
  // Once when it opened, and once or twice after the window has closed.
  const calls = asked.mock.calls.filter(([reference]) => reference === payment.id);
  expect(calls.length).toBeLessThanOrEqual(4);
  asked.mockRestore();
  await payAtProvider(world, payment, '100');
  const { exceptions } = await whenPaymentRow(world, payment, 'completed');
  expect(exceptions).toEqual(['late']);
  expect(await whenOver(payment)).toBe('completed');
});
