/** Refunds that merchants ask for, from the request to the provider's answer. db/refunds has what is refused. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer } from '../../support/merchant/merchant-client';
import {
  ADDRESS,
  atProvider,
  checkoutOf,
  creditOf,
  decide,
  eventsOf,
  openedPayment,
  paidOnChain,
  paidPayment,
  postingsOf,
  readPayment,
  refund,
  refunded,
  refundOf,
  refundsOf,
  underpaidPayment,
  whenDetails,
  whenPayment,
  whenRefund,
} from '../../support/payment/payment-steps';
import { available, openMerchant } from '../../support/payout/payout-steps';
import { sharedInRoom } from '../../support/room';
import { scaled } from '../../support/scale';
import { isSound, startGateway } from '../../support/servers/gateway';
import { control, type Outage, setOutage } from '../../support/servers/sandbox';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';

const gateway = started(sharedInRoom('gateway', startGateway), isSound);

const CREDIT = creditOf('100.00000000', '1.00000000');

const outage = (kind: Outage) => setOutage(gateway, 'exchange_pay', 'test', kind);

describe('at a provider that knows who paid', () => {
  test.concurrent(
    'a part is refunded, then the rest: events, balance and ledger [endpoint POST /payments/{id}/refunds] [endpoint GET /refunds/{id}] [endpoint GET /payments/{id}/refunds] [endpoint GET /refunds]',
    async () => {
      const payment = await paidPayment(gateway);
      const { client, id } = payment;
      const part = await refunded(payment, { amount: '40', reason: 'One lamp was broken' });
      expect(part).toMatchObject({
        object: 'refund',
        payment_id: id,
        requested_by: 'merchant',
        amount: '40.00000000',
        balance_debit: '39.60000000',
        fee_returned: '0.40000000',
        reason: 'One lamp was broken',
        destination: null,
      });
      // The money is gone before the provider has answered.
      expect(await available(client)).toBe('59.40000000');
      const done = await whenRefund(client, part.id, 'completed');
      expect(done).toMatchObject({ failure_reason: null, completed_at: expect.any(String) });
      expect(await readPayment(client, id)).toMatchObject({
        status: 'completed',
        refunded_amount: '40.00000000',
        exceptions: [],
      });
      const events = await eventsOf(gateway, part.id);
      expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
        ['refund.created', 1],
        ['refund.completed', 2],
      ]);
      expect(events.map(({ body }) => body.data)).toEqual([part, done]);

      const rest = await refunded(payment);
      expect(rest).toMatchObject({ amount: '60.00000000' });
      await whenPayment(client, id, 'refunded');
      expect(await available(client)).toBe('0.00000000');
      expect(await postingsOf(gateway, id)).toEqual([
        CREDIT,
        refundOf('40.00000000', '39.60000000', '0.40000000'),
        refundOf('60.00000000', '59.40000000', '0.60000000'),
      ]);
      expect((await refundsOf(payment)).map((one) => one['id'])).toEqual([rest.id, part.id]);
      const { json } = await client.get(`/payments/${id}/refunds?limit=1`);
      const next = await client.get(String(json.links.next).split('/api/v1')[1] ?? '');
      expect(next.json.data).toMatchObject([{ id: part.id }]);
      const found = await client.get(`/refunds?reference=${part.reference}&status=completed`);
      expect(found.json.data).toEqual([done]);
      const { refunds } = await checkoutOf(gateway, id);
      expect(refunds.map((one) => one.refund_reference)).toEqual([part.id, rest.id]);
    },
  );
});

/** The provider sends everything back by itself. @returns false when nothing is left to send back */
async function chargeBack(id: string): Promise<boolean> {
  const { provider, mode } = await checkoutOf(gateway, id);
  const key = { provider, mode, client_reference: id };
  const status = await control(gateway.sandbox.url, 'checkouts/refund', key);
  if (status !== 200) expect(status).toBe(409);
  return status === 200;
}

/** A refund that lost was taken and given back, or refused because the money had gone back already. */
function expectLost({ status, json }: ApiAnswer): void {
  if (status === 201) return;
  expect(REFUSED_TOO_LATE).toContainEqual([status, json.error.code]);
}

const REFUSED_TOO_LATE = [
  [409, 'invalid_state'],
  [422, 'refund_exceeds_payment'],
  [422, 'insufficient_balance'],
];

test.concurrent(
  'of the refunds of a merchant, an operator and the provider, exactly one wins',
  async () => {
    const payment = await underpaidPayment(gateway);
    const { client, id } = payment;
    const [answer] = await Promise.all([
      refund(payment),
      decide(gateway, id, 'refund', { reason: 'an operator' }),
      atProvider(gateway, id, 'refund'),
    ]);
    await whenPayment(client, id, 'refunded');
    // Whoever lost got its money back: the customer was paid once, and the balance paid once.
    await waitFor(
      'every refund to end',
      async () => (await refundsOf(payment, '?status=pending')).length === 0,
    );
    const [won, ...others] = await refundsOf(payment, '?status=completed');
    expect(others).toEqual([]);
    if (won?.requested_by === 'merchant') expect(answer.json.data.id).toBe(won.id);
    else expectLost(answer);
    expect((await checkoutOf(gateway, id)).refunds).toHaveLength(1);
    expect(await available(client)).toBe('0.00000000');
  },
);
describe('of a refund and a chargeback, exactly one wins', () => {
  const rounds = Array.from({ length: scaled(1, 14) }, (_, round) => round);
  const orders = ['beside the request', 'after its answer', 'a moment after its answer'] as const;
  const cases = rounds.flatMap((round) => orders.map((order) => [order, round] as const));
  test.concurrent.each(cases)('that comes %s (%i)', async (order, round) => {
    const payment = await paidPayment(gateway);
    const { client, id } = payment;
    const asking = refund(payment);
    if (order !== 'beside the request') await asking;
    if (order === 'a moment after its answer') await sleep((1 + round) * 40);
    const [answer, isChargedBack] = await Promise.all([asking, chargeBack(id)]);
    await whenPayment(client, id, 'refunded');
    await waitFor(
      'every refund to end',
      async () => (await refundsOf(payment, '?status=pending')).length === 0,
    );
    const winner = isChargedBack ? 'provider' : 'merchant';
    expect(await refundsOf(payment, '?status=completed')).toMatchObject([
      { requested_by: winner, amount: '100.00000000', balance_debit: '99.00000000' },
    ]);
    const { refunds } = await checkoutOf(gateway, id);
    expect(refunds).toHaveLength(1);
    if (isChargedBack) expectLost(answer);
    else expect(refunds[0]?.refund_reference).toBe(answer.json.data.id);
    expect(await available(client)).toBe('0.00000000');
    expect((await eventsOf(gateway, id)).at(-1)?.type).toBe('payment.refunded');
  });
});

test('a refund that the provider does not answer stays pending, and is sent once', async () => {
  const payment = await paidPayment(gateway);
  const { client, id } = payment;
  await outage('lose_answer');
  const pending = await refunded(payment, { amount: '50' });
  await whenDetails(gateway, id, /Waiting for the provider to carry out the refund of 50/);
  expect((await client.get(`/refunds/${pending.id}`)).json.data.status).toBe('pending');
  expect(await available(client)).toBe('49.50000000');
  await outage(null);
  await whenRefund(client, pending.id, 'completed');
  expect((await checkoutOf(gateway, id)).refunds).toHaveLength(1);
  await isSound(gateway);
});

test('a refund that the provider refuses fails, and the money returns', async () => {
  const payment = await paidPayment(gateway);
  const { client, id } = payment;
  await outage('answer_503');
  // The provider sends a part back by itself, and does not say so before the merchant asks.
  await atProvider(gateway, id, 'refund', { amount: '30' });
  const asked = await refunded(payment);
  await outage(null);
  const failed = await whenRefund(client, asked.id, 'failed');
  expect(failed).toMatchObject({
    balance_debit: '0.00000000',
    fee_returned: '0.00000000',
    failure_reason: expect.stringContaining('refunds no more than'),
    completed_at: null,
  });
  expect((await eventsOf(gateway, asked.id)).map(({ type }) => type)).toEqual([
    'refund.created',
    'refund.failed',
  ]);
  await waitFor('the other refund', async () => (await available(client)) === '69.30000000');
});

test('a cancellation that the provider does not answer is carried out later', async () => {
  const { client } = await openMerchant(gateway, { mode: 'test', funds: {} });
  const id = await openedPayment(client, { provider: 'exchange_pay' });
  await outage('answer_503');
  const { status, json } = await client.post(`/payments/${id}/cancel`);
  expect([status, json.error.details]).toEqual([503, { reason: 'provider_unavailable' }]);
  await outage(null);
  expect(await whenPayment(client, id, 'cancelled')).toMatchObject({ exceptions: [] });
});

describe('a refund on a chain, where nobody knows who paid', () => {
  test('in test mode a destination stands for the customer, and a payout sends the money', async () => {
    const payment = await paidOnChain(gateway, 'test');
    const { client, id } = payment;
    const asked = await refunded(payment, { amount: '40', destination: ADDRESS });
    const done = await whenRefund(client, asked.id, 'completed');
    expect(done).toMatchObject({
      payout_id: expect.stringContaining('po_'),
      awaits_address: false,
    });
    const payout = (await client.get(`/payouts/${done.payout_id}`)).json.data;
    expect(payout).toMatchObject({
      ...{ status: 'completed', reference: asked.id, amount: '40.00000000' },
      ...{ service_fee: '0.00000000', network_fee: '0.00000000', total_debit: '40.00000000' },
    });
    expect(await available(client)).toBe('59.40000000');
    expect(await readPayment(client, id)).toMatchObject({ refunded_amount: '40.00000000' });
    expect((await eventsOf(gateway, asked.id)).map(({ type }) => type)).toEqual([
      'refund.created',
      'refund.completed',
    ]);
  });

  test('fails when the provider refuses its amount', async () => {
    const payment = await paidOnChain(gateway, 'test');
    const asked = await refunded(payment, { amount: '8.00009101', destination: ADDRESS });
    const failed = await whenRefund(payment.client, asked.id, 'failed');
    expect(failed).toMatchObject({
      awaits_address: false,
      failure_reason: expect.stringContaining('more decimals'),
    });
    expect(await available(payment.client)).toBe('99.00000000');
  });
});

test('a pause holds a refund to who paid, also one of an operator', async () => {
  const payment = await paidPayment(gateway);
  const { accountId, client, id } = payment;
  await gateway.db.query(
    `INSERT INTO payout_pauses (scope, target, reason) VALUES ('account', ?, 'a doubt')`,
    [accountId],
  );
  const held = await refunded(payment, { amount: '40' });
  await whenDetails(gateway, id, /Waiting for an operator to resume payouts/);
  expect((await checkoutOf(gateway, id)).refunds).toEqual([]);
  await gateway.db.query('DELETE FROM payout_pauses WHERE target = ?', [accountId]);
  await atProvider(gateway, id, 'resend-callback');
  await whenRefund(client, held.id, 'completed');
});

describe('the scenarios of docs/guides/testing.md', () => {
  test.concurrent('refused, slow, and in doubt', async () => {
    const payment = await paidPayment(gateway);
    const { client, id } = payment;
    const [refused, slow, inDoubt] = [
      await refunded(payment, { amount: '10.00009001' }),
      await refunded(payment, { amount: '10.00009003' }),
      await refunded(payment, { amount: '10.00009007' }),
    ];
    const failed = await whenRefund(client, refused.id, 'failed');
    expect(failed.failure_reason).toBe('The provider does not make this refund.');
    await whenRefund(client, inDoubt.id, 'completed');
    await whenRefund(client, slow.id, 'completed');
    const { refunds } = await checkoutOf(gateway, id);
    expect(refunds.map((one) => one.refund_reference).sort()).toEqual([slow.id, inDoubt.id].sort());
    expect(await available(client)).toBe('79.19982170');
  });
});
