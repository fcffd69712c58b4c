/**
 * What a payment's credits and refunds move, fees included (decisions/money#service-fees and
 * decisions/payments#refunds). Pure.
 */
import { serviceFee } from './fees';
import { type Amount, add, isLess, lesserOf, subtract, ZERO } from './money';
import type { Payment } from './payment';

/** What a refund moves: `taken` from the merchant and `fee` from the platform. */
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
 * Prices a refund. The fee applies to the received amount (decisions/money#service-fees), so the part that was
 * charged on the refunded amount is waived. Several refunds cost the same as one of their sum.
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

/** A credited transfer: its amount before the fee, and the fee. */
export interface Credit {
  id: string;
  amount: Amount;
  fee: Amount;
}

/**
 * The fee applies to the sum of what was received (decisions/money#service-fees), so each transfer bears what
 * it adds to the fee.
 */
export function priceCredits(
  payment: Payment,
  transfers: readonly { id: string; amount: Amount }[],
): Credit[] {
  let total = refundableOf(payment);
  let charged = feeKept(payment);
  return transfers.map(({ id, amount }) => {
    total = add(total, amount);
    const fee = subtract(serviceFee('payin', total, payment.feeTerms), charged);
    charged = add(charged, fee);
    return { id, amount, fee };
  });
}

/** The amount of all transfers that the provider has seen, confirmed or not. */
export function seenAmount(payment: Pick<Payment, 'receivedAmount' | 'unconfirmedAmount'>): Amount {
  return add(payment.receivedAmount, payment.unconfirmedAmount);
}

/**
 * The amount that the customer still has to send (decisions/payments#payment-object): nobody pays twice while a
 * transfer is confirmed.
 */
export function amountDue(payment: Payment): Amount {
  const seen = seenAmount(payment);
  return isLess(seen, payment.amount) ? subtract(payment.amount, seen) : ZERO;
}

/** What was received beyond the payment's amount; zero if nothing was. */
export function overpaidAmount(payment: Payment): Amount {
  return isLess(payment.amount, payment.receivedAmount)
    ? subtract(payment.receivedAmount, payment.amount)
    : ZERO;
}
