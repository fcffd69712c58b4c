/** A payment as its workflow sees it: status, decision and the time of the next check. */
import { findLastDecision, type StoredDecision } from '../../src/db/payments/payment-decisions';
import { listRefunds } from '../../src/db/payments/payment-refunds';
import { findPause } from '../../src/db/accounts/payout-pauses';
import { databaseTime } from '../../src/db/database-time';
import type { Db } from '../../src/db/transaction';
import { isLess, ZERO } from '../../src/domain/money';
import { CREDITED_LATER_STATUSES, isOpenPayment, type Payment } from '../../src/domain/payment';
import { LATE_WINDOW_MS } from '../../src/domain/payment-step';
import { refundableOf, seenAmount } from '../../src/domain/payment-pricing';
import { awaitsAddress, isWaiting, type Refund } from '../../src/domain/refund';
import { nextAttemptMs, nextCheckMs, nextPaymentCheckMs } from '../../src/domain/provider-checks';
import type { Limited } from '../../src/adapters/providers/port';
import type { PaymentState, Wait } from '../../workflows/messages';
import type { Deps } from '../deps';
import { collectOwed } from './refunds';

const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Look {
  /** The time when the provider was asked. */
  askedAt: Date;
  /** Whether the provider answered. */
  answered?: boolean;
  /** The provider answered 429. */
  limit?: Limited;
  isMismatch?: boolean;
  /** Whether the provider holds the money for compliance. */
  isHeld?: boolean;
}

/** @param why the reason to wait, unless there is a more specific one */
export async function reportPayment(
  db: Db,
  payment: Payment,
  why: string,
  look: Look,
): Promise<PaymentState> {
  const decision = await findLastDecision(db, payment.id);
  const owes = payment.refundedAmount !== ZERO && (await collectOwed(db, payment.id));
  const order = payment.reversedAmount === ZERO ? null : await findOrdered(db, payment);
  const now = await databaseTime(db);
  return stateOf(payment, { decision, order, owes }, why, { ...look, now });
}

/** A refund under way. */
interface Ordered extends Refund {
  /** The reason of the pause because of which the provider is not asked; null without one. */
  pause: string | null;
}

/** The oldest refund that the provider has not answered, before one that waits for something else. */
async function findOrdered(db: Db, payment: Payment): Promise<Ordered | null> {
  const ordered = (await listRefunds(db, payment.id)).filter(({ state }) => state === 'ordered');
  const found = ordered.find(isAtProvider) ?? ordered.find(isWaiting) ?? ordered[0];
  if (found === undefined) return null;
  return { ...found, pause: isAtProvider(found) ? await findPause(db, payment) : null };
}

function isAtProvider({ awaitsPerson, addressUntil }: Refund): boolean {
  return !awaitsPerson && addressUntil === null;
}

/**
 * The state of a payment whose checkout was just opened: nobody has decided anything, and nothing is
 * owed.
 */
export function reportOpened(payment: Payment): PaymentState {
  const look = { askedAt: payment.createdAt, now: payment.createdAt };
  return stateOf(payment, { decision: null, order: null, owes: false }, WAITING_FOR_CUSTOMER, look);
}

/** Adds the payment's page, if the console is served. */
export function withPage(
  { consoleUrl }: Pick<Deps, 'consoleUrl'>,
  paymentId: string,
  state: PaymentState,
): PaymentState {
  if (consoleUrl === null) return state;
  return { ...state, consolePage: `${consoleUrl}/payments/${paymentId}` };
}

export const WAITING_FOR_CUSTOMER = 'Waiting for the customer.';

interface Open {
  decision: StoredDecision | null;
  order: Ordered | null;
  owes: boolean;
}

/** A merchant's refund that the provider has not answered for this long needs a person. */
const OVERDUE_MS = 15 * 60 * 1000;

function stateOf(
  payment: Payment,
  { decision, order, owes }: Open,
  why: string,
  { askedAt, now, answered = true, limit, isMismatch = false, isHeld = true }: Look & { now: Date },
): PaymentState {
  const held = isHeld && payment.status === 'on_hold';
  const isPending = decision?.state === 'pending';
  const isUnsent = !held && isRejectedHold(payment, decision);
  return {
    status: payment.status,
    amount: payment.amount,
    currency: payment.currency,
    received: seenAmount(payment),
    refundable: refundableOf(payment),
    sequence: payment.sequence,
    answered,
    decision: decision && {
      kind: decision.kind,
      amount: decision.amount,
      by: decision.decidedBy,
      state: decision.state,
      refusal: decision.refusal,
    },
    needsAttention:
      isMismatch ||
      owes ||
      isPending ||
      held ||
      isUnsent ||
      isRefused(payment, decision) ||
      isOverdue(order, now),
    wait: afterLimit(
      waitFor(payment, {
        why: isUnsent ? 'Waiting for the provider to return the rejected funds.' : why,
        askedAt,
        now,
        answered,
        owes,
        held,
        pending: isPending
          ? { what: `\`${decision.kind}\``, since: decision.decidedAt }
          : ordered(order),
      }),
      limit,
    ),
  };
}

function afterLimit(wait: Wait | null, limit: Limited | undefined): Wait | null {
  if (wait === null || limit === undefined) return wait;
  const { reason, retryAfterMs } = limit;
  return { ms: Math.max(wait.ms, retryAfterMs), why: `${wait.why} ${reason}`, retryAfterMs };
}

/** Whether a refund was refused and something is left to refund. */
function isRefused(payment: Payment, decision: StoredDecision | null): boolean {
  return (
    decision?.kind === 'refund' && decision.state === 'refused' && refundableOf(payment) !== ZERO
  );
}

/** Whether the provider accepted the rejection, and the money is neither sent back nor credited. */
function isRejectedHold({ status }: Payment, decision: StoredDecision | null): boolean {
  return status === 'on_hold' && decision?.kind === 'reject' && decision.state === 'accepted';
}

function isOverdue(order: Ordered | null, now: Date): boolean {
  if (order === null || !isAtProvider(order) || order.pause !== null) return false;
  return now.getTime() - order.updatedAt.getTime() > OVERDUE_MS;
}

function ordered(order: Ordered | null): WaitFacts['pending'] {
  if (order === null) return null;
  const { amount, currency, updatedAt, pause, payoutId } = order;
  const what = `refund of ${amount} ${currency}`;
  if (order.awaitsPerson) {
    const why = `Waiting for another person of the merchant to approve the ${what}.`;
    return { what, since: updatedAt, hold: { why, until: order.secondPersonUntil } };
  }
  if (awaitsAddress(order)) {
    const why = `Waiting for the customer to name an address for the ${what}.`;
    return { what, since: updatedAt, hold: { why, until: order.addressUntil } };
  }
  if (payoutId !== null) {
    return {
      what,
      since: updatedAt,
      hold: { why: `Waiting for ${payoutId}, which sends the ${what}.` },
    };
  }
  if (pause === null) return { what, since: updatedAt };
  const why = `Waiting for an operator to resume payouts (paused: ${pause}).`;
  return { what, since: updatedAt, hold: { why, everyMs: MINUTE_MS } };
}

/** The reason why the provider is not asked to carry it out. */
interface Hold {
  why: string;
  until?: Date | null;
  everyMs?: number;
}

interface WaitFacts {
  why: string;
  askedAt: Date;
  now: Date;
  answered: boolean;
  owes: boolean;
  held: boolean;
  /** The order that the provider has to carry out. */
  pending: { what: string; since: Date; hold?: Hold } | null;
}

/**
 * The wait until the next check or the end of the window. Afterwards checks are rare, while money can
 * still move.
 */
function waitFor(
  payment: Payment,
  { why, askedAt, now, answered, owes, held, pending }: WaitFacts,
): Wait | null {
  if (pending?.hold !== undefined) {
    const { why, until = null, everyMs = HOUR_MS } = pending.hold;
    const leftMs = until === null ? everyMs : Math.max(0, until.getTime() - now.getTime());
    return { why, ms: Math.min(leftMs, everyMs) };
  }
  if (pending !== null) {
    const ms = nextCheckMs(now.getTime() - pending.since.getTime());
    return { why: `Waiting for the provider to carry out the ${pending.what}.`, ms };
  }
  const nextMs = answered ? nextCheckMs : nextAttemptMs;
  const pollMs = nextPaymentCheckMs(payment, askedAt, now, nextMs);
  if (isOpenPayment(payment.status)) {
    const what =
      answered && held ? 'Held for compliance: an operator must release or reject the funds.' : why;
    return { why: what, ms: pollMs };
  }
  // There may be money, so the provider is asked until it answers.
  if (!answered) return { why, ms: pollMs };
  const ageMs = now.getTime() - payment.createdAt.getTime();
  const rareMs = Math.min(Math.max(ageMs, HOUR_MS), DAY_MS);
  if (owes) return { why: 'Waiting for the balance to cover a refund.', ms: rareMs };
  const isOver = now.getTime() > payment.expiresAt.getTime() + LATE_WINDOW_MS;
  if (!mayStillCome(payment) || isOver) return null;
  return { why: 'Waiting for late funds.', ms: rareMs };
}

/**
 * An underpaid payment waits for the rest, or for an operator's refund. Any other ended payment waits
 * only for money already seen: a callback, a verify request or the reconciliation reports anything
 * else and starts the workflow again.
 */
function mayStillCome(payment: Payment): boolean {
  if (payment.status === 'underpaid') return true;
  if (!isLess(payment.creditedAmount, seenAmount(payment))) return false;
  return CREDITED_LATER_STATUSES.includes(payment.status);
}
