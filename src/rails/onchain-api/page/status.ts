/** What the hosted page says about the state of a payment. */
import { add, type Amount, isLess, subtract, ZERO } from '../../../domain/money';
import type { CheckoutView } from '../present';
import { LANGUAGES, type Messages } from './messages';

export interface PaymentFacts {
  checkout: CheckoutView;
  /** The amount that is detected or final. */
  arrived: Amount;
  /** The amount that is final. */
  confirmed: Amount;
  now: Date;
}

type StatusName =
  | 'waiting'
  | 'seen'
  | 'part'
  | 'paid'
  | 'held'
  | 'refunding'
  | 'refunded'
  | 'expired'
  | 'cancelled'
  | 'failed';

export interface Status {
  name: StatusName;
  title: string;
  text: string;
  /** Whether the page may soon say something else. */
  isLive: boolean;
}

export function statusOf(view: PaymentFacts, say: Messages = LANGUAGES.en): Status {
  const { checkout, arrived, confirmed, now } = view;
  const { asset, refunds } = checkout;
  const status = (name: StatusName, [title = '', text = '']: string[], isLive = true): Status => ({
    name,
    title,
    text,
    isLive,
  });
  if (checkout.isHeld) return status('held', say.held);
  if (needsRefundAddress(view)) return status('refunding', say.refundWaits, false);
  if (refunds.some(({ state }) => state === 'sending')) {
    return status('refunding', say.refundSending);
  }
  if (checkout.state === 'failed') return status('failed', say.failed, false);
  if (refunds.length > 0 && !isLess(sumOf(refunds), confirmed)) {
    return status('refunded', say.refunded, false);
  }
  if (isPaid(view)) {
    const isExact = confirmed === checkout.amount;
    const text = isExact ? say.paid : say.overpaid(`${shortAmount(confirmed)} ${asset}`);
    return status('paid', [say.paidTitle, text], false);
  }
  const isOver = now >= checkout.expiresAt || checkout.state === 'cancelled';
  if (missingAmount(view) === ZERO) return status('seen', say.seen);
  if (arrived !== ZERO) {
    const missing = `${shortAmount(missingAmount(view))} ${asset}`;
    const received = say.part(`${shortAmount(arrived)} ${asset}`, missing);
    return status('part', [say.partTitle, `${received} ${isOver ? say.partOver : say.partRest}`]);
  }
  if (checkout.state === 'cancelled') return status('cancelled', say.cancelled, false);
  return isOver ? status('expired', say.expired) : status('waiting', say.waiting);
}

function isPaid({ checkout, confirmed }: PaymentFacts): boolean {
  return !isLess(confirmed, checkout.amount);
}

export function missingAmount({ checkout: { amount }, arrived }: PaymentFacts): Amount {
  return isLess(arrived, amount) ? subtract(amount, arrived) : ZERO;
}

function needsRefundAddress({ checkout }: PaymentFacts): boolean {
  return checkout.refunds.some(({ state }) => state === 'needs_address');
}

function sumOf(refunds: CheckoutView['refunds']): Amount {
  return refunds.length === 0 ? ZERO : add(...refunds.map(({ amount }) => amount));
}

/** The amount with at least two decimals, without further zeros at the end. */
export function shortAmount(amount: Amount): string {
  return amount.replace(/0{1,6}$/, '');
}
