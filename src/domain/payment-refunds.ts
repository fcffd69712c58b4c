/**
 * Refunds of payments (decision P6): what one takes back of the balance, and what a provider's
 * facts make of those that are known. Pure and repeatable, as payment-step.ts.
 */
import { serviceFee } from './fees';
import { type Amount, add, isLess, lesserOf, subtract, ZERO } from './money';
import type { Payment } from './payment';
import type { CheckoutFacts } from './payment-step';

/** db/migrations/0007 says what each means. */
export type RefundState = 'ordered' | 'done' | 'refused' | 'owed' | 'waived';

export interface PaymentRefund {
  reference: string;
  /** Null until the provider confirms it. */
  providerRefundId: string | null;
  amount: Amount;
  taken: Amount;
  fee: Amount;
  state: RefundState;
}

export interface Reversal {
  /** The part of the credits that is taken back; `taken` and `fee` make it up. */
  reversed: Amount;
  taken: Amount;
  fee: Amount;
}

/** What of the payment is credited still, before fees: no more can be refunded. */
export function refundableOf(payment: Payment): Amount {
  return subtract(payment.creditedAmount, payment.reversedAmount);
}

/** The fee as it is now: on what is credited still. */
export function feeKept(payment: Payment): Amount {
  return subtract(payment.serviceFee, payment.reversedFee);
}

/** What the payment added to the balance and left there. */
export function netAmount(payment: Payment): Amount {
  return subtract(refundableOf(payment), feeKept(payment));
}

/**
 * The fee is on what was received (decision M1): as much of it is given up as was charged on the
 * part that goes back, so that several refunds cost what one of their sum does.
 */
export function priceReversal(payment: Payment, amount: Amount): Reversal {
  const reversed = lesserOf(amount, refundableOf(payment));
  const rest = subtract(refundableOf(payment), reversed);
  const fee = subtract(feeKept(payment), serviceFee('payin', rest, payment.feeTerms));
  return { reversed, fee, taken: subtract(reversed, fee) };
}

/** What returns to the balance when a refund of so much did not come about. */
export function priceReturn(payment: Payment, reversed: Amount): Reversal {
  const whole = add(refundableOf(payment), reversed);
  const fee = subtract(serviceFee('payin', whole, payment.feeTerms), feeKept(payment));
  return { reversed, fee, taken: subtract(reversed, fee) };
}

/**
 * - `confirm`: the provider made the refund that was ordered.
 * - `take_back`: the provider made one that was not ordered, or not so.
 * - `give_back`: under our reference it made another than was ordered; that is taken back next.
 */
export type RefundStep = {
  kind: 'confirm' | 'take_back' | 'give_back';
  refund: CheckoutFacts['refunds'][number];
};

/**
 * The next step, or null when every refund of the provider is known or has to wait. Those that were
 * ordered come first. One for which the ordered ones leave too little waits until these have ended:
 * what they took may be given back, and would then never be taken for it.
 */
export function nextRefundStep(
  payment: Payment,
  facts: CheckoutFacts,
  known: readonly PaymentRefund[],
): RefundStep | null {
  // Nothing was credited: what the provider sends back never was the merchant's.
  if (payment.creditedAmount === ZERO) return null;
  const unknown = facts.refunds.filter(
    ({ id }) => !known.some((one) => one.providerRefundId === id),
  );
  for (const ordered of known.filter(({ state }) => state === 'ordered')) {
    const refund = unknown.find(({ reference }) => reference === ordered.reference);
    if (refund === undefined) continue;
    return { kind: ordered.amount === refund.amount ? 'confirm' : 'give_back', refund };
  }
  const refund = unknown.find(({ amount }) => !hasToWait(payment, amount, known));
  return refund === undefined ? null : { kind: 'take_back', refund };
}

/** Whether an ordered refund holds what this one is to take. */
export function hasToWait(
  payment: Payment,
  amount: Amount,
  known: readonly PaymentRefund[],
): boolean {
  const isOrdered = known.some(({ state }) => state === 'ordered');
  return isOrdered && isLess(refundableOf(payment), amount);
}

/** Whether all that was credited has gone back to the customer. */
export function isAllRefunded(payment: Payment, refunded: Amount): boolean {
  return !isLess(refunded, payment.creditedAmount);
}
