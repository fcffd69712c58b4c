/**
 * Payout limits per account and currency (decisions/controls#payout-limits), and those of an API key
 * (decisions/payouts#recipients). A null maximum means none.
 */
import { type Amount, add, isLess } from './money';
import type { Refusal } from './errors';

/** The limits of an API key in one currency, under the names that the database has. */
export interface KeyLimit {
  per_payout?: Amount;
  per_day?: Amount;
}

/** The facts that decide whether a payout exceeds a limit. */
export interface LimitFacts {
  /** Whose limits they are. */
  of: 'account' | 'key';
  currency: string;
  amount: Amount;
  perTransactionMax: Amount | null;
  dailyMax: Amount | null;
  /** Sum of `amount` over the last 24 hours, without rejected, failed and cancelled payouts. */
  usedToday: Amount;
  /** When the oldest payout of the window leaves it, ISO 8601; null when the window is empty. */
  resetsAt: string | null;
}

/** The refusal for the first limit that the payout would exceed, or null. */
export function exceededLimit(facts: LimitFacts): Refusal<'limit_exceeded'> | null {
  const { currency, amount, perTransactionMax, dailyMax, usedToday } = facts;
  if (perTransactionMax !== null && isLess(perTransactionMax, amount)) {
    return limitExceeded(facts, 'per_transaction', perTransactionMax, null);
  }
  if (dailyMax !== null && isLess(dailyMax, add(usedToday, amount))) {
    return limitExceeded(facts, 'daily', dailyMax, facts.resetsAt);
  }
  return null;

  function limitExceeded(
    { usedToday: used }: LimitFacts,
    kind: 'per_transaction' | 'daily',
    maximum: Amount,
    resetsAt: string | null,
  ): Refusal<'limit_exceeded'> {
    const limit = facts.of === 'key' ? (`key_${kind}` as const) : kind;
    return {
      code: 'limit_exceeded',
      details: { limit, currency, maximum, used, requested: amount, resets_at: resetsAt },
    };
  }
}
