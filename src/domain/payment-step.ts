/**
 * Decides the next step of a payment from the provider's facts (decisions/payments#payment-statuses,
 * decisions/payments#late-payments, decisions/payments#refunds and decisions/payments#provider-facts). Pure
 * and repeatable: the same facts lead to the same step. Every provider update goes through it.
 */
import { type Amount, add, greaterOf, isLess, ZERO } from './money';
import {
  isOpenPayment,
  LATE_PAYMENT_STATUSES,
  nextPaymentStatus,
  type Payment,
  type PaymentException,
  type PaymentTrigger,
} from './payment';
import { refundableOf } from './payment-pricing';

/** The facts of a transfer that the decision needs. */
export interface TransferFacts {
  id: string;
  amount: Amount;
  status: 'seen' | 'confirmed' | 'dropped';
  seenAt: Date;
  confirmedAt: Date | null;
  txHash: string | null;
}

/** The provider's facts about a payment, as of one moment. */
export interface CheckoutFacts {
  state: 'open' | 'started' | 'cancelled' | 'failed';
  onHold: boolean;
  transfers: readonly TransferFacts[];
  /** `reference` is ours if we requested the refund, otherwise the provider's own. */
  refunds: readonly { id: string; reference: string; amount: Amount }[];
  failureReason: string | null;
}

/** What to do next: at most one transition, the transfers to credit, and the fields that change. */
export interface PaymentStep {
  trigger: PaymentTrigger;
  /** Transfers to credit with this step. Each is credited exactly once, keyed by its id. */
  credits: readonly TransferFacts[];
  figures: ReceivedFigures;
  exceptions: readonly PaymentException[];
  txHash: string | null;
}

/** What the provider reports about the money of a payment. */
export interface ReceivedFigures {
  receivedAmount: Amount;
  unconfirmedAmount: Amount;
}

/** Recorded facts about a payment that are not in its row. */
export interface PaymentBackground {
  /** Ids of the credited transfers. */
  credited: ReadonlySet<string>;
  /** An operator's rejection of the hold, and whether the provider accepted it; null if none. */
  rejection: 'pending' | 'accepted' | null;
}

/**
 * Money that is confirmed up to this long after the window closed is credited (decisions/payments#late-payments).
 */
export const LATE_WINDOW_MS = 30 * 24 * 60 * 60 * 1000;

/** Whether the payment has ended and money that arrives now is still credited. */
export function takesLateMoney(
  { status, expiresAt }: Pick<Payment, 'status' | 'expiresAt'>,
  now: Date,
): boolean {
  const isOver = now.getTime() > expiresAt.getTime() + LATE_WINDOW_MS;
  return !isOver && LATE_PAYMENT_STATUSES.includes(status);
}

/**
 * The next step, or null if the payment already reflects the facts.
 * @param askedAt when the provider was asked; the facts do not include later events
 */
export function nextPaymentStep(
  payment: Payment,
  facts: CheckoutFacts,
  background: PaymentBackground,
  askedAt: Date,
): PaymentStep | null {
  const confirmed = facts.transfers.filter((transfer) => isInTime(payment, transfer));
  const uncredited = confirmed.filter(({ id }) => !background.credited.has(id));
  const trigger = isOpenPayment(payment.status)
    ? triggerWhileOpen(payment, facts, confirmed, background, askedAt)
    : triggerAfterEnd(payment, facts, confirmed, background);
  if (trigger === null || nextPaymentStatus(payment.status, trigger) === undefined) return null;
  const credits = trigger === 'complete' || trigger === 'underpay' ? uncredited : [];
  return {
    trigger,
    credits,
    figures: figuresAfter(payment, facts, background.credited),
    exceptions: exceptionsOf(payment, confirmed, credits),
    txHash: confirmed.at(-1)?.txHash ?? null,
  };
}

/** The trigger of an open payment, of which nothing is credited yet. */
function triggerWhileOpen(
  payment: Payment,
  facts: CheckoutFacts,
  confirmed: readonly TransferFacts[],
  { rejection }: PaymentBackground,
  askedAt: Date,
): PaymentTrigger | null {
  const isOver = askedAt >= payment.expiresAt;
  const isSeen = facts.transfers.some(({ status }) => status === 'seen');
  const isStarted = payment.status === 'processing' || payment.status === 'on_hold';
  if (facts.state === 'failed') return 'fail';
  if (facts.onHold) return payment.status === 'on_hold' ? null : 'hold';
  // A payment that was held and rejected between two checks is held with this step and refunded with
  // the next one.
  if (isSentBack(facts)) return payment.status === 'on_hold' ? 'refund' : 'hold';
  if (payment.status === 'on_hold' && rejection !== null) {
    // The refund may be reduced by a network fee, or more money arrived: none of it is credited.
    if (rejection === 'accepted' && facts.refunds.length > 0) return 'refund';
    if (confirmed.length > 0) return null;
  }
  if (isEnough(payment, facts, confirmed)) return 'complete';
  if (isSeen || (confirmed.length > 0 && !isOver)) return isStarted ? null : 'see';
  if (confirmed.length > 0) return 'underpay';
  // The seen transfer disappeared: the customer can pay again until the window closes. Later money is
  // late money, except after a hold, where an operator has to decide.
  if (payment.status === 'on_hold') return isOver ? 'fail' : null;
  if (payment.status === 'processing') return isOver ? 'expire' : null;
  if (facts.state === 'cancelled') return 'cancel';
  if (isOver) return 'expire';
  return facts.state === 'started' && payment.status === 'created' ? 'start' : null;
}

/**
 * The trigger of late money (decisions/payments#late-payments). There is none while the provider holds the money
 * or reports a failure.
 */
function triggerAfterEnd(
  payment: Payment,
  facts: CheckoutFacts,
  confirmed: readonly TransferFacts[],
  { credited }: PaymentBackground,
): PaymentTrigger | null {
  if (facts.onHold || facts.state === 'failed' || isSentBack(facts)) return null;
  if (confirmed.every(({ id }) => credited.has(id)) || isCreditGone(facts, credited)) return null;
  return isEnough(payment, facts, confirmed) ? 'complete' : 'underpay';
}

/**
 * Whether a credited transfer is no longer confirmed, after a chain reorganization. Later money may be
 * the same money again, so an operator has to decide. Facts that are older than the credit look the
 * same and lead to no step either.
 */
function isCreditGone({ transfers }: CheckoutFacts, credited: ReadonlySet<string>): boolean {
  const isConfirmed = (id: string): boolean =>
    transfers.some((one) => one.id === id && one.status === 'confirmed');
  return [...credited].some((id) => !isConfirmed(id));
}

/**
 * There is no tolerance: a payment that is short by 0.00000001 is underpaid (decisions/payments#payment-statuses). Money
 * that was sent back before the first credit does not count. Later refunds do not change the status.
 */
function isEnough(
  payment: Payment,
  { refunds }: CheckoutFacts,
  confirmed: readonly TransferFacts[],
): boolean {
  const sentBack = payment.creditedAmount === ZERO ? sumOf(refunds) : ZERO;
  return !isLess(sumOf(confirmed), add(payment.amount, sentBack));
}

/** Whether all confirmed money was sent back, as after a rejected hold. */
export function isSentBack({ transfers, refunds }: CheckoutFacts): boolean {
  const confirmed = sumOf(transfers.filter(({ status }) => status === 'confirmed'));
  return refunds.length > 0 && !isLess(sumOf(refunds), confirmed);
}

function isInTime({ expiresAt }: Payment, { status, confirmedAt }: TransferFacts): boolean {
  if (status !== 'confirmed' || confirmedAt === null) return false;
  return confirmedAt.getTime() <= expiresAt.getTime() + LATE_WINDOW_MS;
}

/**
 * A transfer is late if it was seen after the window closed, by the provider's time, or after the
 * payment had ended. A transfer that was seen in time and confirmed later is not late.
 */
function exceptionsOf(
  payment: Payment,
  confirmed: readonly TransferFacts[],
  credits: readonly TransferFacts[],
): readonly PaymentException[] {
  if (credits.length === 0) return [];
  const isOver = isLess(payment.amount, sumOf(confirmed));
  const isLate =
    ['expired', 'cancelled', 'underpaid'].includes(payment.status) ||
    credits.some(({ seenAt }) => seenAt > payment.expiresAt);
  return [...(isOver ? (['overpaid'] as const) : []), ...(isLate ? (['late'] as const) : [])];
}

/**
 * The confirmed and the unconfirmed amount. A credited transfer counts as confirmed whatever the facts
 * say, because older facts may arrive later.
 */
export function figuresAfter(
  payment: Payment,
  { transfers }: CheckoutFacts,
  credited: ReadonlySet<string>,
): ReceivedFigures {
  const confirmed = transfers.filter(({ status }) => status === 'confirmed');
  const unconfirmed = transfers.filter(({ id, status }) => status === 'seen' && !credited.has(id));
  return {
    receivedAmount: greaterOf(sumOf(confirmed), payment.creditedAmount),
    unconfirmedAmount: sumOf(unconfirmed),
  };
}

function sumOf(transfers: readonly { amount: Amount }[]): Amount {
  return transfers.length === 0 ? ZERO : add(...transfers.map(({ amount }) => amount));
}

/** db/migrations/baseline/payments.ts describes each state. */
export type RefundState = 'ordered' | 'done' | 'refused' | 'owed' | 'waived';

/** A refund of a payment, as far as the next step depends on it. */
export interface PaymentRefund {
  reference: string;
  /** Null until the provider confirms it. */
  providerRefundId: string | null;
  amount: Amount;
  taken: Amount;
  fee: Amount;
  state: RefundState;
}

/**
 * - `confirm`: the provider made the requested refund.
 * - `take_back`: the provider made a refund that was not requested.
 * - `give_back`: the provider made a refund with our reference and a different amount. The requested
 *   one returns to the balance; the actual one is deducted next.
 */
export type RefundStep = {
  kind: 'confirm' | 'take_back' | 'give_back';
  refund: CheckoutFacts['refunds'][number];
};

/**
 * The next step, or null if every refund of the provider is recorded or has to wait. Requested refunds
 * come first. A refund waits while the requested ones do not leave enough for it: if one of them is
 * refused later, its money returns to the balance and would never be deducted.
 */
export function nextRefundStep(
  payment: Payment,
  facts: CheckoutFacts,
  known: readonly PaymentRefund[],
): RefundStep | null {
  // Nothing was credited, so the money sent back was never the merchant's.
  if (payment.creditedAmount === ZERO) return null;
  const unknown = unknownRefunds(facts, known);
  for (const ordered of known.filter(({ state }) => state === 'ordered')) {
    const refund = unknown.find(({ reference }) => reference === ordered.reference);
    if (refund === undefined) continue;
    return { kind: ordered.amount === refund.amount ? 'confirm' : 'give_back', refund };
  }
  const refund = unknown.find(({ amount }) => !hasToWait(payment, amount, known));
  return refund === undefined ? null : { kind: 'take_back', refund };
}

/** Whether the provider has made a refund that is not recorded, of money that was credited. */
export function hasUnknownRefund(
  payment: Payment,
  facts: CheckoutFacts,
  known: readonly PaymentRefund[],
): boolean {
  return payment.creditedAmount !== ZERO && unknownRefunds(facts, known).length > 0;
}

function unknownRefunds({ refunds }: CheckoutFacts, known: readonly PaymentRefund[]) {
  return refunds.filter(({ id }) => !known.some((one) => one.providerRefundId === id));
}

/** Whether a requested refund reserves what this one needs. */
export function hasToWait(
  payment: Payment,
  amount: Amount,
  known: readonly PaymentRefund[],
): boolean {
  const isOrdered = known.some(({ state }) => state === 'ordered');
  return isOrdered && isLess(refundableOf(payment), amount);
}

/** Whether everything credited was sent back to the customer. */
export function isAllRefunded(payment: Payment, refunded: Amount): boolean {
  return !isLess(refunded, payment.creditedAmount);
}
