/** Refunds over HTTP: by the provider and by an operator, up to ledger, balance and events. */
import { PROVIDER_CODES } from '../../../src/domain/provider-codes';
import { startGateway, isSound } from '../../support/servers/gateway';
import { fund } from '../../support/merchant/merchant';
import {
  atProvider,
  checkoutOf,
  creditOf,
  decide,
  eventsOf,
  needsAttention,
  openedPayment,
  paidPayment,
  postingsOf,
  readPayment,
  refundOf,
  spend,
  statusesOf,
  underpaidPayment,
  whenDetails,
  whenPayment,
} from '../../support/payment/payment-steps';
import { available, openMerchant } from '../../support/payout/payout-steps';
import { tryAdmin } from '../../support/servers/gateway-admin';
import { control, type Outage, setOutage } from '../../support/servers/sandbox';
import { waitFor } from '../../support/wait-for';
import { sharedInRoom } from '../../support/room';
import { started } from '../../support/started';

const gateway = started(sharedInRoom('gateway', startGateway), isSound);

const CREDIT = creditOf('100.00000000', '1.00000000');
const ALL_OF_IT = refundOf('100.00000000', '99.00000000', '1.00000000');
const HALF_OF_IT = refundOf('50.00000000', '49.50000000', '0.50000000');

const admin = (...args: string[]) => tryAdmin(gateway, 'payments', ...args);

async function carriedOut(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await admin(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const outage = (kind: Outage) => setOutage(gateway, 'exchange_pay', 'test', kind);

async function exceptionsOf(id: string): Promise<Record<string, unknown>[]> {
  return gateway.db.query(
    `SELECT kind, details, resolved_at IS NOT NULL AS resolved, resolution
       FROM cases WHERE object_id = ?`,
    [id],
  );
}

describe.each(PROVIDER_CODES)('%s refunds by itself', (provider) => {
  test.concurrent('all of it: refunded, with event, and the credit is taken back', async () => {
    const { client, id } = await paidPayment(gateway, provider);
    await atProvider(gateway, id, 'refund');
    const data = await whenPayment(client, id, 'refunded');
    expect(data).toMatchObject({
      received_amount: '100.00000000',
      refunded_amount: '100.00000000',
      service_fee: '0.00000000',
      net_amount: '0.00000000',
      exceptions: [],
      failure_reason: null,
    });
    expect((await eventsOf(gateway, id)).at(-1)).toMatchObject({
      type: 'payment.refunded',
      body: { data },
    });
    expect(await postingsOf(gateway, id)).toEqual([CREDIT, ALL_OF_IT]);
    expect(await available(client)).toBe('0.00000000');
  });

  test.concurrent('in two parts: the status waits for the second', async () => {
    const { client, id } = await paidPayment(gateway, provider);
    await atProvider(gateway, id, 'refund', { amount: '50' });
    const half = await waitFor('the half', async () => {
      const data = await readPayment(client, id);
      return data.refunded_amount === '50.00000000' ? data : undefined;
    });
    expect(half).toMatchObject({
      status: 'completed',
      service_fee: '0.50000000',
      net_amount: '49.50000000',
    });
    expect(await available(client)).toBe('49.50000000');
    const before = await statusesOf(gateway, id);
    await atProvider(gateway, id, 'refund');
    await whenPayment(client, id, 'refunded');
    expect(await statusesOf(gateway, id)).toEqual([...before, 'refunded']);
    expect(await postingsOf(gateway, id)).toEqual([CREDIT, HALF_OF_IT, HALF_OF_IT]);
    expect(await available(client)).toBe('0.00000000');
  });
});

test.concurrent(
  'a refund whose money is spent is owed, and taken when the balance covers it',
  async () => {
    const payment = await paidPayment(gateway);
    const { accountId, client, id } = payment;
    await spend(gateway, payment, '90');
    await atProvider(gateway, id, 'refund');
    const data = await whenPayment(client, id, 'refunded');
    expect(data).toMatchObject({ refunded_amount: '100.00000000', net_amount: '99.00000000' });
    expect(await available(client)).toBe('9.00000000');
    expect(await exceptionsOf(id)).toMatchObject([
      {
        kind: 'refund_not_covered',
        resolved: false,
        details: {
          amount: '100.00000000',
          needed: '99.00000000',
          available: '9.00000000',
        },
      },
    ]);
    expect(await whenDetails(gateway, id, /Waiting for the balance/)).toContain('Needs attention');

    await fund(gateway.db, accountId, 'test', 'USDT', '200');
    await atProvider(gateway, id, 'resend-callback');
    await waitFor('the rest', async () => (await available(client)) === '110.00000000');
    expect(await readPayment(client, id)).toMatchObject({ net_amount: '0.00000000' });
    expect(await postingsOf(gateway, id)).toEqual([CREDIT, ALL_OF_IT]);
    expect(await exceptionsOf(id)).toMatchObject([{ resolved: true }]);
  },
);

test.concurrent('an owed refund is waived when an operator resolves its case', async () => {
  const payment = await paidPayment(gateway);
  const { accountId, client, id } = payment;
  await spend(gateway, payment, '99');
  await atProvider(gateway, id, 'refund');
  await whenPayment(client, id, 'refunded');
  await gateway.db.query(
    `UPDATE cases SET resolved_at = now(), resolution = 'paid by invoice' WHERE object_id = ?`,
    [id],
  );
  await fund(gateway.db, accountId, 'test', 'USDT', '200');
  await atProvider(gateway, id, 'resend-callback');
  const handle = gateway.temporal.workflow.getHandle(id);
  expect(await handle.result()).toBe('refunded');
  expect(await available(client)).toBe('200.00000000');
  expect(await postingsOf(gateway, id)).toEqual([CREDIT]);
});

describe('an operator', () => {
  test.concurrent('refunds an underpaid payment by signal', async () => {
    const { client, id } = await underpaidPayment(gateway);
    await decide(gateway, id, 'refund', { reason: 'too little' });
    const data = await whenPayment(client, id, 'refunded');
    expect(data).toMatchObject({ refunded_amount: '50.00000000', exceptions: ['manual'] });
    expect((await statusesOf(gateway, id)).slice(-2)).toEqual(['underpaid', 'refunded']);
    expect((await postingsOf(gateway, id)).slice(1)).toEqual([HALF_OF_IT]);
    expect(await available(client)).toBe('0.00000000');
    const { refunds } = await checkoutOf(gateway, id);
    expect(refunds).toMatchObject([{ refund_reference: `${id}-1`, amount: '50.00000000' }]);
  });

  test.concurrent('refunds a part by signal, and the rest later', async () => {
    const { client, id } = await underpaidPayment(gateway);
    await decide(gateway, id, 'refund', { amount: '20', reason: 'a part' });
    await whenDetails(gateway, id, /`refund` of 20.00000000 USDT by alice, done/);
    expect(await readPayment(client, id)).toMatchObject({
      status: 'underpaid',
      refunded_amount: '20.00000000',
      net_amount: '29.70000000',
      exceptions: ['manual'],
    });
    await decide(gateway, id, 'refund', { reason: 'the rest' });
    await whenPayment(client, id, 'refunded');
    const { refunds } = await checkoutOf(gateway, id);
    expect(refunds.map((one) => one.amount)).toEqual(['20.00000000', '30.00000000']);
    expect(await available(client)).toBe('0.00000000');
  });

  test.concurrent(
    'is told the figures when the balance does not cover it, and nothing moves',
    async () => {
      const payment = await underpaidPayment(gateway);
      const { client, id } = payment;
      await spend(gateway, payment, '40');
      await decide(gateway, id, 'refund', { reason: 'too little' });
      const page = await whenDetails(gateway, id, /`refund` of 50.00000000 USDT by alice, refused/);
      expect(page).toContain(
        'the refund needs 49.50000000 USDT, and the merchant has 9.50000000 USDT available',
      );
      expect(await needsAttention(gateway, id)).toBe(true);
      expect(await readPayment(client, id)).toMatchObject({ status: 'underpaid' });
      expect((await checkoutOf(gateway, id)).refunds).toEqual([]);
      expect(await postingsOf(gateway, id)).toHaveLength(1);
    },
  );

  test.concurrent(
    'refunds a completed payment whose workflow has ended, with the admin command',
    async () => {
      const { client, id } = await paidPayment(gateway);
      const handle = gateway.temporal.workflow.getHandle(id);
      expect(await handle.result()).toBe('completed');
      await expect(handle.signal('refund', { reason: 'late' })).rejects.toThrow(/completed/);
      const command = ['refund', id, '--amount', '50', '--reason', 'half', '--by', 'carol'];
      const first = await carriedOut(...command, '--operation-id', 'ticket-812');
      expect(first).toMatchObject({
        id: 'ticket-812',
        kind: 'refund',
        amount: '50.00000000',
        state: 'accepted',
        payment_status: 'completed',
        payment_refunded_amount: '50.00000000',
      });
      // The same once more is the same refund, and starts no workflow.
      const { runId } = await handle.describe();
      const again = await carriedOut(...command, '--operation-id', 'ticket-812');
      expect(again).toMatchObject({ payment_refunded_amount: '50.00000000' });
      expect((await handle.describe()).runId).toBe(runId);
      const audit = await gateway.db.query(
        'SELECT actor, action, reason FROM audit_log WHERE object_id = ?',
        [id],
      );
      expect(audit).toEqual([{ actor: 'carol', action: 'payment.refund', reason: 'half' }]);
      const rest = await carriedOut('refund', id, '--reason', 'all');
      expect(rest).toMatchObject({ payment_status: 'refunded' });
      expect(await postingsOf(gateway, id)).toEqual([CREDIT, HALF_OF_IT, HALF_OF_IT]);
      expect(await available(client)).toBe('0.00000000');
    },
  );

  test.concurrent('releases a hold with the admin command', async () => {
    const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    const id = await openedPayment(client, { metadata: { scenario: 'on_hold' } });
    await whenPayment(client, id, 'on_hold');
    expect(await carriedOut('release', id)).toMatchObject({ kind: 'release', state: 'accepted' });
    expect((await whenPayment(client, id, 'completed')).exceptions).toEqual(['manual']);
    const again = await admin('release', id);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain('the payment is completed; it must be on_hold');
  });

  test.concurrent.each([
    [
      'more than came',
      ['--amount', '100.00000001'],
      'exceeds the refundable amount of 100.00000000 USDT',
    ],
    [
      'more than the merchant has',
      [],
      'the refund needs 99.00000000 USDT, and the merchant has 9.00000000 USDT available',
    ],
  ])('is refused %s by the admin command', async (_what, options, sentence) => {
    const payment = await paidPayment(gateway);
    await spend(gateway, payment, '90');
    const refused = await admin('refund', payment.id, ...options, '--reason', 'x');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(sentence);
    expect(await postingsOf(gateway, payment.id)).toHaveLength(1);
  });
});

test('an order that the provider refuses is given back', async () => {
  const { client, id } = await underpaidPayment(gateway);
  // The provider sends a part back by itself, and does not say so before the operator decides.
  await outage('answer_503');
  await atProvider(gateway, id, 'refund', { amount: '30' });
  await decide(gateway, id, 'refund', { reason: 'all of it' });
  await whenDetails(gateway, id, /Waiting for the provider to carry out the `refund`/);
  await outage(null);
  await whenDetails(gateway, id, /`refund` of 50.00000000 USDT by alice, refused/);
  await waitFor(
    'the refund that was made',
    async () => (await readPayment(client, id)).refunded_amount === '30.00000000',
  );
  expect((await postingsOf(gateway, id)).slice(1)).toEqual([
    HALF_OF_IT,
    refundOf('50.00000000', '49.50000000', '0.50000000', 'in'),
    refundOf('30.00000000', '29.70000000', '0.30000000'),
  ]);
  expect(await available(client)).toBe('19.80000000');
});

test('an order that the provider does not answer stays in doubt until it does', async () => {
  const { client, id } = await underpaidPayment(gateway);
  await outage('answer_503');
  await decide(gateway, id, 'refund', { reason: 'too little' });
  await whenDetails(gateway, id, /Waiting for the provider to carry out the `refund`/);
  // Taken already: the merchant cannot spend what is on its way back.
  expect(await available(client)).toBe('0.00000000');
  expect(await readPayment(client, id)).toMatchObject({ refunded_amount: '0.00000000' });
  await outage(null);
  await whenPayment(client, id, 'refunded');
  expect((await checkoutOf(gateway, id)).refunds).toHaveLength(1);
  expect((await postingsOf(gateway, id)).slice(1)).toEqual([HALF_OF_IT]);
});

test('a refund whose callback was lost is found by the command `payments look`', async () => {
  const { client, id } = await paidPayment(gateway);
  await control(gateway.sandbox.url, 'settings', { callback_base_url: null });
  await atProvider(gateway, id, 'refund', { amount: '50' });
  expect((await readPayment(client, id)).refunded_amount).toBe('0.00000000');
  const { code, stdout } = await admin('look', id);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ id, looks_at_provider: true }),
  ]);
  await waitFor(
    'the refund',
    async () => (await readPayment(client, id)).refunded_amount === '50.00000000',
  );
  const callback_base_url = gateway.baseUrl.replace('/api/v1', '');
  await control(gateway.sandbox.url, 'settings', { callback_base_url });
});

test.concurrent('a look at a payment that does not exist is refused', async () => {
  const { code, stderr } = await admin('look', 'pay_nobody');
  expect([code, stderr]).toEqual([1, expect.stringContaining('pay_nobody does not exist')]);
});
