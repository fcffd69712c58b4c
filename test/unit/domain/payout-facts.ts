/** Facts of an account without any limit, for the tests of rules that are pure. */
import { amount, ZERO } from '../../../src/domain/money';
import type { PayoutFacts } from '../../../src/domain/terms';

export const FREE_FACTS: PayoutFacts = {
  now: new Date('2026-03-02T00:00:00Z'),
  available: amount('1000'),
  pauseReason: null,
  feeTerms: { percentage: '1.0000', fixedAmount: ZERO, minFee: null, maxFee: null },
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
