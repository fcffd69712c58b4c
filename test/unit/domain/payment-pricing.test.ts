/** What credits cost, and the figures of a payment that its amounts give (decisions/money#service-fees). */
import { amount, ZERO } from '../../../src/domain/money';
import type { Payment } from '../../../src/domain/payment';
import { amountDue, overpaidAmount, priceCredits } from '../../../src/domain/payment-pricing';

const UNPAID = {
  amount: amount('100'),
  ...{ receivedAmount: ZERO, unconfirmedAmount: ZERO, creditedAmount: ZERO, serviceFee: ZERO },
  ...{ refundedAmount: ZERO, reversedAmount: ZERO, reversedFee: ZERO },
  feeTerms: { percentage: '1.0000', fixedAmount: ZERO, minFee: amount('2'), maxFee: null },
} as unknown as Payment;

const transfer = (id: string, text: string) => ({ id, amount: amount(text) });

test('each transfer bears what it adds to the fee, so the least fee is taken once', () => {
  const credits = priceCredits(UNPAID, [
    transfer('a', '50'),
    transfer('b', '50'),
    transfer('c', '200'),
  ]);
  expect(credits).toEqual([
    { ...transfer('a', '50'), fee: '2.00000000' },
    { ...transfer('b', '50'), fee: '0.00000000' },
    { ...transfer('c', '200'), fee: '1.00000000' },
  ]);
});

test('a later transfer goes on from what was credited before', () => {
  const credited = { ...UNPAID, creditedAmount: amount('100'), serviceFee: amount('2') };
  expect(priceCredits(credited, [transfer('d', '200')])[0]?.fee).toBe('1.00000000');
});

test.each([
  ['0', '0', '100.00000000', '0.00000000'],
  ['30', '20', '50.00000000', '0.00000000'],
  ['100', '0', '0.00000000', '0.00000000'],
  ['100', '20', '0.00000000', '0.00000000'],
  ['120', '0', '0.00000000', '20.00000000'],
])(
  'of 100, with %s received and %s seen, %s is due and %s too much',
  (received, seen, due, over) => {
    const payment = {
      ...UNPAID,
      ...{ receivedAmount: amount(received), unconfirmedAmount: amount(seen) },
    };
    expect([amountDue(payment), overpaidAmount(payment)]).toEqual([due, over]);
  },
);
