/** A currency without a fee rule or limits is refused; nothing is free or unlimited by accident. */
import type { FeeTerms } from '../../../src/domain/fees';
import { amount, ZERO } from '../../../src/domain/money';
import type { PayoutRequest } from '../../../src/domain/payout';
import { paymentTerms, type PayoutFacts, payoutTerms } from '../../../src/domain/terms';

const FEE: FeeTerms = {
  percentage: '1.0000',
  fixedAmount: ZERO,
  minFee: null,
  maxFee: null,
};
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
const FACTS: PayoutFacts = {
  now: new Date('2026-03-02T00:00:00Z'),
  available: amount('1000'),
  pauseReason: null,
  feeTerms: FEE,
  limitsSet: true,
  fourEyesThreshold: null,
  perTransactionMax: null,
  dailyMax: null,
  autoApproveMax: null,
  autoApproveDailyMax: null,
  usedToday: ZERO,
  autoApprovedToday: ZERO,
  windowResetsAt: null,
  reviewAll: false,
  rehearseReview: false,
  destinationUsedBefore: true,
  apiKeySecretSince: new Date('2026-01-01T00:00:00Z'),
  existingId: null,
  recipientsOnly: false,
  secondPersonAbove: null,
  key: {
    recipientsOnly: false,
    currencies: [],
    perPayoutMax: null,
    dailyMax: null,
    usedToday: ZERO,
    resetsAt: null,
  },
};

function price(facts: Partial<PayoutFacts>) {
  return payoutTerms('live', REQUEST, NETWORK_FEE, { ...FACTS, ...facts });
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
