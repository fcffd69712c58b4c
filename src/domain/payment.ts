/**
 * A payment's statuses and transitions. The database's guarded UPDATE enforces the table, and
 * docs/states.md is generated from it. payment-step.ts decides which transition is next.
 *
 * Source: decisions/payments#payment-request, decisions/payments#payment-object,
 * decisions/payments#payment-statuses, decisions/payments#late-payments, decisions/payments#refunds,
 * decisions/payments#provider-facts and decisions/money#pending-balance.
 */
import type { FeeTerms } from './fees';
import type { Owner } from './mode';
import type { Amount } from './money';
import type { ProviderCode } from './provider-codes';

/** The statuses of a payment, in the order of the documentation. */
export const PAYMENT_STATUSES = [
  'created',
  'pending',
  'processing',
  'on_hold',
  'completed',
  'underpaid',
  'failed',
  'expired',
  'cancelled',
  'refunded',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/**
 * - `start`: the customer started to pay
 * - `see`: a transfer was seen
 * - `hold`: the provider holds the payment for compliance
 * - `complete`, `underpay`: enough, or less than enough, is confirmed
 * - `fail`: the provider reports a failure
 * - `expire`: the window closed and no transfer exists
 * - `cancel`: the customer or an operator cancelled
 * - `refund`: the credited or held money was sent back
 */
export type PaymentTrigger =
  'start' | 'see' | 'hold' | 'complete' | 'underpay' | 'fail' | 'expire' | 'cancel' | 'refund';

/** The table of transitions: from each status, the status after each trigger. */
export const PAYMENT_TRANSITIONS = {
  created: {
    start: 'pending',
    see: 'processing',
    hold: 'on_hold',
    complete: 'completed',
    underpay: 'underpaid',
    fail: 'failed',
    expire: 'expired',
    cancel: 'cancelled',
  },
  pending: {
    see: 'processing',
    hold: 'on_hold',
    complete: 'completed',
    underpay: 'underpaid',
    fail: 'failed',
    expire: 'expired',
    cancel: 'cancelled',
  },
  // A transfer that was seen may disappear: the payment then expires, and money may still arrive late.
  processing: {
    hold: 'on_hold',
    complete: 'completed',
    underpay: 'underpaid',
    fail: 'failed',
    expire: 'expired',
  },
  on_hold: { complete: 'completed', underpay: 'underpaid', fail: 'failed', refund: 'refunded' },
  // Late money and refunds (decisions/payments#late-payments and decisions/payments#refunds). More money for a completed or
  // underpaid payment is credited without a change of status.
  completed: { complete: 'completed', refund: 'refunded' },
  underpaid: { underpay: 'underpaid', complete: 'completed', refund: 'refunded' },
  expired: { complete: 'completed', underpay: 'underpaid' },
  cancelled: { complete: 'completed', underpay: 'underpaid' },
  failed: {},
  refunded: {},
} as const satisfies Record<PaymentStatus, Partial<Record<PaymentTrigger, PaymentStatus>>>;

const TABLE: Record<
  PaymentStatus,
  Partial<Record<PaymentTrigger, PaymentStatus>>
> = PAYMENT_TRANSITIONS;

/** The status that `trigger` leads to; undefined if the transition is not allowed. */
export function nextPaymentStatus(
  from: PaymentStatus,
  trigger: PaymentTrigger,
): PaymentStatus | undefined {
  return TABLE[from][trigger];
}

/** The statuses in which `trigger` is allowed. */
export function paymentStatusesBefore(trigger: PaymentTrigger): PaymentStatus[] {
  return PAYMENT_STATUSES.filter((status) => TABLE[status][trigger] !== undefined);
}

/** Whether a payment in this status can still be completed, perhaps by late money. */
export function mayCompletePayment(status: PaymentStatus): boolean {
  const next: readonly PaymentStatus[] = Object.values(TABLE[status]);
  return next.includes('completed');
}

/**
 * The money that is still expected in each state:
 * - `all`: nothing was seen
 * - `confirmation`: money was seen and is not credited
 * - `rest`: completed, and more is credited only when less was credited than received
 * - `late`: ended, and late money is credited (decisions/payments#late-payments)
 * - `none`: nothing is credited any more
 */
const EXPECTED_MONEY = {
  created: 'all',
  pending: 'all',
  processing: 'confirmation',
  on_hold: 'confirmation',
  completed: 'rest',
  underpaid: 'late',
  expired: 'late',
  cancelled: 'late',
  failed: 'none',
  refunded: 'none',
} as const satisfies Record<PaymentStatus, string>;

type ExpectedMoney = (typeof EXPECTED_MONEY)[PaymentStatus];

function expecting(...money: ExpectedMoney[]): readonly PaymentStatus[] {
  return PAYMENT_STATUSES.filter((status) => money.includes(EXPECTED_MONEY[status]));
}

/** The statuses of payments that are not final. */
export const OPEN_PAYMENT_STATUSES = expecting('all', 'confirmation');

/**
 * In these statuses all of a payment's money is part of the `pending` of GET /balance, and none of it
 * is credited (decisions/money#pending-balance).
 */
export const SEEN_PAYMENT_STATUSES = expecting('confirmation');

/** In these statuses unconfirmed money is credited when it is confirmed, so it is pending too. */
export const CREDITED_LATER_STATUSES = expecting('rest', 'late');

/** The final statuses in which late money is credited. */
export const LATE_PAYMENT_STATUSES = expecting('late');

/** Whether a payment with this status is not final. */
export function isOpenPayment(status: PaymentStatus): boolean {
  return OPEN_PAYMENT_STATUSES.includes(status);
}

/**
 * The statuses of payments that money was seen or received for, and not those that ended without it. Of the payments
 * of one link the first in this order counts: what was paid in full before what may still be.
 */
export const PAID_STATUSES: readonly PaymentStatus[] = [
  'completed',
  'processing',
  'on_hold',
  'underpaid',
  'refunded',
];

/** What is unusual about a payment, as its `exceptions` name it. */
export const PAYMENT_EXCEPTIONS = ['overpaid', 'late', 'manual'] as const;
export type PaymentException = (typeof PAYMENT_EXCEPTIONS)[number];

/** What an operator can decide about a payment. */
export const PAYMENT_DECISIONS = ['release', 'reject', 'cancel', 'refund'] as const;
export type PaymentDecisionKind = (typeof PAYMENT_DECISIONS)[number];

/** The statuses in which an operator may make the decision; otherwise it is refused. */
export const DECIDABLE: Record<PaymentDecisionKind, readonly PaymentStatus[]> = {
  release: ['on_hold'],
  reject: ['on_hold'],
  cancel: ['created', 'pending'],
  refund: ['completed', 'underpaid'],
};

/** The transitions that count as decided by an operator after the provider accepted the decision. */
export const DECIDED_BY_OPERATOR: Record<PaymentDecisionKind, readonly PaymentTrigger[]> = {
  release: ['complete', 'underpay'],
  reject: ['fail', 'refund'],
  cancel: ['cancel'],
  refund: ['refund'],
};

/** A transfer to a checkout as JSON, whether it is credited or not. */
export interface StoredTransfer {
  id: string;
  amount: Amount;
  status: 'seen' | 'confirmed' | 'dropped';
  seenAt: string;
  confirmedAt: string | null;
  txHash: string | null;
}

/** A payment as stored. Amounts are in `currency`. */
export interface Payment extends Owner {
  id: string;
  reference: string;
  status: PaymentStatus;
  provider: ProviderCode;
  amount: Amount;
  currency: string;
  network: string | null;
  /** The total confirmed amount, credited or not. */
  receivedAmount: Amount;
  /** The total amount that was seen and is not confirmed yet. */
  unconfirmedAmount: Amount;
  /** The total credited amount before fees; at most receivedAmount. */
  creditedAmount: Amount;
  serviceFee: Amount;
  /** The amount sent back to the customer, as confirmed by the provider. */
  refundedAmount: Amount;
  /** The part of the credits that was reversed, before fees, and the reversed fees. */
  reversedAmount: Amount;
  reversedFee: Amount;
  /** The fee rule at the time of creation. */
  feeTerms: FeeTerms;
  exceptions: PaymentException[];
  txHash: string | null;
  /** Null within an exchange. */
  depositAddress: string | null;
  /** The transfers that the provider reported last. */
  transfers: StoredTransfer[];
  checkoutUrl: string;
  successUrl: string | null;
  cancelUrl: string | null;
  description: string | null;
  customerEmail: string | null;
  metadata: Record<string, string>;
  failureReason: string | null;
  apiKeyId: string;
  providerCheckoutId: string;
  /** Number of status changes, starting at 1. */
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
  completedAt: Date | null;
}

/** A payment request after validation (decisions/payments#payment-request). */
export interface PaymentRequest {
  amount: Amount;
  currency: string;
  reference: string;
  description: string | null;
  customerEmail: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  provider: string | null;
  network: string | null;
  metadata: Record<string, string>;
  expiresInSeconds: number;
}
