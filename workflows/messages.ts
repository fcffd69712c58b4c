/**
 * Inputs and results of workflows. They are stored in histories: no personal data, and fields are only
 * added.
 */
import type { WebhookDeliveryStatus } from '../src/domain/webhook-delivery';
import type { RetryScheduleMs } from '../src/domain/webhook-delivery';
import type { Refusal } from '../src/domain/errors';
import type { Amount } from '../src/domain/money';
import type { PaymentDecisionKind, PaymentStatus } from '../src/domain/payment';
import type { Mode } from '../src/domain/mode';
import type { PayoutStatus } from '../src/domain/payout';
import type {
  PayoutBatchDecisionOutcome,
  PayoutBatchEnding,
  PayoutBatchProgress,
  PayoutBatchStatus,
} from '../src/domain/payout-batch';
import type { DecisionOutcome } from '../src/domain/payout-decision';
import type { ProviderCode } from '../src/domain/provider-codes';
import type { ReviewReason } from '../src/domain/review';

/**
 * The input of a payout's workflow. Everything else is in the database under `payoutId`, also before
 * the payout exists: whoever may start workflows must not choose its route or its fee.
 */
export interface PayoutInput {
  payoutId: string;
}

/**
 * - `reserved`: the payout or refund exists and its funds are held.
 * - `refused`: it does not exist, for the reason given.
 * - `abandoned`: it does not exist, because the request's claim has ended.
 */
export type ReserveOutcome =
  { kind: 'reserved' } | { kind: 'refused'; refusal: Refusal } | { kind: 'abandoned' };

/** `unknown`: the payout has no decision with this id. */
export interface DecideOutcome {
  kind: DecisionOutcome | 'unknown';
}

export type CancelOutcome = { kind: 'cancelled' } | { kind: 'invalid_state'; status: PayoutStatus };

/** The payout was looked at, and has this status now. */
export interface ReleaseOutcome {
  kind: 'looked';
  status: PayoutStatus;
}

/** Everything else is in the database under `batchId`. */
export interface PayoutBatchInput {
  batchId: string;
  /** The manifest that was approved, for a run that continues as new. */
  approved?: string;
}

/** `unknown`: the batch has no decision with this id. */
export interface BatchDecideOutcome {
  kind: PayoutBatchDecisionOutcome | 'unknown';
}

export type StopOutcome =
  { kind: 'stopped' } | { kind: 'invalid_state'; status: PayoutBatchStatus };

/**
 * - `none_left`: no row would remain.
 * - `rows_changed`: somebody changed the rows in the database, and the batch was stopped.
 */
export interface LeaveOutOutcome {
  kind: 'left_out' | 'invalid_state' | 'none_left' | 'rows_changed';
}

/** An operator's decision by signal; an approval names the manifest. */
export interface PayoutBatchDecision extends Decision<'approve' | 'reject' | 'stop'> {
  manifestSha256: string | null;
}

/** The state of a batch, as activities report it to the workflow. */
export interface PayoutBatchState {
  mode: Mode;
  status: PayoutBatchStatus;
  /** Somebody ends the batch early. */
  ending: PayoutBatchEnding | null;
  manifestSha256: string;
  totals: { currency: string; rows: number; amount: Amount }[];
  progress: PayoutBatchProgress;
  rowCount: number;
  sequence: number;
  /** The time until automatic approval, for requested batches only. */
  autoApproveInMs: number | null;
  reviewReasons: ReviewReason[];
  /** The time that is left for a second person of the merchant, while the batch waits for one. */
  secondPersonInMs?: number;
  /**
   * The operators who have approved, only for a batch under review that two operators must approve.
   */
  approvals?: number;
}

/** The reason for a wait and its maximum duration. */
export interface Wait {
  ms: number;
  /** A sentence for the workflow's page: "Waiting for …". */
  why: string;
  /** Set when the provider answered 429: how long it asked to wait. */
  retryAfterMs?: number;
}

/** A wait that only a signal ends. */
export interface Hold {
  ms: null;
  why: string;
}

/** The state of a payout, as activities report it to the workflow. */
export interface PayoutState {
  /** The provider whose task queue takes the calls of this payout. */
  provider: string;
  mode: Mode;
  status: PayoutStatus;
  amount: Amount;
  currency: string;
  /** Grows with each status change: of two reports the higher is the newer. */
  sequence: number;
  /** The time until automatic approval, when cancelling ends, for requested payouts only. */
  autoApproveInMs: number | null;
  reviewReasons: ReviewReason[];
  /** 0 means that the payout needs no attention. */
  attentionLevel: number;
  wait: Wait | Hold | null;
  /**
   * The threshold and the approvals, only for a payout under review that two operators must approve.
   */
  fourEyes?: { threshold: Amount; approvals: number };
  /** The provider answered the submission with 429: it took nothing. */
  isUntaken?: true;
  /** Only for a payout with conditions that was not released (decisions/payouts#payout-conditions). */
  waiting?: Waiting;
}

/** What a payout waits for before it is submitted. */
export interface Waiting {
  /** The open conditions, in words that follow "Waiting for". Empty if all are met. */
  for: string[];
  /** The time until a condition may be met, or the payout expires; null if only a message tells. */
  lookInMs: number | null;
  /** When it is cancelled unless it was released; ISO 8601. */
  expiresAt: string | null;
}

/** The input of a payment's workflow. Everything else is in the database under `paymentId`. */
export interface PaymentInput {
  paymentId: string;
  /** The provider at which a checkout without a payment is cancelled. */
  provider: ProviderCode;
  mode: Mode;
  /** The number of decisions that earlier runs took, for a run that continues as new. */
  decisionsTaken?: number;
}

/** An operator's decision, by signal. */
export interface Decision<Kind extends string = string> {
  kind: Kind;
  /** The operator's name, or null. */
  by: string | null;
  reason: string | null;
}

export type PayoutDecision = Decision<'approve' | 'reject'>;

export interface PaymentDecision extends Decision<PaymentDecisionKind> {
  /** A decision with the same id counts once. */
  id: string;
  /** The amount of a refund, as text; null means everything that remains. */
  amount: string | null;
  /**
   * The time when the console or the admin command sent the decision, by PostgreSQL's clock. A signal
   * by hand has none.
   */
  sentAt?: string | null;
  /** A merchant's own request. A signal cannot say so. */
  isMerchants?: true;
}

/**
 * - `opened`: the payment exists, with a checkout at the provider.
 * - `refused`: no payment exists, for the reason given; `retryAfterMs` as in Wait.
 * - `abandoned`: no payment exists, because the request's claim has ended.
 *
 * `unusedCheckout`: the provider may have a checkout for it, which has to be cancelled.
 */
export type OpenOutcome =
  | { kind: 'opened' }
  | { kind: 'refused'; refusal: Refusal; retryAfterMs?: number; unusedCheckout?: true }
  | { kind: 'abandoned'; unusedCheckout: true };

/** The outcome as the activity reports it. Without a state, the payment has to be checked. */
export type OpenReport =
  Exclude<OpenOutcome, { kind: 'opened' }> | { kind: 'opened'; state?: PaymentState };

/** Whether the provider answered when a merchant asked to verify a payment; `retryAfterMs` as in Wait. */
export interface VerifyOutcome {
  kind: 'verified';
  answered: boolean;
  retryAfterMs?: number;
}

/** The state of a payment, as activities report it to the workflow. */
export interface PaymentState {
  status: PaymentStatus;
  amount: Amount;
  currency: string;
  /** The amount that the provider has seen, and the amount that can be refunded. */
  received: Amount;
  refundable: Amount;
  /** Grows with each status change: of two reports the higher is the newer. */
  sequence: number;
  /** Whether the provider answered the last query. */
  answered: boolean;
  /** The newest decision and its outcome. */
  decision: {
    kind: PaymentDecisionKind;
    amount: Amount | null;
    by: string | null;
    state: 'pending' | 'accepted' | 'refused';
    refusal: string | null;
  } | null;
  needsAttention: boolean;
  /** The time until the next check; null if nothing more can happen. */
  wait: Wait | null;
  /** The payment's page in the operator console, if it is served. */
  consolePage?: string;
}

/**
 * The input of a delivery's workflow. Everything else is in the database under `deliveryId`: URL, body
 * and secret are not in histories.
 */
export interface WebhookDeliveryInput {
  deliveryId: string;
  endpointId: string;
  eventType: string;
  objectId: string;
  /** The waits between attempts. */
  schedule: RetryScheduleMs;
  /** The task queue of the first attempt of this run. */
  firstQueue: string;
}

/** The state of a delivery, as activities report it to the workflow. */
export interface WebhookDeliveryState {
  status: WebhookDeliveryStatus;
  /** Scheduled attempts that were started, and their maximum. */
  attempts: number;
  attemptsMax: number;
  /** The time of the next attempt; null if there is none. */
  next: { at: string; inMs: number } | null;
  /** A code, such as `http_5xx`. */
  lastError: string | null;
  lastHttpStatus: number | null;
}

/**
 * The position where the reading of a provider's statement continues, in histories as `place`. Times are
 * ISO 8601.
 */
export interface StatementPosition {
  cursor: string | null;
  begunAt: string;
  /** A time by the provider's clock; null: from the beginning. */
  changedFrom: string | null;
}

/**
 * - `read`: the statement was read to its end.
 * - `more`: one activity has read its share; continue at `place`.
 * - `limited`: the provider answered 429; continue at `place` after the time.
 * - `trouble`: the provider did not answer, or not with a statement; the next run tries again.
 */
export type StatementReading =
  | { kind: 'read' }
  | { kind: 'more'; place: StatementPosition }
  | { kind: 'limited'; place: StatementPosition; reason: string; retryAfterMs: number }
  | { kind: 'trouble'; reason: string };
