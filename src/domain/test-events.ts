/**
 * The events that one request makes happen in test mode, because the sandbox plays what follows
 * (docs/guides/testing.md). The dashboard and `payments-gateway trigger` send these requests.
 */
import type { EventType } from './events';

/** The request that makes an event happen: an object, and what selects its scenario. */
export type TestEvent =
  | { object: 'payment'; scenario: string }
  /** The decimals of the amount choose what the provider does. */
  | { object: 'payout'; amount: string };

const payment = (scenario: string) => ({ object: 'payment', scenario }) as const;
const payout = (amount = '10') => ({ object: 'payout', amount }) as const;

/** The events that can be made to happen, each with its request. */
export const TEST_EVENTS = {
  'payment.created': payment('completed'),
  'payment.processing': payment('underpaid'),
  'payment.on_hold': payment('on_hold'),
  'payment.completed': payment('completed'),
  'payment.received': payment('paid_again'),
  'payment.underpaid': payment('underpaid'),
  'payment.failed': payment('failed'),
  'payment.expired': payment('expired'),
  'payment.cancelled': payment('cancelled'),
  'payment.refunded': payment('refunded'),
  'payout.requested': payout(),
  'payout.approved': payout(),
  'payout.processing': payout(),
  'payout.completed': payout(),
  'payout.failed': payout('10.00009001'),
} as const satisfies Partial<Record<EventType, TestEvent>>;

export type TestEventType = keyof typeof TEST_EVENTS;

/** The fields that these requests have in common. */
export const TEST_PAYMENT = { amount: '100', currency: 'USDT' } as const;
/** The fields that the requests for payouts have in common. */
export const TEST_PAYOUT = {
  currency: 'USDT',
  network: 'tron',
  destination: { type: 'crypto_address', value: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
} as const;
