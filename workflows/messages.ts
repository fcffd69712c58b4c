/** What goes into a workflow and comes out. Stored in histories: no personal data, only additions. */
import type { WebhookDeliveryStatus } from '../src/domain/webhook-delivery';
import type { RetryScheduleMs } from '../src/domain/webhook-delivery';
import type { Refusal } from '../src/domain/errors';
import type { Amount } from '../src/domain/money';
import type { PaymentDecisionKind, PaymentStatus } from '../src/domain/payment';
import type { PayoutStatus } from '../src/domain/payout';
import type { ProviderCode } from '../src/domain/provider-codes';
import type { ReviewReason } from '../src/domain/review';

/** Everything else is in the database under `payoutId`. */
export interface PayoutInput {
  payoutId: string;
  /** The provider that was chosen, and its estimate of the network fee in the payout's currency. */
  provider: ProviderCode;
  network: string | null;
  networkFee: Amount;
}

/**
 * - `reserved`: the payout exists and its funds are held.
 * - `refused`: no payout exists, for the reason given.
 * - `abandoned`: no payout exists, because nobody waits for it any more.
 */
export type ReserveOutcome =
  { kind: 'reserved' } | { kind: 'refused'; refusal: Refusal } | { kind: 'abandoned' };

export type CancelOutcome = { kind: 'cancelled' } | { kind: 'invalid_state'; status: PayoutStatus };

/** Why the payout waits and for how long at most. */
export interface Wait {
  ms: number;
  /** A sentence for the workflow's page: "Waiting for …". */
  why: string;
}

/** Where a payout stands, as its activities report it to its workflow. */
export interface PayoutState {
  status: PayoutStatus;
  amount: Amount;
  currency: string;
  /** Grows with each status change: of two reports the higher is the newer. */
  sequence: number;
  /** Requested payouts only: when nobody may cancel any more and approval comes by itself. */
  autoApproveInMs: number | null;
  reviewReasons: ReviewReason[];
  /** 0: nobody needs to look. */
  attentionLevel: number;
  wait: Wait | null;
}

/** Everything else is in the database under `paymentId`. */
export interface PaymentInput {
  paymentId: string;
  provider: ProviderCode;
  network: string | null;
  /** How many decisions the runs before this one took, when it goes on after them. */
  decisionsTaken?: number;
}

/** What an operator decided, by signal. */
export interface Decision<Kind extends string = string> {
  kind: Kind;
  /** The operator's name, or null. */
  by: string | null;
  reason: string | null;
}

export type PayoutDecision = Decision<'approve' | 'reject'>;

export interface PaymentDecision extends Decision<PaymentDecisionKind> {
  /** The same decision counts once, whatever runs twice. */
  id: string;
  /** Of a refund, as it was typed; null: all of it. */
  amount: string | null;
}

/**
 * - `opened`: the payment exists, with a checkout at the provider.
 * - `refused`: no payment exists, for the reason given.
 * - `abandoned`: no payment exists, because nobody waits for it any more.
 */
export type OpenOutcome =
  { kind: 'opened' } | { kind: 'refused'; refusal: Refusal } | { kind: 'abandoned' };

/** Whether the provider answered when a merchant asked to verify a payment. */
export interface VerifyOutcome {
  kind: 'verified';
  answered: boolean;
}

/** Where a payment stands, as its activities report it to its workflow. */
export interface PaymentState {
  status: PaymentStatus;
  amount: Amount;
  currency: string;
  /** What the provider has seen, and what of the credits could be refunded. */
  received: Amount;
  refundable: Amount;
  /** Grows with each status change: of two reports the higher is the newer. */
  sequence: number;
  /** Whether the provider answered just now. */
  answered: boolean;
  /** The newest, and what became of it. */
  decision: {
    kind: PaymentDecisionKind;
    amount: Amount | null;
    by: string | null;
    state: 'pending' | 'accepted' | 'refused';
    refusal: string | null;
  } | null;
  needsAttention: boolean;
  /** When to look again by ourselves; null: nothing more can come. */
  wait: Wait | null;
}

/** Everything else is in the database under `deliveryId`: no address, no body, no secret. */
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

/** Where a delivery stands, as its activities report it to its workflow. */
export interface WebhookDeliveryState {
  status: WebhookDeliveryStatus;
  /** Attempts of the schedule that were begun, of so many. */
  attempts: number;
  attemptsMax: number;
  /** When the next one may be made; null: none is to come. */
  next: { at: string; inMs: number } | null;
  /** A code, such as `http_5xx`. */
  lastError: string | null;
  lastHttpStatus: number | null;
}

/** Where the reading of a provider's statement goes on. Times in ISO 8601. */
export interface StatementPlace {
  cursor: string | null;
  begunAt: string;
  /** By the provider's clock; null: from the beginning. */
  changedFrom: string | null;
}

/**
 * - `read`: to its end.
 * - `more`: as far as one activity goes.
 * - `trouble`: the provider did not answer, or not with a list; the next run tries again.
 */
export type StatementReading =
  { kind: 'read' } | { kind: 'more'; place: StatementPlace } | { kind: 'trouble'; reason: string };
