/** A currency without a fee rule or limits is refused; nothing is free or unlimited by accident. */
import { amount } from '../../../src/domain/money';
import type { PayoutRequest } from '../../../src/domain/payout';
import { paymentTerms, type PayoutFacts, payoutTerms } from '../../../src/domain/terms';
import { FREE_FACTS } from './payout-facts';

const FEE = FREE_FACTS.feeTerms;
const NETWORK_FEE = amount('1');
const REQUEST: PayoutRequest = {
  amount: amount('10'),
  currency: 'USDT',
  reference: 'payout-1',
  destination: { type: 'email', value: 'customer@example.com', memo: null },
  network: null,
  provider: null,
  description: null,
  metadata: {},
};

function price(facts: Partial<PayoutFacts>) {
  return payoutTerms('live', REQUEST, NETWORK_FEE, { ...FREE_FACTS, ...facts });
}

function refusedFor(reason: string) {
  return { refusal: { code: 'service_unavailable', details: { reason } } };
}

test('a payout with a fee rule and limits is accepted, with the fee on top', () => {
  expect(price({})).toMatchObject({
    terms: { feeTerms: FEE, serviceFee: amount('0.1'), totalDebit: amount('11.1') },
  });
});

test('a payout in a currency without a fee rule is refused', () => {
  expect(price({ feeTerms: null })).toMatchObject(refusedFor('fees_not_configured'));
});

test('a payout in a currency without limits is refused, although no maximum is exceeded', () => {
  expect(price({ limitsSet: false })).toMatchObject(refusedFor('limits_not_configured'));
});

test('a payment in a currency without a fee rule is refused', () => {
  const refused = paymentTerms({ existingId: null, feeTerms: null });
  expect(refused).toMatchObject(refusedFor('fees_not_configured'));
  expect(paymentTerms({ existingId: null, feeTerms: FEE })).toEqual({ terms: { feeTerms: FEE } });
});
