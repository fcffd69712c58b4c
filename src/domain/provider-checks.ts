/**
 * When to ask a provider again, and when to call an operator (decisions O5 and O6). Both depend
 * only on how long the payout has waited, so a restarted workflow goes on where it was.
 */
import { isFinalPayout, type PayoutStatus } from './payout';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const FIRST_CHECK_MS = 2 * SECOND_MS;
const LAST_CHECK_MS = 15 * MINUTE_MS;

/** A callback usually comes first; the poll is the net below it. Grows with the wait, to 15 min. */
export function nextCheckMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs, FIRST_CHECK_MS), LAST_CHECK_MS);
}

const FIRST_PAYMENT_CHECK_MS = 10 * SECOND_MS;

/**
 * A customer takes minutes, so an open payment is asked about later at first than a payout, and
 * once more right after its window closes.
 * @param askedAt when the provider was last asked: an answer that was asked for before the end and
 *   comes after it has not seen the end
 */
export function nextPaymentCheckMs(
  { createdAt, expiresAt }: { createdAt: Date; expiresAt: Date },
  askedAt: Date,
  now: Date,
): number {
  const ageMs = now.getTime() - createdAt.getTime();
  const pollMs = Math.max(nextCheckMs(ageMs), FIRST_PAYMENT_CHECK_MS);
  if (askedAt >= expiresAt) return pollMs;
  const leftMs = Math.max(expiresAt.getTime() - now.getTime(), 0);
  return Math.min(pollMs, leftMs + 1);
}

/** Each passed threshold raises the attention level by one. */
export const ESCALATION_AFTER_MS = [15 * MINUTE_MS, 2 * HOUR_MS, 24 * HOUR_MS] as const;

/** 0: nobody needs to look; 1 to 3: how many thresholds have passed. */
export function attentionLevel(waitedMs: number): number {
  return ESCALATION_AFTER_MS.filter((threshold) => waitedMs >= threshold).length;
}

/**
 * Names the contradiction between how a payout ended and what its provider says, or null. The
 * books stay as they are (decision O7); an operator has to look.
 */
export function contradiction(
  payout: PayoutStatus,
  transfer: 'pending' | 'sent' | 'failed' | 'not_found',
): string | null {
  if (payout === 'completed') return transfer === 'sent' ? null : 'completed_but_not_sent';
  if (!isFinalPayout(payout) || transfer === 'failed' || transfer === 'not_found') return null;
  return transfer === 'sent' ? 'sent_after_return_of_funds' : 'pending_after_return_of_funds';
}
