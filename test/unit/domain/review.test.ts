import { amount } from '../../../src/domain/money';
import {
  autoApproveDelayMs,
  REVIEW_REASONS,
  type ReviewFacts,
  type ReviewReason,
  reviewReasons,
  reviewReasonSentence,
} from '../../../src/domain/review';

import { newId } from '../../../src/platform/lib/new-id';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A live payout that no rule holds. */
function buildFacts(overrides: Partial<ReviewFacts> = {}): ReviewFacts {
  return {
    mode: 'live',
    amount: amount('100'),
    destinationType: 'crypto_address',
    reviewAll: false,
    rehearseReview: false,
    autoApproveMax: null,
    autoApproveDailyMax: null,
    autoApprovedAmount: amount('0'),
    fourEyesThreshold: null,
    destinationUsedBefore: true,
    apiKeyAgeMs: DAY_MS,
    ...overrides,
  };
}

const LIVE: [ReviewReason, Partial<ReviewFacts>][] = [
  ['review_all', { reviewAll: true }],
  ['above_auto_approve_max', { autoApproveMax: amount('99.99999999') }],
  [
    'above_auto_approve_daily_max',
    { autoApproveDailyMax: amount('150'), autoApprovedAmount: amount('50.00000001') },
  ],
  ['first_use_of_destination', { destinationUsedBefore: false }],
  ['email_destination', { destinationType: 'email' }],
  ['new_api_key', { apiKeyAgeMs: DAY_MS - 1 }],
  ['above_four_eyes_threshold', { fourEyesThreshold: amount('99.99999999') }],
];

test('a live payout that no rule holds needs nobody', () => {
  expect(reviewReasons(buildFacts())).toEqual([]);
});

test.each(LIVE)('%s holds a live payout by itself, and no test payout', (reason, facts) => {
  expect(reviewReasons(buildFacts(facts))).toEqual([reason]);
  expect(reviewReasons(buildFacts({ ...facts, mode: 'test' }))).toEqual([]);
});

test('rehearse_review holds a test payout by itself, and no live payout', () => {
  expect(reviewReasons(buildFacts({ mode: 'test', rehearseReview: true }))).toEqual([
    'rehearse_review',
  ]);
  expect(reviewReasons(buildFacts({ rehearseReview: true }))).toEqual([]);
});

test.each<[string, Partial<ReviewFacts>]>([
  ['an amount of exactly the maximum', { autoApproveMax: amount('100') }],
  [
    'a day that comes to exactly its maximum',
    { autoApproveDailyMax: amount('150'), autoApprovedAmount: amount('50') },
  ],
  ['an amount of exactly the threshold of four eyes', { fourEyesThreshold: amount('100') }],
  ['an exchange account', { destinationType: 'exchange_id' }],
])('%s passes', (_what, facts) => {
  expect(reviewReasons(buildFacts(facts))).toEqual([]);
});

test('all the rules that hit are named', () => {
  const everything = Object.assign({}, ...LIVE.map(([, facts]) => facts));
  expect(reviewReasons(buildFacts(everything))).toEqual(LIVE.map(([reason]) => reason));
  expect(['rehearse_review', ...LIVE.map(([reason]) => reason)]).toEqual([...REVIEW_REASONS]);
});

test('a requested payout is approved after 10 seconds in live mode, 2 in test mode', () => {
  expect([autoApproveDelayMs('live'), autoApproveDelayMs('test')]).toEqual([10_000, 2_000]);
});

test.each([
  [newId('apiKey'), 'The API key is less than 24 hours old.'],
  [newId('user'), 'The user who requested it was created less than 24 hours ago.'],
  [null, 'The API key, or the user who requested it, is less than 24 hours old.'],
])('a key or a user is called what it is (%#)', (requester, sentence) => {
  expect(reviewReasonSentence('new_api_key', requester)).toBe(sentence);
});

test('no other reason speaks of the key', () => {
  const requester = newId('apiKey');
  const sentence = reviewReasonSentence('review_all', null);
  expect(reviewReasonSentence('review_all', requester)).toBe(sentence);
});
