/** Refunds that merchants ask for, and payments that they cancel, over HTTP: what is refused, and what one of many gets. */
import { createKey } from '../../support/merchant/merchant';
import {
  type ApiAnswer,
  buildPayout,
  MerchantClient,
  randomKey,
} from '../../support/merchant/merchant-client';
import {
  ADDRESS,
  atProvider,
  checkoutOf,
  creditOf,
  eventsOf,
  type Opened,
  openedPayment,
  paidOnChain,
  paidPayment,
  postingsOf,
  refund,
  refunded,
  refundsOf,
  spend,
  statusesOf,
  whenPayment,
  whenRefund,
} from '../../support/payment/payment-steps';
import { available, balanceOf, openMerchant } from '../../support/payout/payout-steps';
import { isSound } from '../../support/servers/gateway';
import { started } from '../../support/started';
import { waitFor } from '../../support/wait-for';
import { startDirectGateway } from '../direct-gateway';

const gateway = started(startDirectGateway, isSound);

const CREDIT = creditOf('100.00000000', '1.00000000');

test.concurrent('a repeated request is one refund, and a reference is used once', async () => {
  const payment = await paidPayment(gateway);
  const key = randomKey();
  const body = { amount: '10', reference: `return-${randomKey()}` };
  const [first, ...others] = await Promise.all([
    refund(payment, body, key),
    refund(payment, body),
    refund(payment, body),
  ]);
  const statuses = [first, ...others].map(({ status }) => status).sort();
  expect(statuses).toEqual([201, 409, 409]);
  const again = await refund(payment, body, key);
  const winner = [first, ...others].find(({ status }) => status === 201);
  if (first.status === 201) {
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  } else {
    expect(again.json.error.details).toEqual({
      existing_id: winner?.json.data.id,
      existing_object: 'refund',
    });
  }
  expect(await refundsOf(payment)).toHaveLength(1);
  expect(await available(payment.client)).toBe('89.10000000');
});

/** A payment, and what is asked for it. */
interface Asked {
  of: Pick<Opened, 'client' | 'id'>;
  body?: Record<string, unknown>;
  key?: string;
}

interface RefusedRefund {
  what: string;
  /** Of a paid payment of 100 USDT, whose merchant has 99.00. */
  ask: (payment: Opened) => Asked | Promise<Asked>;
  answer: [status: number, code: string, details?: Record<string, unknown>];
}

const REFUSED: RefusedRefund[] = [
  {
    what: 'more than was credited',
    ask: (of) => ({ of, body: { amount: '100.00000001' } }),
    answer: [
      422,
      'refund_exceeds_payment',
      { requested: '100.00000001', refundable: '100.00000000' },
    ],
  },
  {
    what: 'more than is left beside a refund that is under way',
    ask: async (of) => {
      await refunded(of, { amount: '60' });
      return { of, body: { amount: '40.00000001' } };
    },
    answer: [422, 'refund_exceeds_payment', { refundable: '40.00000000' }],
  },
  {
    what: 'a payment that is refunded',
    ask: async (of) => {
      await refunded(of);
      return { of, body: { amount: '1' } };
    },
    answer: [422, 'refund_exceeds_payment', { requested: '1.00000000', refundable: '0.00000000' }],
  },
  {
    what: 'a payment that the provider has refunded',
    ask: async (of) => {
      await atProvider(gateway, of.id, 'refund');
      await whenPayment(of.client, of.id, 'refunded');
      return { of, body: { amount: '1' } };
    },
    answer: [422, 'refund_exceeds_payment', { requested: '1.00000000', refundable: '0.00000000' }],
  },
  {
    what: 'more than the balance has',
    ask: async (of) => {
      await spend(gateway, of, '90');
      return { of };
    },
    answer: [
      422,
      'insufficient_balance',
      { currency: 'USDT', available: '9.00000000', required: '99.00000000' },
    ],
  },
  {
    what: 'another currency than the payment’s',
    ask: (of) => ({ of, body: { amount: '1', currency: 'BTC' } }),
    answer: [
      422,
      'validation_failed',
      { fields: [expect.objectContaining({ field: 'currency' })] },
    ],
  },
  {
    what: 'no reference',
    ask: (of) => ({ of, body: { reference: undefined } }),
    answer: [
      422,
      'validation_failed',
      { fields: [expect.objectContaining({ field: 'reference' })] },
    ],
  },
  {
    what: 'an amount of zero',
    ask: (of) => ({ of, body: { amount: '0' } }),
    answer: [422, 'validation_failed', { fields: [expect.objectContaining({ field: 'amount' })] }],
  },
  {
    what: 'more decimal places than the currency has',
    ask: (of) => ({ of, body: { amount: '1.000000001' } }),
    answer: [422, 'validation_failed', { fields: [expect.objectContaining({ field: 'amount' })] }],
  },
  {
    what: 'a payment that nobody has paid',
    ask: async ({ client }) => ({ of: { client, id: await openedPayment(client) } }),
    answer: [409, 'invalid_state', { status: 'created' }],
  },
  {
    what: 'a payment of another account',
    ask: async ({ id }) => {
      const { client } = await openMerchant(gateway, { mode: 'test', funds: { USDT: '1000' } });
      return { of: { client, id } };
    },
    answer: [404, 'not_found', { resource: 'payment' }],
  },
  {
    what: 'a test payment with a live key',
    ask: async ({ accountId, id }) => {
      const mode = 'live';
      const secret = await createKey(gateway.db, gateway.pepper, { accountId, mode });
      return { of: { client: new MerchantClient(gateway.baseUrl, secret), id } };
    },
    answer: [404, 'not_found', { resource: 'payment' }],
  },
  {
    what: 'an idempotency key that was used for another amount',
    ask: async (of) => {
      const key = randomKey();
      const reference = `refund-${randomKey()}`;
      expect((await refund(of, { amount: '1', reference }, key)).status).toBe(201);
      return { of, body: { amount: '2', reference }, key };
    },
    answer: [422, 'idempotency_key_reused'],
  },
];

test.concurrent.each(REFUSED)('$what is refused, and moves nothing', async ({ ask, answer }) => {
  const payment = await paidPayment(gateway);
  const { of, body, key } = await ask(payment);
  const before = [await postingsOf(gateway, payment.id), await available(payment.client)];
  const refused = await refund(of, body, key);
  const { code, details } = refused.json.error;
  const [status, wantedCode, wantedDetails] = answer;
  expect([refused.status, code]).toEqual([status, wantedCode]);
  if (wantedDetails !== undefined) expect(details).toMatchObject(wantedDetails);
  expect([await postingsOf(gateway, payment.id), await available(payment.client)]).toEqual(before);
});

/** One more payment of 100 USDT of a merchant. */
async function paidAgain(client: MerchantClient): Promise<Pick<Opened, 'client' | 'id'>> {
  const id = await openedPayment(client, { provider: 'exchange_pay' });
  await atProvider(gateway, id, 'pay');
  await whenPayment(client, id, 'completed');
  return { client, id };
}

describe('for the same money, exactly one wins', () => {
  test.concurrent('of many merchants’ requests', async () => {
    const payment = await paidPayment(gateway);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => refund(payment, { amount: '60' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422, 422]);
    expect(await available(payment.client)).toBe('39.60000000');
  });

  // Each payment has a lock of its own: the balance decides.
  test.concurrent('of three payments, when the balance covers the refund of one', async () => {
    const first = await paidPayment(gateway);
    const { client } = first;
    const others = await Promise.all([2, 3].map(() => paidAgain(client)));
    await spend(gateway, first, '150');
    const answers = await Promise.all([first, ...others].map((payment) => refund(payment)));
    const outcomes = answers.map(({ status, json }) => json.error?.code ?? status);
    expect(outcomes.sort()).toEqual([201, 'insufficient_balance', 'insufficient_balance']);
    expect(await available(client)).toBe('48.00000000');
  });
});

test.concurrent('a refund of the provider’s own is listed, with an event', async () => {
  const payment = await paidPayment(gateway);
  await atProvider(gateway, payment.id, 'refund', { amount: '30' });
  const own = await waitFor('the refund', async () => (await refundsOf(payment))[0]);
  expect(own).toMatchObject({
    requested_by: 'provider',
    reference: null,
    status: 'completed',
    amount: '30.00000000',
    balance_debit: '29.70000000',
  });
  const events = await eventsOf(gateway, String(own['id']));
  expect(events.map(({ type }) => type)).toEqual(['refund.completed']);
});

describe('a payment is cancelled by its merchant', () => {
  const cancel = ({ client, id }: Pick<Opened, 'client' | 'id'>) =>
    client.post(`/payments/${id}/cancel`);

  async function opened(): Promise<Opened> {
    const { accountId, client } = await openMerchant(gateway, { mode: 'test', funds: {} });
    return { accountId, client, id: await openedPayment(client) };
  }

  test.concurrent(
    'its checkout is closed, and late money is credited [endpoint POST /payments/{id}/cancel]',
    async () => {
      const payment = await opened();
      const { client, id } = payment;
      const { status, json } = await cancel(payment);
      expect([status, json.data.status, json.data.exceptions]).toEqual([200, 'cancelled', []]);
      expect((await checkoutOf(gateway, id)).state).toBe('cancelled');
      expect(await statusesOf(gateway, id)).toEqual(['created', 'cancelled']);
      const again = await cancel(payment);
      expect([again.status, again.json.error.details]).toEqual([409, { status: 'cancelled' }]);

      await atProvider(gateway, id, 'pay');
      expect(await whenPayment(client, id, 'completed')).toMatchObject({
        exceptions: ['late'],
        net_amount: '99.00000000',
      });
      expect(await available(client)).toBe('99.00000000');
    },
  );

  test.concurrent('not when the customer has paid', async () => {
    const payment = await paidPayment(gateway);
    const { status, json } = await cancel(payment);
    expect([status, json.error.code, json.error.details]).toEqual([
      409,
      'invalid_state',
      { status: 'completed' },
    ]);
  });

  test.concurrent.each([1, 2, 3, 4])(
    'against a transfer at the same moment exactly one wins (%i)',
    async () => {
      const payment = await opened();
      const { client, id } = payment;
      const [answer] = await Promise.all([cancel(payment), atProvider(gateway, id, 'pay')]);
      const data = await whenPayment(client, id, 'completed');
      const isCancelled = (await statusesOf(gateway, id)).includes('cancelled');
      expect([answer.status, data.exceptions]).toEqual(isCancelled ? [200, ['late']] : [409, []]);
      expect(await postingsOf(gateway, id)).toEqual([CREDIT]);
      expect(await available(client)).toBe('99.00000000');
    },
  );
});

describe('the limits of an API key apply to its refunds', () => {
  const limited = async (payment: Opened, change: string) => {
    const sql = `UPDATE api_keys SET ${change} WHERE account_id = ? AND mode = 'test'`;
    await gateway.db.query(sql, [payment.accountId]);
  };
  const refusal = async (answer: Promise<ApiAnswer>) => {
    const { json } = await answer;
    return [json.error.code, json.error.details] as const;
  };

  test('a maximum for each, one of 24 hours together with payouts, currencies, and recipients only', async () => {
    const payment = await paidPayment(gateway);
    const limits = '{"USDT": {"per_payout": "40.00000000", "per_day": "50.00000000"}}';
    await limited(payment, `payout_limits = '${limits}'`);
    expect(await refusal(refund(payment, { amount: '40.00000001' }))).toEqual([
      'limit_exceeded',
      expect.objectContaining({ limit: 'key_per_transaction', maximum: '40.00000000' }),
    ]);
    const first = await refunded(payment, { amount: '30' });
    const payout = buildPayout({ amount: '15' });
    expect((await payment.client.createPayout(payout)).status).toBe(201);
    const day = { limit: 'key_daily', used: '45.00000000', resets_at: expect.any(String) };
    expect(await refusal(refund(payment, { amount: '6' }))).toEqual([
      'limit_exceeded',
      expect.objectContaining(day),
    ]);
    expect(await refusal(payment.client.createPayout(buildPayout({ amount: '6' })))).toEqual([
      'limit_exceeded',
      expect.objectContaining(day),
    ]);
    await refunded(payment, { amount: '5' });
    await whenRefund(payment.client, first.id, 'completed');

    await limited(payment, `payout_limits = '{}', payout_currencies = '{BTC}'`);
    expect(await refusal(refund(payment, { amount: '1' }))).toEqual([
      'currency_not_allowed',
      { allowed: ['BTC'] },
    ]);
    await limited(payment, `payout_currencies = '{}', recipients_only = true`);
    await refunded(payment, { amount: '1' });
  });

  test('twenty refunds at once do not exceed the daily limit of their key', async () => {
    const first = await paidPayment(gateway);
    const { client } = first;
    // Of four payments, because the lock of one would put its refunds in order.
    const payments = [first, ...(await Promise.all([2, 3, 4].map(() => paidAgain(client))))];
    await limited(first, `payout_limits = '{"USDT": {"per_day": "10.00000000"}}'`);
    const answers = await Promise.all(
      payments.flatMap((payment) =>
        Array.from({ length: 5 }, () => refund(payment, { amount: '3' })),
      ),
    );
    // A request that found the workflow busy is answered with 503, and may be repeated.
    const refused = answers.filter(({ status }) => status === 422);
    expect(refused.map(({ json }) => json.error.details.limit)).toEqual(
      refused.map(() => 'key_daily'),
    );
    expect(refused.length).toBeGreaterThan(0);
    expect((await client.get('/refunds')).json.data).toHaveLength(3);
  });
});

describe('a refund on a chain, where nobody knows who paid', () => {
  test('needs refunds:write, saved recipients where only they are paid, and then an address [endpoint POST /refunds/{id}/cancel]', async () => {
    const payment = await paidOnChain(gateway, 'live');
    const { accountId, client, id, key } = payment;
    const account = (change: string) =>
      gateway.db.query(`UPDATE accounts SET ${change} WHERE id = ?`, [accountId]);
    await key(`scopes = '{payments:write,payments:read}'`);
    await account('review_all = true, recipients_only = true');
    const refused = await refund(payment);
    expect([refused.status, refused.json.error.details]).toEqual([
      403,
      { required_scope: 'refunds:write' },
    ]);
    await key(`scopes = '{payments:write,payments:read,refunds:write,balance:read}'`);
    const unsaved = await refund(payment);
    expect([unsaved.status, unsaved.json.error.code]).toEqual([403, 'recipient_required']);
    expect(await available(client)).toBe('99.00000000');

    await account('recipients_only = false');
    const named = await refund(payment, { destination: ADDRESS });
    expect([named.status, named.json.error.code]).toEqual([403, 'insufficient_scope']);
    const asked = await refunded(payment);
    expect(asked).toMatchObject({ status: 'pending', awaits_address: true, payout_id: null });
    expect(Object.values(asked)).not.toContainEqual(expect.stringContaining('http'));
    expect((await checkoutOf(gateway, id)).refunds).toEqual([]);
    const { status, json } = await client.post(`/refunds/${asked.id}/cancel`);
    expect([status, json.data]).toEqual([
      200,
      expect.objectContaining({ status: 'failed', awaits_address: false }),
    ]);
    expect(await available(client)).toBe('99.00000000');
    const twice = await client.post(`/refunds/${asked.id}/cancel`);
    expect([twice.status, twice.json.error.code]).toEqual([409, 'invalid_state']);
  });

  test('has no more decimals than the network', async () => {
    const overrides = { currency: 'XRP', network: 'xrpl' };
    const { client, id } = await paidOnChain(gateway, 'test', overrides);
    const tooFine = await refund({ client, id }, { amount: '8.33333333' });
    expect([tooFine.status, tooFine.json.error]).toMatchObject([
      422,
      { code: 'validation_failed', details: { fields: [{ field: 'amount', rule: 'format' }] } },
    ]);
    expect(await balanceOf(client, 'XRP')).toMatchObject({ available: '99.00000000' });
  });

  test('a live one takes no destination from the merchant', async () => {
    const payment = await paidOnChain(gateway, 'live');
    const { status, json } = await refund(payment, { amount: '1', destination: ADDRESS });
    expect([status, json.error.code]).toEqual([422, 'validation_failed']);
    expect(await refundsOf(payment)).toEqual([]);
  });
});
