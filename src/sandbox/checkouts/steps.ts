/**
 * Everything that can happen to a checkout, as data that can be planned ahead and kept in the
 * book, and what each step makes of a checkout. Pure but for new ids and hashes. A step that finds
 * nothing to do gives the same checkout back, so repeating one is harmless.
 */
import { randomBytes } from 'node:crypto';
import { fromUnits, toUnits } from '../decimal-text';
import { newTxHash } from '../tx-hash';
import { arrivedUnits, confirmedUnits, refundedUnits, type Checkout } from './checkout';
import type { Received, Refund } from './checkout';

export type CheckoutStep =
  | { do: 'start' }
  /** With `at` the transfer was seen and confirmed at that time; else it is settled by `then`. */
  | { do: 'pay'; amount: string; at: string | null; then: 'confirm' | 'drop' | 'stay' }
  /** Without an id: every transfer that is seen and not confirmed. */
  | { do: 'confirm' | 'drop'; transferId: string | null }
  /** The chain takes confirmed transfers back. */
  | { do: 'reorg'; transferId: string | null }
  | { do: 'hold' | 'release' | 'reject' | 'cancel' | 'fail' }
  /** Without an amount: all that came and has not gone back. */
  | { do: 'refund'; refundReference: string | null; amount: string | null }
  | { do: 'plan'; planned: PlannedStep };

export interface PlannedStep {
  due: string;
  step: CheckoutStep;
}

export type StepRefusal =
  | 'not_payable'
  | 'no_such_transfer'
  | 'not_on_hold'
  | 'cannot_be_held'
  | 'refund_too_large'
  | 'refund_reference_conflict';

export type StepOutcome =
  { kind: 'checkout'; checkout: Checkout } | { kind: 'refused'; reason: StepRefusal };

export interface StepTime {
  now: Date;
  settleMs: number;
}

export function takeStep(checkout: Checkout, step: CheckoutStep, time: StepTime): StepOutcome {
  switch (step.do) {
    case 'start':
      return done(checkout.state === 'open' ? { ...checkout, state: 'started' } : checkout);
    case 'pay':
      return checkout.state === 'failed' ? refused('not_payable') : pay(checkout, step, time);
    case 'confirm':
    case 'drop':
      return settle(checkout, step, time);
    case 'reorg':
      return reorganize(checkout, step);
    case 'hold':
      return hold(checkout);
    case 'release':
    case 'reject':
      return decideHold(checkout, step.do, time);
    case 'refund':
      return refund(checkout, step, time);
    case 'cancel':
      return done(cancel(checkout));
    case 'fail':
      return done(
        checkout.state === 'failed'
          ? checkout
          : { ...checkout, state: 'failed', failureCode: 'provider_error', plan: [] },
      );
    case 'plan':
      return done({ ...checkout, plan: insert(checkout.plan, step.planned) });
  }
}

function pay(
  checkout: Checkout,
  { amount, at, then }: CheckoutStep & { do: 'pay' },
  { now, settleMs }: StepTime,
): StepOutcome {
  const transfer: Received = {
    id: newProviderId(checkout, 'transfer'),
    amount,
    status: at === null ? 'seen' : 'confirmed',
    seenAt: at ?? now.toISOString(),
    confirmedAt: at,
    txHash: newTxHash(checkout.network),
  };
  const due = new Date(now.getTime() + settleMs).toISOString();
  const plan =
    at !== null || then === 'stay'
      ? checkout.plan
      : insert(checkout.plan, { due, step: { do: then, transferId: transfer.id } });
  const state = checkout.state === 'open' ? 'started' : checkout.state;
  return done({ ...checkout, state, plan, transfers: [...checkout.transfers, transfer] });
}

function settle(
  checkout: Checkout,
  { do: verb, transferId }: CheckoutStep & { do: 'confirm' | 'drop' },
  { now }: StepTime,
): StepOutcome {
  const isMeant = ({ id, status }: Received): boolean =>
    status === 'seen' && (transferId === null || id === transferId);
  if (!checkout.transfers.some(isMeant)) return refused('no_such_transfer');
  const settled =
    verb === 'confirm'
      ? ({ status: 'confirmed', confirmedAt: now.toISOString() } as const)
      : ({ status: 'dropped' } as const);
  const transfers = checkout.transfers.map((one) => (isMeant(one) ? { ...one, ...settled } : one));
  return done({ ...checkout, transfers });
}

function reorganize(
  checkout: Checkout,
  { transferId }: CheckoutStep & { do: 'reorg' },
): StepOutcome {
  const isMeant = ({ id, status }: Received): boolean =>
    status === 'confirmed' && (transferId === null || id === transferId);
  if (!checkout.transfers.some(isMeant)) return refused('no_such_transfer');
  const gone = { status: 'dropped', confirmedAt: null } as const;
  const transfers = checkout.transfers.map((one) => (isMeant(one) ? { ...one, ...gone } : one));
  return done({ ...checkout, transfers });
}

function hold(checkout: Checkout): StepOutcome {
  if (checkout.state === 'failed' || checkout.state === 'cancelled') {
    return refused('cannot_be_held');
  }
  return done(checkout.onHold ? checkout : { ...checkout, onHold: true, holdDecision: null });
}

/** A decision that was taken already is no news; the other one comes too late. */
function decideHold(
  checkout: Checkout,
  decision: 'release' | 'reject',
  time: StepTime,
): StepOutcome {
  const holdDecision = decision === 'release' ? 'released' : 'rejected';
  if (!checkout.onHold) {
    return checkout.holdDecision === holdDecision ? done(checkout) : refused('not_on_hold');
  }
  const decided: Checkout = { ...checkout, onHold: false, holdDecision };
  return done(decision === 'release' ? decided : sendBack(decided, time));
}

/** What is confirmed goes back, what is not never counts; without any money it just failed. */
function sendBack(checkout: Checkout, { now }: StepTime): Checkout {
  const transfers = checkout.transfers.map((one) =>
    one.status === 'seen' ? { ...one, status: 'dropped' as const } : one,
  );
  const units = confirmedUnits(checkout) - refundedUnits(checkout);
  if (units <= 0n) {
    return {
      ...checkout,
      transfers,
      plan: [],
      state: 'failed',
      failureCode: 'compliance_rejected',
    };
  }
  const refunds = [...checkout.refunds, newRefund(checkout, null, fromUnits(units), now)];
  return { ...checkout, transfers, refunds, plan: [] };
}

function refund(
  checkout: Checkout,
  { refundReference, amount }: CheckoutStep & { do: 'refund' },
  { now }: StepTime,
): StepOutcome {
  const known = checkout.refunds.find(({ reference }) => reference === refundReference);
  if (known !== undefined) {
    const isSame = amount === null || known.amount === amount;
    return isSame ? done(checkout) : refused('refund_reference_conflict');
  }
  const refundable = confirmedUnits(checkout) - refundedUnits(checkout);
  const units = amount === null ? refundable : toUnits(amount);
  if (units <= 0n || units > refundable) return refused('refund_too_large');
  const made = newRefund(checkout, refundReference, fromUnits(units), now);
  return done({ ...checkout, refunds: [...checkout.refunds, made] });
}

/**
 * No more money is expected, and no planned money comes within the time limit. What is planned for
 * later does come: nobody can keep a customer from sending too late.
 */
function cancel(checkout: Checkout): Checkout {
  const isOpen = checkout.state === 'open' || checkout.state === 'started';
  if (!isOpen || arrivedUnits(checkout) > 0n) return checkout;
  const plan = checkout.plan.filter(({ due }) => due > checkout.expiresAt);
  return { ...checkout, state: 'cancelled', plan };
}

const ID_PREFIXES = {
  onchain_provider: { transfer: 'odp_', refund: 'orf_' },
  exchange_pay: { transfer: 'EPP', refund: 'EPR' },
} as const;

function newProviderId({ provider }: Checkout, kind: 'transfer' | 'refund'): string {
  return `${ID_PREFIXES[provider][kind]}${randomBytes(12).toString('hex')}`;
}

function newRefund(
  checkout: Checkout,
  reference: string | null,
  amount: string,
  now: Date,
): Refund {
  const id = newProviderId(checkout, 'refund');
  return { id, reference: reference ?? id, amount, refundedAt: now.toISOString() };
}

/** After everything that is due at the same time, so that a plan keeps its order. */
function insert(plan: readonly PlannedStep[], planned: PlannedStep): PlannedStep[] {
  const later = plan.findIndex(({ due }) => due > planned.due);
  const index = later === -1 ? plan.length : later;
  return [...plan.slice(0, index), planned, ...plan.slice(index)];
}

function done(checkout: Checkout): StepOutcome {
  return { kind: 'checkout', checkout };
}

function refused(reason: StepRefusal): StepOutcome {
  return { kind: 'refused', reason };
}
