/** What goes into a workflow and comes out. Stored in histories: no personal data, only additions. */
import type { Refusal } from '../src/domain/errors';
import type { Amount } from '../src/domain/money';
import type { PaymentStatus } from '../src/domain/payment';
import type { PayoutStatus } from '../src/domain/payout';

/** Everything else stands in the database under `payoutId`. */
export interface PayoutInput {
  payoutId: string;
  /** The provider that was chosen, and its estimate of the network fee in the payout's currency. */
  provider: string;
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
  /** A clause for the workflow's page: "waits for …". */
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
  reviewReasons: string[];
  /** 0: nobody needs to look. */
  attentionLevel: number;
  wait: Wait | null;
}

/** Everything else stands in the database under `paymentId`. */
export interface PaymentInput {
  paymentId: string;
  provider: string;
  network: string | null;
}

/**
 * - `opened`: the payment exists, with a checkout at the provider.
 * - `refused`: no payment exists, for the reason given.
 * - `abandoned`: no payment exists, because nobody waits for it any more.
 */
export type OpenOutcome =
  { kind: 'opened' } | { kind: 'refused'; refusal: Refusal } | { kind: 'abandoned' };

/** Where a payment stands, as its activities report it to its workflow. */
export interface PaymentState {
  status: PaymentStatus;
  amount: Amount;
  currency: string;
  /** Grows with each status change. */
  sequence: number;
  /** Whether the provider answered just now. */
  answered: boolean;
  /** When to look again by ourselves; null: nothing more can come. */
  wait: Wait | null;
}
