/**
 * A payout's statuses and transitions. The database's guarded UPDATE enforces the table, the workflow
 * follows it, and docs/states.md is generated from it.
 *
 * Source: the specification, "Payout statuses" and "Payout transitions"; decisions/payouts#payout-approval and
 * decisions/payouts#payout-statuses.
 */
import type { Beneficiary, StoredBeneficiary } from './beneficiary';
import type { DestinationType } from './destination';
import type { FeeTerms } from './fees';
import type { TransactionType } from './ledger';
import type { Owner } from './mode';
import type { Amount } from './money';
import type { Condition, ReleaseRequest } from './payout-condition';
import type { ProviderCode } from './provider-codes';
import type { ReviewReason } from './review';

/** The statuses of a payout, in the order of the documentation. */
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
 * - `approve`: an operator's signal, or the end of a requested payout's auto-approve delay
 * - `reject`: an operator's signal; from approved only before submission
 * - `review`: a threshold that was lowered meanwhile lets two operators approve a requested payout
 * - `clear`: an operator's approval of a payout that still waits for its conditions
 * - `release`: the last condition of a requested payout is met
 * - `cancel`: the merchant's request
 * - `expire`: the payout was not released by the time that the merchant set
 * - `invalidate`: the recipient that the payout waits for got another destination, or was deleted, or the payment
 *   that it waits for was refunded
 * - `accept`: the provider accepted the payout
 * - `refuse`: the provider definitely refused the submission
 * - `complete`, `fail`: the provider's final result
 */
export type PayoutTrigger =
  | 'approve'
  | 'review'
  | 'clear'
  | 'release'
  | 'reject'
  | 'cancel'
  | 'expire'
  | 'invalidate'
  | 'accept'
  | 'refuse'
  | 'complete'
  | 'fail';

/** The table of transitions: from each status, the status after each trigger. */
export const PAYOUT_TRANSITIONS = {
  requested: {
    approve: 'approved',
    release: 'approved',
    review: 'under_review',
    reject: 'rejected',
    cancel: 'cancelled',
    expire: 'cancelled',
    invalidate: 'failed',
  },
  under_review: {
    approve: 'approved',
    clear: 'requested',
    reject: 'rejected',
    cancel: 'cancelled',
    expire: 'cancelled',
    invalidate: 'failed',
  },
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

/** The state that `trigger` leads to; undefined if the transition is not allowed. */
export function nextPayoutStatus(
  from: PayoutStatus,
  trigger: PayoutTrigger,
): PayoutStatus | undefined {
  return TABLE[from][trigger];
}

/** The states in which `trigger` is allowed. */
export function payoutStatusesBefore(trigger: PayoutTrigger): PayoutStatus[] {
  return PAYOUT_STATUSES.filter((status) => TABLE[status][trigger] !== undefined);
}

/**
 * The posting that ends the reservation when a payout enters a state; null while the funds are
 * reserved.
 */
export const PAYOUT_FINAL_POSTING = {
  requested: null,
  under_review: null,
  approved: null,
  processing: null,
  completed: 'payout_settlement',
  rejected: 'payout_release',
  failed: 'payout_release',
  cancelled: 'payout_release',
} as const satisfies Record<PayoutStatus, TransactionType | null>;

/** The states in which the funds are reserved and a workflow must exist. */
export const OPEN_PAYOUT_STATUSES: readonly PayoutStatus[] = PAYOUT_STATUSES.filter(
  (status) => !isFinalPayout(status),
);

/** The database has one group for all open statuses, and one for each final status. */
export const OPEN_PAYOUT_GROUP = 'open';

/** The value of the column `status_group` (decisions/database#payout-indexes). */
export function payoutStatusGroup(status: PayoutStatus): string {
  return isFinalPayout(status) ? status : OPEN_PAYOUT_GROUP;
}

/** The final states in which nothing was sent and the funds were returned. */
export const RETURNED_PAYOUT_STATUSES: readonly PayoutStatus[] = PAYOUT_STATUSES.filter(
  (status) => PAYOUT_FINAL_POSTING[status] === 'payout_release',
);

/** Whether a payout with this status is final. */
export function isFinalPayout(status: PayoutStatus): boolean {
  return Object.keys(TABLE[status]).length === 0;
}

/** Whether only its conditions keep a payout from being approved, so that no operator can approve it. */
export function isWaitingForConditions({
  status,
  awaitsRelease,
}: Pick<Payout, 'status' | 'awaitsRelease'>): boolean {
  return status === 'requested' && awaitsRelease === true;
}

/** The reason that the merchant reads if an operator's rejection has none. */
export const DEFAULT_REJECTION_REASON = 'Rejected by the operator.';

/** The failure reason of a payout whose recipient was changed or deleted while it waited. */
export const RECIPIENT_CHANGED =
  'The recipient was changed or deleted while the payout waited for it.';

/** The failure reason of a payout whose payment was refunded while it waited. */
export const PAYMENT_REFUNDED = 'The payment that the payout waited for was refunded.';

/** What a payout has from its request, as it was sent. */
interface RequestedFields {
  amount: Amount;
  currency: string;
  reference: string;
  description: string | null;
  metadata: Record<string, string>;
}

/** The fields that a new payout copies from its request. */
export function requestedFields(request: RequestedFields): RequestedFields {
  const { amount, currency, reference, description, metadata } = request;
  return { amount, currency, reference, description, metadata };
}

/** A payout as stored. Amounts are in `currency`. */
export interface Payout extends Owner, RequestedFields {
  id: string;
  status: PayoutStatus;
  provider: ProviderCode;
  network: string | null;
  destinationType: DestinationType;
  destinationValue: string;
  destinationMemo: string | null;
  serviceFee: Amount;
  networkFee: Amount;
  totalDebit: Amount;
  /** The fee rule at the time of creation. */
  feeTerms: FeeTerms;
  apiKeyId: string;
  /** The review rules that applied; empty if no review is required. */
  reviewReasons: ReviewReason[];
  decidedBy: string | null;
  txHash: string | null;
  failureReason: string | null;
  rejectionReason: string | null;
  providerTransferId: string | null;
  /** Set before submission: from then on only the provider's result ends the payout. */
  submissionStartedAt: Date | null;
  /** Set while it is unknown whether the provider accepted the payout (decisions/payouts#payouts-in-doubt). */
  inDoubtSince: Date | null;
  processingSince: Date | null;
  attentionLevel: number;
  /** The batch that the payout is a row of. */
  batchId: string | null;
  /** Its number in the batch, from 1. */
  batchRow: number | null;
  /** Whether the batch has not released it yet; until then only the batch may change it. */
  awaitsBatch: boolean;
  /** The recipient that the request named; the destination is a copy of the recipient's at that time. */
  recipientId: string | null;
  /**
   * Whether it waits for its conditions or its review; null if it has no conditions
   * (decisions/payouts#payout-conditions).
   */
  awaitsRelease: boolean | null;
  /** The time at which it is cancelled unless it was released. */
  releaseExpiresAt: Date | null;
  releasedAt: Date | null;
  releaseExpiredAt: Date | null;
  /** Read with the payout where it is shown. */
  conditions?: Condition[] | null;
  /** Read with the payout where it is sent or shown; null if it has none. */
  beneficiary?: StoredBeneficiary | null;
  /** Number of status changes, starting at 1. */
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
}

/** A payout request after validation, with the destination of the recipient if it named one. */
export interface PayoutRequest extends RequestedFields {
  /**
   * A null memo says that the destination has none. Undefined if the request did not say whether it has
   * one.
   */
  destination: { type: DestinationType; value: string; memo?: string | null | undefined };
  /** The id of the recipient that the request named. */
  recipient?: string;
  network: string | null;
  provider: string | null;
  /** Absent, and never undefined, without conditions: the hash of the request must stay the same. */
  release?: ReleaseRequest;
}

/** A validated request as it was sent: the destination is null if it named a recipient. */
export type PayoutOrder = Omit<PayoutRequest, 'destination'> & {
  destination: PayoutRequest['destination'] | null;
  /** Never part of an order, because an order is stored as it is. */
  beneficiary?: never;
};

/** A validated request with its beneficiary, which is encrypted before anything is stored. */
export type SentPayoutOrder = Omit<PayoutOrder, 'beneficiary'> & { beneficiary?: Beneficiary };
