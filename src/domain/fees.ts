/** Service fees (decisions/money#service-fees). The current rule is copied onto an object when it is created. */
import { type Amount, add, greaterOf, isLess, lesserOf, percentOf } from './money';
import type { ProviderCode } from './provider-codes';

/** Money comes in with a payin (a payment) and goes out with a payout. */
export const DIRECTIONS = ['payin', 'payout'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** The terms of a fee rule: a percentage plus a fixed amount, between a minimum and a maximum. */
export interface FeeTerms {
  /** Percentage with 4 decimals: `"1.0000"`. */
  percentage: string;
  fixedAmount: Amount;
  minFee: Amount | null;
  maxFee: Amount | null;
}

/**
 * @param base the amount of a payout, or the received amount of a payin. The fee of a payin never
 *   exceeds it.
 */
export function serviceFee(direction: Direction, base: Amount, terms: FeeTerms): Amount {
  let fee = percentOf(base, terms.percentage, terms.fixedAmount);
  if (terms.minFee !== null) fee = greaterOf(fee, terms.minFee);
  if (terms.maxFee !== null) fee = lesserOf(fee, terms.maxFee);
  return direction === 'payin' && isLess(base, fee) ? base : fee;
}

/** What a payout deducts from the balance: the amount plus fees (the specification, "Fee rule"). */
export function totalDebit(amount: Amount, fee: Amount, networkFee: Amount): Amount {
  return add(amount, fee, networkFee);
}

/** The current terms of one provider, direction and currency. */
export interface FeeRule extends FeeTerms {
  direction: Direction;
  provider: ProviderCode;
  currency: string;
}

/** A question about a fee (the specification, "Fee quote"). */
export interface FeeQuoteRequest {
  direction: Direction;
  provider: ProviderCode;
  currency: string;
  amount: Amount;
}

/** What an amount would cost now. */
export interface FeeQuote extends FeeQuoteRequest {
  serviceFee: Amount;
}
