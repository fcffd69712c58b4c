/**
 * Whether a new payout requires an operator's review (decisions/controls#payout-review). Pure: the reserving
 * transaction reads the facts under its lock and stores the names of the rules that apply.
 */
import { type Amount, add, isLess } from './money';
import type { DestinationType } from './destination';
import { isId } from './ids';
import type { Mode } from './mode';

/** The names of the review rules, as stored with a payout. */
export const REVIEW_REASONS = [
  'rehearse_review',
  'review_all',
  'above_auto_approve_max',
  'above_auto_approve_daily_max',
  'first_use_of_destination',
  'email_destination',
  'new_api_key',
  'above_four_eyes_threshold',
] as const;
export type ReviewReason = (typeof REVIEW_REASONS)[number];

const SENTENCES: Record<ReviewReason, string> = {
  rehearse_review: 'The account rehearses reviews in test mode.',
  review_all: 'Every live payout of this account is reviewed.',
  above_auto_approve_max: 'The amount exceeds the limit for automatic approval.',
  above_auto_approve_daily_max: 'The daily limit for automatic approval is used up.',
  first_use_of_destination: 'This is the first payout to the destination.',
  email_destination: 'The destination is an email address.',
  new_api_key: 'The API key, or the user who requested it, is less than 24 hours old.',
  above_four_eyes_threshold: 'Two operators must approve this amount.',
};

/**
 * The sentence about a reason for operators, without figures.
 * @param requester the API key or the user that requested the payout, if it is at hand
 */
export function reviewReasonSentence(reason: ReviewReason, requester: string | null): string {
  if (reason !== 'new_api_key' || requester === null) return SENTENCES[reason];
  return isId('user', requester)
    ? 'The user who requested it was created less than 24 hours ago.'
    : 'The API key is less than 24 hours old.';
}

/** A key younger than this makes a live payout wait for an operator. */
export const NEW_KEY_AGE_MS = 24 * 60 * 60 * 1000;

/** The facts that the review rules look at. */
export interface ReviewFacts {
  mode: Mode;
  amount: Amount;
  destinationType: DestinationType;
  /** The account's switch for reviewing every live payout. */
  reviewAll: boolean;
  rehearseReview: boolean;
  /** Null means no maximum. */
  autoApproveMax: Amount | null;
  autoApproveDailyMax: Amount | null;
  /** Sum of `amount` approved without an operator in the last 24 hours, excluding this payout. */
  autoApprovedAmount: Amount;
  /** Two operators must approve a payout above it. Null if none is set for the currency. */
  fourEyesThreshold: Amount | null;
  destinationUsedBefore: boolean;
  apiKeyAgeMs: number;
}

type Rule = readonly [ReviewReason, (facts: ReviewFacts) => boolean];

const LIVE_RULES: readonly Rule[] = [
  ['review_all', (f) => f.reviewAll],
  [
    'above_auto_approve_max',
    (f) => f.autoApproveMax !== null && isLess(f.autoApproveMax, f.amount),
  ],
  [
    'above_auto_approve_daily_max',
    (f) =>
      f.autoApproveDailyMax !== null &&
      isLess(f.autoApproveDailyMax, add(f.autoApprovedAmount, f.amount)),
  ],
  ['first_use_of_destination', (f) => !f.destinationUsedBefore],
  ['email_destination', (f) => f.destinationType === 'email'],
  ['new_api_key', (f) => f.apiKeyAgeMs < NEW_KEY_AGE_MS],
  [
    'above_four_eyes_threshold',
    (f) => f.fourEyesThreshold !== null && isLess(f.fourEyesThreshold, f.amount),
  ],
];

/** In test mode only the account's setting applies, so a merchant can rehearse a review. */
const TEST_RULES: readonly Rule[] = [['rehearse_review', (f) => f.rehearseReview]];

/** The names of all rules that apply; if none, the payout starts as requested. */
export function reviewReasons(facts: ReviewFacts): ReviewReason[] {
  const rules = facts.mode === 'live' ? LIVE_RULES : TEST_RULES;
  return rules.filter(([, hits]) => hits(facts)).map(([reason]) => reason);
}

/** The delay before a requested payout is approved automatically (decisions/payouts#payout-approval). */
export function autoApproveDelayMs(mode: Mode): number {
  return mode === 'live' ? 10_000 : 2_000;
}
