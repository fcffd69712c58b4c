/** What the hosted page says about the state of a payment. */
import { add, type Amount, isLess, subtract, ZERO } from '../../../domain/money';
import type { CheckoutView } from '../present';

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

export function statusOf(view: PaymentFacts): Status {
  const { checkout, arrived, confirmed, now } = view;
  const { asset, refunds } = checkout;
  const say = (name: StatusName, title: string, text: string, isLive = true): Status => ({
    name,
    title,
    text,
    isLive,
  });
  if (checkout.isHeld) {
    return say('held', 'On hold', 'The payment is being checked. You need not do anything.');
  }
  if (needsRefundAddress(view)) {
    return say('refunding', 'Refund', 'The payment is to be sent back. Contact the shop.', false);
  }
  if (refunds.some(({ state }) => state === 'sending')) {
    return say('refunding', 'Refund on its way', 'It is complete when the network confirms it.');
  }
  if (checkout.state === 'failed') {
    return say('failed', 'Payment failed', 'Nothing was charged. Contact the shop.', false);
  }
  if (refunds.length > 0 && !isLess(sumOf(refunds), confirmed)) {
    return say('refunded', 'Refunded', 'The payment was sent back.', false);
  }
  if (isPaid(view)) return paidStatus(view, say);
  const missing = `${shortAmount(missingAmount(view))} ${asset}`;
  const isOver = now >= checkout.expiresAt || checkout.state === 'cancelled';
  if (missingAmount(view) === ZERO) {
    return say('seen', 'Payment received', 'Waiting for the network to confirm it.');
  }
  if (arrived !== ZERO) {
    const received = `${shortAmount(arrived)} ${asset} received, ${missing} missing.`;
    return isOver
      ? say('part', 'Not paid in full', `${received} The time is over. Contact the shop.`)
      : say('part', 'Not paid in full', `${received} Send the rest to the same address.`);
  }
  if (checkout.state === 'cancelled') {
    return say('cancelled', 'Cancelled', 'Do not send anything to this checkout.', false);
  }
  if (isOver) {
    const text = 'Do not send anything now. Start a new payment in the shop.';
    return say('expired', 'The time is over', text);
  }
  return say('waiting', 'Waiting for your payment', 'This page shows it within seconds.');
}

type Say = (name: StatusName, title: string, text: string, isLive?: boolean) => Status;

function paidStatus({ checkout, confirmed }: PaymentFacts, say: Say): Status {
  const { amount, asset } = checkout;
  const text =
    confirmed === amount
      ? 'Thank you.'
      : `Thank you. You sent ${shortAmount(confirmed)} ${asset}, more than was asked for.`;
  return say('paid', 'Payment confirmed', text, false);
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
