/**
 * From a provider's facts to the next step of a payment (decisions P3 to P7). Pure and repeatable:
 * the same facts lead to the same step, and when there is none, nothing is left to do. Every source
 * of news comes through here.
 */
import { type Amount, add, greaterOf, isLess, subtract, ZERO } from './money';
import {
  isOpenPayment,
  nextPaymentStatus,
  type Payment,
  type PaymentException,
  type PaymentTrigger,
} from './payment';

/** A transfer as far as the decision needs it. */
export interface TransferFacts {
  id: string;
  amount: Amount;
  status: 'seen' | 'confirmed' | 'dropped';
  seenAt: Date;
  confirmedAt: Date | null;
  txHash: string | null;
}

export interface CheckoutFacts {
  state: 'open' | 'started' | 'cancelled' | 'failed';
  onHold: boolean;
  transfers: readonly TransferFacts[];
  /** `reference`: ours where we asked for it, else the provider's own. */
  refunds: readonly { id: string; reference: string; amount: Amount }[];
  failureReason: string | null;
}

export interface PaymentStep {
  trigger: PaymentTrigger;
  /** Transfers to credit with this step; each is credited once for ever, keyed by its id. */
  credits: readonly TransferFacts[];
  received: Amount;
  exceptions: readonly PaymentException[];
  txHash: string | null;
}

/** What is written down about a payment besides its row. */
export interface PaymentBackground {
  /** Ids of the transfers that were credited already. */
  credited: ReadonlySet<string>;
  /** An operator's rejection of its hold: whether the provider has accepted it. Null: none stands. */
  rejection: 'pending' | 'accepted' | null;
}

/** Money confirmed this long after the end still counts (decision P5). */
export const LATE_WINDOW_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * The next step, or null when the payment stands where the facts say.
 * @param askedAt when the provider was asked: what came after that the facts cannot know
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
    received: receivedAfter(payment, facts),
    exceptions: exceptionsOf(payment, confirmed, credits),
    txHash: confirmed.at(-1)?.txHash ?? null,
  };
}

/** While a payment is open nothing of it is credited yet. */
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
  // A hold and its rejection between two looks: it is held now, and refunded with the next step.
  if (isSentBack(facts)) return payment.status === 'on_hold' ? 'refund' : 'hold';
  if (payment.status === 'on_hold' && rejection !== null) {
    // What went back may be less by a network's fee, or more has come: nothing of it is credited.
    if (rejection === 'accepted' && facts.refunds.length > 0) return 'refund';
    if (confirmed.length > 0) return null;
  }
  if (isEnough(payment, facts, confirmed)) return 'complete';
  if (isSeen || (confirmed.length > 0 && !isOver)) return isStarted ? null : 'see';
  if (confirmed.length > 0) return 'underpay';
  // What was seen has vanished: there is time to pay again until the window closes. What replaces
  // it later is late money, but not where it was held: that is for an operator.
  if (payment.status === 'on_hold') return isOver ? 'fail' : null;
  if (payment.status === 'processing') return isOver ? 'expire' : null;
  if (facts.state === 'cancelled') return 'cancel';
  if (isOver) return 'expire';
  return facts.state === 'started' && payment.status === 'created' ? 'start' : null;
}

/** Late money (decision P5), but none that the provider holds or has given up. */
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
 * A credited transfer is not confirmed any more, after a reorganization of its chain: what came
 * since may be the same money once more, and an operator has to decide. Facts that are older than
 * what was credited look alike, and bring nothing new either.
 */
function isCreditGone({ transfers }: CheckoutFacts, credited: ReadonlySet<string>): boolean {
  const isConfirmed = (id: string): boolean =>
    transfers.some((one) => one.id === id && one.status === 'confirmed');
  return [...credited].some((id) => !isConfirmed(id));
}

/** What went back before anything was credited does not pay; later refunds change no status. */
function isEnough(
  payment: Payment,
  { refunds }: CheckoutFacts,
  confirmed: readonly TransferFacts[],
): boolean {
  const sentBack = payment.creditedAmount === ZERO ? sumOf(refunds) : ZERO;
  return !isLess(sumOf(confirmed), add(payment.amount, sentBack));
}

/** A hold that was rejected: all that was confirmed went back. */
export function isSentBack({ transfers, refunds }: CheckoutFacts): boolean {
  const confirmed = sumOf(transfers.filter(({ status }) => status === 'confirmed'));
  return refunds.length > 0 && !isLess(sumOf(refunds), confirmed);
}

function isInTime({ expiresAt }: Payment, { status, confirmedAt }: TransferFacts): boolean {
  if (status !== 'confirmed' || confirmedAt === null) return false;
  return confirmedAt.getTime() <= expiresAt.getTime() + LATE_WINDOW_MS;
}

/**
 * Late is what came after the window closed, by the provider's time, or after the payment had
 * ended without it. What was seen in time and confirmed later is not.
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

/** Never less than what was credited: facts that were asked for earlier may arrive later. */
export function receivedAfter(payment: Payment, facts: CheckoutFacts): Amount {
  return greaterOf(receivedOf(facts), payment.creditedAmount);
}

/** What the provider has seen, confirmed or not. */
function receivedOf({ transfers }: CheckoutFacts): Amount {
  return sumOf(transfers.filter(({ status }) => status !== 'dropped'));
}

function sumOf(transfers: readonly { amount: Amount }[]): Amount {
  return transfers.length === 0 ? ZERO : add(...transfers.map(({ amount }) => amount));
}

/** What is still to be paid, and what was paid beyond the amount (decision P2). */
export function amountDue(payment: Payment): Amount {
  return isLess(payment.receivedAmount, payment.amount)
    ? subtract(payment.amount, payment.receivedAmount)
    : ZERO;
}

export function overpaidAmount(payment: Payment): Amount {
  return isLess(payment.amount, payment.receivedAmount)
    ? subtract(payment.receivedAmount, payment.amount)
    : ZERO;
}
