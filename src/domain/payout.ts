/**
 * The life of a payout as data. The database's guarded UPDATE enforces this table, the workflow
 * walks it, docs/states.md is drawn from it.
 *
 * Source: the specification, "Payout statuses" and "Payout transitions"; decisions O3 and O5.
 */
import type { DestinationType } from './destination';
import type { FeeTerms } from './fees';
import type { Mode } from './mode';
import type { Amount } from './money';
import type { ReviewReason } from './review';

export const PAYOUT_STATUSES = [
  'requested',
  'under_review',
  'approved',
  'processing',
  'completed',
  'rejected',
  'failed',
  'cancelled',
] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];

/**
 * - `approve`: an operator's signal, or the auto-approve delay of a requested payout ran out
 * - `reject`: an operator's signal; from approved only while nothing was submitted
 * - `cancel`: the merchant
 * - `accept`: the provider holds the order
 * - `refuse`: the provider's definite no to the submission
 * - `complete`, `fail`: the provider's final word
 */
export type PayoutTrigger =
  'approve' | 'reject' | 'cancel' | 'accept' | 'refuse' | 'complete' | 'fail';

export const PAYOUT_TRANSITIONS = {
  requested: { approve: 'approved', reject: 'rejected', cancel: 'cancelled' },
  under_review: { approve: 'approved', reject: 'rejected', cancel: 'cancelled' },
  approved: { accept: 'processing', refuse: 'failed', reject: 'rejected' },
  processing: { complete: 'completed', fail: 'failed' },
  completed: {},
  rejected: {},
  failed: {},
  cancelled: {},
} as const satisfies Record<PayoutStatus, Partial<Record<PayoutTrigger, PayoutStatus>>>;

const TABLE: Record<
  PayoutStatus,
  Partial<Record<PayoutTrigger, PayoutStatus>>
> = PAYOUT_TRANSITIONS;

/** The state that `trigger` leads to, or undefined when the table has no such edge. */
export function nextPayoutStatus(
  from: PayoutStatus,
  trigger: PayoutTrigger,
): PayoutStatus | undefined {
  return TABLE[from][trigger];
}

/** The states from which `trigger` may be taken. */
export function payoutStatusesBefore(trigger: PayoutTrigger): PayoutStatus[] {
  return PAYOUT_STATUSES.filter((status) => TABLE[status][trigger] !== undefined);
}

export function isFinalPayout(status: PayoutStatus): boolean {
  return Object.keys(TABLE[status]).length === 0;
}

/** The reason an operator's rejection gets when the signal carries none. */
export const DEFAULT_REJECTION_REASON = 'Rejected by the operator.';

/** A payout as the database holds it. Amounts in `currency`, times as Date. */
export interface Payout {
  id: string;
  accountId: string;
  mode: Mode;
  reference: string;
  status: PayoutStatus;
  provider: string;
  amount: Amount;
  currency: string;
  network: string | null;
  destinationType: DestinationType;
  destinationValue: string;
  destinationMemo: string | null;
  serviceFee: Amount;
  networkFee: Amount;
  totalDebit: Amount;
  /** The fee rule as it was when the payout was created. */
  feeTerms: FeeTerms;
  description: string | null;
  metadata: Record<string, string>;
  apiKeyId: string;
  /** Why an operator has to look; empty when nobody has to. */
  reviewReasons: ReviewReason[];
  decidedBy: string | null;
  txHash: string | null;
  failureReason: string | null;
  rejectionReason: string | null;
  providerTransferId: string | null;
  /** Set before the order leaves: from then on only the provider's word ends the payout. */
  submissionStartedAt: Date | null;
  /** Set while it is not known whether the provider holds the order (decision O6). */
  inDoubtSince: Date | null;
  processingSince: Date | null;
  attentionLevel: number;
  /** Counts the status changes, from 1. */
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What a merchant asks for, after validation. */
export interface PayoutRequest {
  amount: Amount;
  currency: string;
  reference: string;
  destination: { type: DestinationType; value: string; memo: string | null };
  network: string | null;
  provider: string | null;
  description: string | null;
  metadata: Record<string, string>;
}

/** What a list of payouts is narrowed to, each only when it was given (decision W13). */
export interface PayoutFilters {
  status?: PayoutStatus[];
  reference?: string;
  currency?: string;
  provider?: string;
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}
