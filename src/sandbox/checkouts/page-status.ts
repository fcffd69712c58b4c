/** The present state of a checkout in words for the customer. */
import { fromUnits, shortenAmount } from '../decimal-text';
import { confirmedUnits, dueUnits, isPaid, refundedUnits, type Checkout } from './checkout';

export interface PageStatus {
  /** For the page's looks and for tests. */
  name:
    | 'open'
    | 'started'
    | 'seen'
    | 'part'
    | 'paid'
    | 'on_hold'
    | 'refunded'
    | 'expired'
    | 'cancelled'
    | 'failed';
  words: string;
  /** Whether something may soon be different by itself. */
  isLive: boolean;
}

export function statusOf(checkout: Checkout, now: Date): PageStatus {
  const confirmed = confirmedUnits(checkout);
  const refunded = refundedUnits(checkout);
  const isSeen = checkout.transfers.some(({ status }) => status === 'seen');
  if (checkout.onHold) return over('on_hold', 'Held for a compliance check.');
  if (checkout.state === 'failed') return over('failed', 'The payment failed at the provider.');
  if (confirmed > 0n && refunded >= confirmed) return over('refunded', 'The money was sent back.');
  if (isPaid(checkout)) return over('paid', 'Paid. Your transfer is confirmed.');
  if (isSeen) return live('seen', 'Your transfer was seen. It is not confirmed yet.');
  if (confirmed > 0n)
    return { name: 'part', words: partWords(checkout), isLive: hasPlan(checkout) };
  if (checkout.state === 'cancelled') return over('cancelled', 'The payment was cancelled.');
  if (now.getTime() >= Date.parse(checkout.expiresAt)) {
    const words = 'The time limit is over. Nothing came in time.';
    return { name: 'expired', words, isLive: hasPlan(checkout) };
  }
  return checkout.state === 'started'
    ? live('started', 'Waiting for your transfer.')
    : live('open', 'Nobody has begun to pay yet.');
}

function partWords(checkout: Checkout): string {
  const arrived = shortenAmount(fromUnits(confirmedUnits(checkout)));
  const missing = shortenAmount(fromUnits(dueUnits(checkout)));
  return `${arrived} ${checkout.currency} came, ${missing} ${checkout.currency} are still to be paid.`;
}

function hasPlan({ plan }: Checkout): boolean {
  return plan.length > 0;
}

function live(name: PageStatus['name'], words: string): PageStatus {
  return { name, words, isLive: true };
}

function over(name: PageStatus['name'], words: string): PageStatus {
  return { name, words, isLive: false };
}
