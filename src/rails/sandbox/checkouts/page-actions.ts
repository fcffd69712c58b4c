/**
 * The buttons of the hosted page: what a customer, the network and the provider can do to a
 * checkout. Each is a POST form; no button needs a script.
 */
import { fromUnits, toUnits } from '../decimal-text';
import { confirmedUnits, dueUnits, refundedUnits } from './checkout';
import type { Checkout, CheckoutStep } from './checkout';
import { shareOf } from './scenarios';
import type { StepTime } from './steps';

export interface PageAction {
  label: string;
  group: 'customer' | 'chain' | 'provider';
  isOffered(checkout: Checkout, now: Date): boolean;
  /** Taken one after the other. */
  steps(checkout: Checkout, time: StepTime): readonly CheckoutStep[];
  /** Where the customer's browser goes: it waits for the payment, goes to cancel_url, or returns. */
  then: 'wait' | 'leave' | 'stay';
}

const pay = (amount: string, then: 'confirm' | 'drop' = 'confirm'): CheckoutStep => ({
  do: 'pay',
  amount,
  at: null,
  then,
});

/** The amount that is still to be paid. */
function missing(checkout: Checkout): string {
  return fromUnits(dueUnits(checkout));
}

/** The amount that is still to be paid; once that is zero, the whole amount again. */
function missingOrAgain(checkout: Checkout): string {
  return dueUnits(checkout) > 0n ? missing(checkout) : checkout.amount;
}

/** A button that is pressed twice pays once. */
function isMissing(checkout: Checkout): boolean {
  return isPayable(checkout) && dueUnits(checkout) > 0n;
}

function isPayable({ state }: Checkout): boolean {
  return state !== 'failed';
}

function isOver(checkout: Checkout, now: Date): boolean {
  return now.getTime() >= Date.parse(checkout.expiresAt);
}

/** The smallest amount cannot be divided. */
function isDivisible(checkout: Checkout): boolean {
  return isPayable(checkout) && dueUnits(checkout) > 1n;
}

function payInTwo(checkout: Checkout, { now, settleMs }: StepTime): readonly CheckoutStep[] {
  const whole = missing(checkout);
  const first = shareOf(whole, 'half');
  const second = fromUnits(toUnits(whole) - toUnits(first));
  const due = new Date(now.getTime() + settleMs).toISOString();
  return [pay(first), { do: 'plan', planned: { due, step: pay(second) } }];
}

/** Once the time limit is over, every payment is late. */
function payLate(checkout: Checkout, time: StepTime): readonly CheckoutStep[] {
  const whole = missing(checkout);
  if (isOver(checkout, time.now)) return [pay(whole)];
  const due = new Date(Date.parse(checkout.expiresAt) + time.settleMs + 1).toISOString();
  return [{ do: 'start' }, { do: 'plan', planned: { due, step: pay(whole) } }];
}

/** Drops the unconfirmed transfers; without any, sends a transfer that will be dropped. */
function drop(checkout: Checkout): readonly CheckoutStep[] {
  const isOnItsWay = checkout.transfers.some(({ status }) => status === 'seen');
  return isOnItsWay ? [{ do: 'drop', transferId: null }] : [pay(missingOrAgain(checkout), 'drop')];
}

export const PAGE_ACTIONS: Readonly<Record<string, PageAction>> = {
  start: {
    label: 'Start paying',
    group: 'customer',
    isOffered: ({ state }) => state === 'open',
    steps: () => [{ do: 'start' }],
    then: 'stay',
  },
  'pay-exactly': {
    label: 'Pay exact amount',
    group: 'customer',
    isOffered: isMissing,
    steps: (checkout) => [pay(missing(checkout))],
    then: 'wait',
  },
  'pay-less': {
    label: 'Pay less (50%)',
    group: 'customer',
    isOffered: isDivisible,
    steps: (checkout) => [pay(shareOf(missing(checkout), 'half'))],
    then: 'wait',
  },
  'pay-more': {
    label: 'Pay more (150%)',
    group: 'customer',
    isOffered: isPayable,
    steps: (checkout) => [pay(shareOf(missingOrAgain(checkout), 'half_more'))],
    then: 'wait',
  },
  'pay-in-two': {
    label: 'Pay in two transfers',
    group: 'customer',
    isOffered: isDivisible,
    steps: payInTwo,
    then: 'wait',
  },
  'pay-late': {
    label: 'Pay late (after expiry)',
    group: 'customer',
    isOffered: isMissing,
    steps: payLate,
    then: 'stay',
  },
  cancel: {
    label: 'Cancel',
    group: 'customer',
    isOffered: ({ state, transfers }) =>
      (state === 'open' || state === 'started') &&
      transfers.every(({ status }) => status === 'dropped'),
    steps: () => [{ do: 'cancel' }],
    then: 'leave',
  },
  drop: {
    label: 'Drop transfer',
    group: 'chain',
    isOffered: isPayable,
    steps: drop,
    then: 'stay',
  },
  hold: {
    label: 'Hold for compliance',
    group: 'provider',
    isOffered: ({ state, onHold }) => !onHold && (state === 'open' || state === 'started'),
    steps: () => [{ do: 'hold' }],
    then: 'stay',
  },
  release: {
    label: 'Release hold',
    group: 'provider',
    isOffered: ({ onHold }) => onHold,
    steps: () => [{ do: 'release' }],
    then: 'stay',
  },
  reject: {
    label: 'Reject and refund',
    group: 'provider',
    isOffered: ({ onHold }) => onHold,
    steps: () => [{ do: 'reject' }],
    then: 'stay',
  },
  refund: {
    label: 'Refund',
    group: 'provider',
    isOffered: (checkout) => !checkout.onHold && confirmedUnits(checkout) > refundedUnits(checkout),
    steps: () => [{ do: 'refund', refundReference: null, amount: null }],
    then: 'stay',
  },
};
