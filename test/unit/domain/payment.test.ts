import {
  isOpenPayment,
  nextPaymentStatus,
  PAYMENT_STATUSES,
  type PaymentStatus,
  paymentStatusesBefore,
  type PaymentTrigger,
} from '../../../src/domain/payment';
import { paymentEvent } from '../../../src/domain/events';

/**
 * Written down from decisions/payments#payment-statuses, decisions/payments#late-payments and decisions/payments#refunds, not from the
 * code.
 */
const EDGES: [PaymentStatus, PaymentTrigger, PaymentStatus][] = [
  ['created', 'start', 'pending'],
  ['created', 'see', 'processing'],
  ['created', 'hold', 'on_hold'],
  ['created', 'complete', 'completed'],
  ['created', 'underpay', 'underpaid'],
  ['created', 'fail', 'failed'],
  ['created', 'expire', 'expired'],
  ['created', 'cancel', 'cancelled'],
  ['pending', 'see', 'processing'],
  ['pending', 'hold', 'on_hold'],
  ['pending', 'complete', 'completed'],
  ['pending', 'underpay', 'underpaid'],
  ['pending', 'fail', 'failed'],
  ['pending', 'expire', 'expired'],
  ['pending', 'cancel', 'cancelled'],
  ['processing', 'hold', 'on_hold'],
  ['processing', 'complete', 'completed'],
  ['processing', 'underpay', 'underpaid'],
  ['processing', 'fail', 'failed'],
  ['processing', 'expire', 'expired'],
  ['on_hold', 'complete', 'completed'],
  ['on_hold', 'underpay', 'underpaid'],
  ['on_hold', 'fail', 'failed'],
  ['on_hold', 'refund', 'refunded'],
  // More money is credited where it stands, without status change or event.
  ['completed', 'complete', 'completed'],
  ['completed', 'refund', 'refunded'],
  ['underpaid', 'underpay', 'underpaid'],
  ['underpaid', 'complete', 'completed'],
  ['underpaid', 'refund', 'refunded'],
  ['expired', 'complete', 'completed'],
  ['expired', 'underpay', 'underpaid'],
  ['cancelled', 'complete', 'completed'],
  ['cancelled', 'underpay', 'underpaid'],
];
const TRIGGERS: PaymentTrigger[] = [
  'start',
  'see',
  'hold',
  'complete',
  'underpay',
  'fail',
  'expire',
  'cancel',
  'refund',
];
const PAIRS = PAYMENT_STATUSES.flatMap((from) =>
  TRIGGERS.map((trigger) => {
    const edge = EDGES.find(([state, by]) => state === from && by === trigger);
    return [from, trigger, edge?.[2]] as const;
  }),
);

describe('the table of states', () => {
  test.each(PAIRS)('%s, %s: %s', (from, trigger, to) => {
    expect(nextPaymentStatus(from, trigger)).toBe(to);
  });

  test.each(TRIGGERS)('%s is possible from its own states alone', (trigger) => {
    const before = EDGES.filter(([, by]) => by === trigger).map(([from]) => from);
    expect(new Set(paymentStatusesBefore(trigger))).toEqual(new Set(before));
  });

  test('four states are open, and no end leads back to them', () => {
    const open = PAYMENT_STATUSES.filter(isOpenPayment);
    expect(open).toEqual(['created', 'pending', 'processing', 'on_hold']);
    const ends = PAYMENT_STATUSES.filter((status) => !isOpenPayment(status));
    const after = ends.flatMap((from) => TRIGGERS.map((by) => nextPaymentStatus(from, by)));
    expect(after.filter((status) => status !== undefined && isOpenPayment(status))).toEqual([]);
  });

  test('each state but the first is reached, and has its own event', () => {
    const reached = new Set(PAIRS.map(([from, trigger]) => nextPaymentStatus(from, trigger)));
    expect(PAYMENT_STATUSES.filter((status) => !reached.has(status))).toEqual(['created']);
    for (const status of PAYMENT_STATUSES) expect(paymentEvent(status)).toBe(`payment.${status}`);
  });
});
