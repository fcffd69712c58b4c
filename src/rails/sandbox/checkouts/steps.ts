/**
 * What each step does to a checkout. Pure but for new ids and hashes. A step that finds nothing to
 * do returns the same checkout, so repeating one is harmless.
 */
import { randomBytes } from 'node:crypto';
import { fromUnits, lastFourDecimals, toUnits } from '../decimal-text';
import { newTxHash } from '../chain';
import { arrivedUnits, confirmedUnits, refundedUnits } from './checkout';
import type { Checkout, CheckoutStep, PlannedStep, Received, Refund } from './checkout';

export type StepRefusal =
  | 'not_payable'
  | 'no_such_transfer'
  | 'not_on_hold'
  | 'cannot_be_held'
  | 'refund_too_large'
  | 'refund_refused'
  | 'refund_reference_conflict'
  /** The step was done, and its answer is lost. */
  | 'no_answer';

export type StepOutcome =
  { kind: 'checkout'; checkout: Checkout } | { kind: 'refused'; reason: StepRefusal };

export interface StepTime {
  now: Date;
  /** When a planned step was due; absent for a step that somebody asks for. */
  due?: Date;
  settleMs: number;
  slowMs: number;
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
  { now, due: paidAt = now, settleMs }: StepTime,
): StepOutcome {
  const transfer: Received = {
    id: newProviderId(checkout, 'transfer'),
    amount,
    status: at === null ? 'seen' : 'confirmed',
    seenAt: at ?? now.toISOString(),
    confirmedAt: at,
    txHash: newTxHash(checkout.network),
  };
  // The wait begins when the payment was due, so after a delay it is still confirmed before the steps that follow.
  const due = new Date(paidAt.getTime() + settleMs).toISOString();
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

/** Repeating a decision changes nothing; the opposite one is refused. */
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

/** Confirmed money is refunded and the rest is dropped; without confirmed money the checkout fails. */
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
  { now, due, slowMs }: StepTime,
): StepOutcome {
  const known = checkout.refunds.find(({ reference }) => reference === refundReference);
  if (known !== undefined) {
    const isSame = amount === null || known.amount === amount;
    return isSame ? done(checkout) : refused('refund_reference_conflict');
  }
  const refundable = confirmedUnits(checkout) - refundedUnits(checkout);
  const units = amount === null ? refundable : toUnits(amount);
  if (units <= 0n || units > refundable) return refused('refund_too_large');
  const scenario = refundScenario(amount);
  if (scenario === 'refused') return refused('refund_refused');
  if (scenario === 'slow' && due === undefined) {
    return done(laterRefund(checkout, refundReference, amount, new Date(now.getTime() + slowMs)));
  }
  const made = newRefund(checkout, refundReference, fromUnits(units), now);
  return done({ ...checkout, refunds: [...checkout.refunds, made] });
}

/** What the last four decimals of a refund's amount select; docs/sandbox.md has the same table. */
const REFUND_SCENARIOS: Readonly<Record<string, 'refused' | 'slow' | 'in_doubt'>> = {
  '9001': 'refused',
  '9003': 'slow',
  '9007': 'in_doubt',
};

export function refundScenario(amount: string | null) {
  return amount === null ? undefined : REFUND_SCENARIOS[lastFourDecimals(amount)];
}

/** A repeated request finds the planned one. */
function laterRefund(
  checkout: Checkout,
  refundReference: string | null,
  amount: string | null,
  at: Date,
): Checkout {
  const isPlanned = checkout.plan.some(
    ({ step }) => step.do === 'refund' && step.refundReference === refundReference,
  );
  if (isPlanned) return checkout;
  const step = { do: 'refund', refundReference, amount } as const;
  const plan = [...checkout.plan, { due: at.toISOString(), step }];
  return { ...checkout, plan: plan.sort((one, other) => (one.due < other.due ? -1 : 1)) };
}

/**
 * Transfers planned within the time limit are removed. Those planned for later still arrive:
 * nothing stops a customer from sending too late.
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

/** Puts it behind every step that is due at the same time, so that a plan keeps its order. */
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
