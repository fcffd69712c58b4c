/**
 * Refunds of payments (decision P6): what a refund deducts from the balance, and the next step that
 * follows from the provider's facts. Pure and repeatable, like payment-step.ts.
 */
import { serviceFee } from './fees';
import { type Amount, add, isLess, lesserOf, subtract, ZERO } from './money';
import type { Payment } from './payment';
import type { CheckoutFacts } from './payment-step';

/** db/migrations/0004-payments.ts describes each state. */
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
  /** The part of the credits that is reversed: `taken` plus `fee`. */
  reversed: Amount;
  taken: Amount;
  fee: Amount;
}

/** The credited amount that is not reversed yet, before fees: the maximum refund. */
export function refundableOf(payment: Payment): Amount {
  return subtract(payment.creditedAmount, payment.reversedAmount);
}

/** The fee on what is not reversed. */
export function feeKept(payment: Payment): Amount {
  return subtract(payment.serviceFee, payment.reversedFee);
}

/** What the payment contributes to the balance. */
export function netAmount(payment: Payment): Amount {
  return subtract(refundableOf(payment), feeKept(payment));
}

/**
 * Prices a refund. The fee applies to the received amount (decision M1), so the part that was charged
 * on the refunded amount is waived. Several refunds cost the same as one of their sum.
 */
export function priceReversal(payment: Payment, amount: Amount): Reversal {
  const reversed = lesserOf(amount, refundableOf(payment));
  const rest = subtract(refundableOf(payment), reversed);
  const fee = subtract(feeKept(payment), serviceFee('payin', rest, payment.feeTerms));
  return { reversed, fee, taken: subtract(reversed, fee) };
}

/** What returns to the balance if a refund of this amount was refused. */
export function priceReturn(payment: Payment, reversed: Amount): Reversal {
  const whole = add(refundableOf(payment), reversed);
  const fee = subtract(serviceFee('payin', whole, payment.feeTerms), feeKept(payment));
  return { reversed, fee, taken: subtract(reversed, fee) };
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
