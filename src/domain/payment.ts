/**
 * The life of a payment as data, and how a provider's facts move it along it. The database's
 * guarded UPDATE enforces the table, the workflow walks it.
 *
 * Source: decisions P1 to P7 and P10.
 */
import type { FeeTerms } from './fees';
import type { Mode } from './mode';
import type { Amount } from './money';

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
 * - `start`: the customer began to pay
 * - `see`: a transfer was seen
 * - `hold`: the provider holds it for compliance
 * - `complete`, `underpay`: enough, or less than enough, is confirmed for good
 * - `fail`: the provider's word
 * - `expire`: the window closed and nothing is seen
 * - `cancel`: the customer or an operator
 * - `refund`: what was credited, or held, went back
 */
export type PaymentTrigger =
  'start' | 'see' | 'hold' | 'complete' | 'underpay' | 'fail' | 'expire' | 'cancel' | 'refund';

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
  // What was seen may vanish: then the window closes on nothing, and money may still come late.
  processing: {
    hold: 'on_hold',
    complete: 'completed',
    underpay: 'underpaid',
    fail: 'failed',
    expire: 'expired',
  },
  on_hold: { complete: 'completed', underpay: 'underpaid', fail: 'failed', refund: 'refunded' },
  // Late money and refunds reach a payment after its end (decisions P5 and P6). More money for one
  // that is completed or underpaid is credited where it stands.
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

export function nextPaymentStatus(
  from: PaymentStatus,
  trigger: PaymentTrigger,
): PaymentStatus | undefined {
  return TABLE[from][trigger];
}

export function paymentStatusesBefore(trigger: PaymentTrigger): PaymentStatus[] {
  return PAYMENT_STATUSES.filter((status) => TABLE[status][trigger] !== undefined);
}

export const OPEN_PAYMENT_STATUSES = ['created', 'pending', 'processing', 'on_hold'] as const;

export function isOpenPayment(status: PaymentStatus): boolean {
  return OPEN_PAYMENT_STATUSES.some((open) => open === status);
}

export const PAYMENT_EXCEPTIONS = ['overpaid', 'late', 'manual'] as const;
export type PaymentException = (typeof PAYMENT_EXCEPTIONS)[number];

export const PAYMENT_DECISIONS = ['release', 'reject', 'cancel', 'refund'] as const;
export type PaymentDecisionKind = (typeof PAYMENT_DECISIONS)[number];

/** Where an operator may decide so; everywhere else it is refused and changes nothing. */
export const DECIDABLE: Record<PaymentDecisionKind, readonly PaymentStatus[]> = {
  release: ['on_hold'],
  reject: ['on_hold'],
  cancel: ['created', 'pending'],
  refund: ['completed', 'underpaid'],
};

/** The steps that are an operator's doing once the provider has accepted the decision. */
export const DECIDED_BY_OPERATOR: Record<PaymentDecisionKind, readonly PaymentTrigger[]> = {
  release: ['complete', 'underpay'],
  reject: ['fail', 'refund'],
  cancel: ['cancel'],
  refund: ['refund'],
};

/** A payment as the database holds it. Amounts in `currency`, times as Date. */
export interface Payment {
  id: string;
  accountId: string;
  mode: Mode;
  reference: string;
  status: PaymentStatus;
  provider: string;
  amount: Amount;
  currency: string;
  network: string | null;
  /** Everything that was ever confirmed, credited or not. */
  receivedAmount: Amount;
  /** What was ever credited, before fees; at most receivedAmount. */
  creditedAmount: Amount;
  serviceFee: Amount;
  /** What went back to the customer, as the provider confirmed it. */
  refundedAmount: Amount;
  /** What was taken back of the credits, before fees, and the fees that went back with it. */
  reversedAmount: Amount;
  reversedFee: Amount;
  /** The fee rule as it was when the payment was created. */
  feeTerms: FeeTerms;
  exceptions: PaymentException[];
  txHash: string | null;
  checkoutUrl: string;
  successUrl: string | null;
  cancelUrl: string | null;
  description: string | null;
  customerEmail: string | null;
  metadata: Record<string, string>;
  failureReason: string | null;
  apiKeyId: string;
  providerCheckoutId: string;
  /** Counts the status changes, from 1. */
  sequence: number;
  createdAt: Date;
  updatedAt: Date;
  expiresAt: Date;
  completedAt: Date | null;
}

/** What a merchant asks for, after validation (decision P1). */
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

/** What a list of payments is narrowed to, each only when it was given (decision W13). */
export interface PaymentFilters {
  status?: PaymentStatus[];
  reference?: string;
  currency?: string;
  provider?: string;
  /** ISO 8601, inclusive. */
  createdFrom?: string;
  createdTo?: string;
}
