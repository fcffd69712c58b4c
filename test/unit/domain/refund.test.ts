/** What a merchant may refund: no more than was credited, and nothing twice. */
import { amount, ZERO } from '../../../src/domain/money';
import { PAYMENT_STATUSES, type Payment, type PaymentStatus } from '../../../src/domain/payment';
import type { PaymentRefund, RefundState } from '../../../src/domain/payment-step';
import { leftToRefund, type RefundAbility, refundTerms } from '../../../src/domain/refund';

const ABILITY: RefundAbility = {
  name: 'The provider',
  refunds: true,
  destinationTypes: ['crypto_address'],
};

function credited(value: string, others: Partial<Payment> = {}): Payment {
  const payment: Partial<Payment> = {
    status: 'completed',
    currency: 'USDT',
    creditedAmount: amount(value),
    reversedAmount: ZERO,
    ...others,
  };
  return payment as Payment;
}

function refund(state: RefundState, value: string): PaymentRefund {
  const made: Partial<PaymentRefund> = { state, amount: amount(value) };
  return made as PaymentRefund;
}

function ask(
  payment: Payment,
  value: string | null,
  refunds: readonly PaymentRefund[] = [],
  ability: Partial<RefundAbility> = {},
) {
  const asked = { amount: value === null ? null : amount(value), destination: null };
  return refundTerms(payment, refunds, asked, { ...ABILITY, ...ability });
}

const exceeds = (requested: string, refundable: string) => ({
  refusal: {
    code: 'refund_exceeds_payment',
    details: { currency: 'USDT', requested: amount(requested), refundable: amount(refundable) },
  },
});

test('everything that was credited can be refunded, to the last unit, and no more', () => {
  const payment = credited('100');
  expect(ask(payment, null)).toEqual({ amount: amount('100') });
  expect(ask(payment, '100')).toEqual({ amount: amount('100') });
  expect(ask(payment, '0.00000001')).toEqual({ amount: amount('0.00000001') });
  expect(ask(payment, '100.00000001')).toEqual(exceeds('100.00000001', '100'));
});

test('what refunds have taken of the balance is left out', () => {
  const payment = credited('100', { reversedAmount: amount('70') });
  expect(ask(payment, null)).toEqual({ amount: amount('30') });
  expect(ask(payment, '30.00000001')).toEqual(exceeds('30.00000001', '30'));
});

test.each<[RefundState, string]>([
  // The balance has not paid for these, but the customer has the money.
  ['owed', '60'],
  ['waived', '60'],
  // These are in the reversed amount of the payment already, or gave it back.
  ['ordered', '100'],
  ['done', '100'],
  ['refused', '100'],
])('of 100, a refund of 40 that is %s leaves %s', (state, left) => {
  const refunds = [refund(state, '40')];
  expect(leftToRefund(credited('100'), refunds)).toBe(amount(left));
  expect(ask(credited('100'), null, refunds)).toEqual({ amount: amount(left) });
});

test('several that are owed add up, and never to less than nothing', () => {
  const payment = credited('100', { reversedAmount: amount('30') });
  const two = [refund('owed', '40'), refund('waived', '20')];
  expect(ask(payment, null, two)).toEqual({ amount: amount('10') });
  const more = [...two, refund('owed', '10.00000001')];
  expect(leftToRefund(payment, more)).toBe(ZERO);
  expect(ask(payment, '0.00000001', more)).toEqual(exceeds('0.00000001', '0'));
  expect(ask(payment, null, more)).toEqual(exceeds('0', '0'));
});

test('a payment that was not credited is not refunded', () => {
  expect(ask(credited('0', { status: 'pending' }), null)).toMatchObject({
    refusal: { code: 'invalid_state', details: { status: 'pending' } },
  });
});

test('only a payment whose status allows it is refunded', () => {
  const allowed = PAYMENT_STATUSES.filter(
    (status: PaymentStatus) => 'amount' in ask(credited('100', { status }), '1'),
  );
  expect(allowed).toEqual(['completed', 'underpaid']);
});

test('a provider that cannot refund is not asked', () => {
  expect(ask(credited('100'), '1', [], { refunds: false })).toMatchObject({
    refusal: { code: 'invalid_state', message: expect.stringContaining('The provider') as string },
  });
});

test('a destination is one of those that the provider has', () => {
  const destination = { type: 'email', value: 'customer@example.com', memo: null } as const;
  const to = (ability: Partial<RefundAbility>) =>
    refundTerms(credited('100'), [], { amount: null, destination }, { ...ABILITY, ...ability });
  const fields = [expect.objectContaining({ field: 'destination', rule: 'unsupported' })];
  const refused = { refusal: { code: 'validation_failed', details: { fields } } };
  expect(to({})).toEqual(refused);
  expect(to({ destinationTypes: [] })).toEqual(refused);
  expect(to({ destinationTypes: ['email'] })).toEqual({ amount: amount('100') });
});
