/**
 * When to query a provider again, and when to alert an operator (decisions/payouts#payout-statuses and
 * decisions/payouts#payouts-in-doubt). Both depend only on the waiting time, so a restarted workflow continues
 * where it was.
 */
import type { DifferenceKind } from './cases';
import { isFinalPayout, type PayoutStatus } from './payout';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const FIRST_CHECK_MS = 2 * SECOND_MS;
const LAST_CHECK_MS = 15 * MINUTE_MS;

/** Polling is the fallback for lost callbacks. The interval grows with the wait, up to 15 minutes. */
export function nextCheckMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs, FIRST_CHECK_MS), LAST_CHECK_MS);
}

/**
 * The interval after a call without an answer. The end of an outage should be noticed soon, so it is at
 * most a minute, or a tenth of the wait.
 */
export function nextAttemptMs(waitedMs: number): number {
  return Math.min(nextCheckMs(waitedMs), Math.max(MINUTE_MS, waitedMs / 10));
}

const FIRST_PAYMENT_CHECK_MS = 10 * SECOND_MS;

/**
 * A customer takes minutes, so the first check of a payment is later than that of a payout. A further
 * check follows directly after the payment window closes.
 * @param askedAt when the provider was last asked: a request before the end of the window does not
 *   show the state at the end
 * @param nextMs `nextAttemptMs` when it did not answer
 */
export function nextPaymentCheckMs(
  { createdAt, expiresAt }: { createdAt: Date; expiresAt: Date },
  askedAt: Date,
  now: Date,
  nextMs = nextCheckMs,
): number {
  const ageMs = now.getTime() - createdAt.getTime();
  const pollMs = Math.max(nextMs(ageMs), FIRST_PAYMENT_CHECK_MS);
  if (askedAt >= expiresAt) return pollMs;
  const leftMs = Math.max(expiresAt.getTime() - now.getTime(), 0);
  return Math.min(pollMs, leftMs + 1);
}

/** Each threshold raises the attention level by one. */
export const ESCALATION_AFTER_MS = [15 * MINUTE_MS, 2 * HOUR_MS, 24 * HOUR_MS] as const;

/** The number of thresholds that the wait has passed. 0 means that no attention is needed. */
export function attentionLevel(waitedMs: number): number {
  return ESCALATION_AFTER_MS.filter((threshold) => waitedMs >= threshold).length;
}

/**
 * The kind of case if the provider contradicts how a payout ended, otherwise null. The ledger stays
 * unchanged (decisions/money#money-leaves-once); an operator decides.
 */
export function contradiction(
  payout: PayoutStatus,
  transfer: 'pending' | 'sent' | 'failed' | 'not_found',
): DifferenceKind | null {
  if (payout === 'completed') return transfer === 'sent' ? null : 'completed_but_not_sent';
  if (!isFinalPayout(payout) || transfer === 'failed' || transfer === 'not_found') return null;
  return transfer === 'sent' ? 'sent_after_return_of_funds' : 'pending_after_return_of_funds';
}
