/**
 * Applies a provider's facts to a payment: one guarded step per transaction, until the payment matches the
 * facts (decisions/payments#provider-facts). Each transfer is credited exactly once; what was sent back of it is
 * deducted in the same transaction.
 */
import { appendEvent, type EventTx, savepointOfEvents } from '../../src/db/webhooks/events';
import { postAtCommit } from '../../src/db/ledger/ledger';
import { openCase, resolveOpenCase } from '../../src/db/cases/cases';
import {
  findEffectiveDecision,
  findRejection,
  type Rejection,
} from '../../src/db/payments/payment-decisions';
import {
  changePayment,
  creditedTransfers,
  insertCredit,
  lockPayment,
  type SteppedPayment,
  takePaymentStep,
} from '../../src/db/payments/payments';
import { databaseTime } from '../../src/db/database-time';
import type { Tx } from '../../src/db/transaction';
import { creditPosting } from '../../src/domain/ledger';
import { type Amount, add, greaterOf, ZERO } from '../../src/domain/money';
import { DECIDED_BY_OPERATOR, type Payment } from '../../src/domain/payment';
import {
  type CheckoutFacts,
  nextPaymentStep,
  type PaymentStep,
  type ReceivedFigures,
  figuresAfter,
} from '../../src/domain/payment-step';
import { priceCredits } from '../../src/domain/payment-pricing';
import { type Deps, inEventTransaction } from '../deps';
import { eventOfPayment } from '../events';
import { wakePayouts } from '../payout/wake';
import { type Covered, ifCovered, recordRefund } from './refunds';

/** A payment has fewer statuses than this, so more steps for the same facts would be a bug. */
const STEPS_MAX = 10;
/** A refund needs at most three: balance insufficient, different amount returned, recorded. */
const STEPS_PER_REFUND_MAX = 3;
const TRANSFERS_MAX = 100;

/**
 * The case of a hold whose rejection the provider accepted, without reporting a refund or a failure.
 */
const NOT_SENT_BACK = 'rejected_not_sent_back';

export async function recordCheckout(
  deps: Deps,
  paymentId: string,
  facts: CheckoutFacts,
  askedAt: Date,
): Promise<Payment> {
  const most = STEPS_MAX + STEPS_PER_REFUND_MAX * facts.refunds.length;
  let available: Amount | null = null;
  for (let steps = 0; steps < most; steps += 1) {
    const short: Amount | null = available;
    const taken: Covered<Step> = await ifCovered(
      inEventTransaction(deps, paymentId, (tx) => step(tx, paymentId, facts, askedAt, short)),
    );
    if (taken.kind === 'covered') await wakePayouts(deps, taken.result.waitingPayouts);
    if (taken.kind === 'covered' && !taken.result.stepped) return taken.result.payment;
    available = taken.kind === 'short' ? taken.available : null;
  }
  throw new Error(`payment ${paymentId} still changes after ${most} steps`);
}

interface Step {
  payment: Payment;
  stepped: boolean;
  /** The payouts that waited for the payment, which the step has completed. */
  waitingPayouts?: string[] | null | undefined;
}

/** @param available the available amount, when it does not cover the next refund */
async function step(
  tx: EventTx,
  paymentId: string,
  facts: CheckoutFacts,
  askedAt: Date,
  available: Amount | null,
): Promise<Step> {
  const payment = await lockPayment(tx, paymentId);
  const credited = await creditedTransfers(tx, paymentId);
  const rejection = payment.status === 'on_hold' ? await findRejection(tx, paymentId) : null;
  const background = { credited, rejection: rejection?.state ?? null };
  const next = nextPaymentStep(payment, facts, background, askedAt);
  if (next !== null) {
    const taken = await take(tx, payment, facts, next);
    const ids = new Set([...credited, ...next.credits.map(({ id }) => id)]);
    const { waitingPayouts } = taken;
    if (isLast(taken, facts, ids, askedAt)) {
      return { payment: taken, stepped: false, waitingPayouts };
    }
    if (next.credits.length === 0) return { payment: taken, stepped: true, waitingPayouts };
    const after = await takeBackAtOnce(tx, taken, facts);
    return { payment: after, stepped: true, waitingPayouts };
  }
  const refunded = await recordRefund(tx, payment, facts, available);
  if (refunded !== null) return { payment: refunded, stepped: true };
  if (rejection !== null) await noteNotSentBack(tx, payment, facts, rejection);
  return { payment: await noteFigures(tx, payment, facts, credited), stepped: false };
}

/**
 * Whether nothing is left to do, as after most steps. The payment need not be locked again to see that.
 */
function isLast(
  payment: Payment,
  facts: CheckoutFacts,
  credited: ReadonlySet<string>,
  askedAt: Date,
): boolean {
  // An operator may have rejected the hold, which has to be read.
  if (payment.status === 'on_hold' || facts.refunds.length > 0) return false;
  if (!hasFigures(payment, figuresAfter(payment, facts, credited))) return false;
  return nextPaymentStep(payment, facts, { credited, rejection: null }, askedAt) === null;
}

/**
 * Deducts what was sent back, because money that was credited and sent back in part must not be
 * available in between. A refund that the balance does not cover is left to the next step, which
 * records it as owed.
 */
async function takeBackAtOnce(
  tx: EventTx,
  payment: Payment,
  facts: CheckoutFacts,
): Promise<Payment> {
  let last = payment;
  for (;;) {
    // The savepoint keeps the credit and the refunds before it when a refund is not covered.
    const refunded: Covered<Payment | null> = await ifCovered(
      savepointOfEvents(tx, () => recordRefund(tx, last, facts, null)),
    );
    if (refunded.kind === 'short' || refunded.result === null) return last;
    last = refunded.result;
  }
}

async function noteNotSentBack(
  tx: Tx,
  { id, status }: Payment,
  { onHold, transfers }: CheckoutFacts,
  { state, decidedBy }: Rejection,
): Promise<void> {
  if (onHold || state !== 'accepted') return;
  if (!transfers.some(({ status: how }) => how === 'confirmed')) return;
  await openCase(tx, NOT_SENT_BACK, id, { status, decidedBy });
}

function hasFigures(payment: Payment, figures: ReceivedFigures): boolean {
  return (
    payment.receivedAmount === figures.receivedAmount &&
    payment.unconfirmedAmount === figures.unconfirmedAmount
  );
}

/** Records the amounts received and, for a rejected hold, the refunds, which can come in parts. */
async function noteFigures(
  tx: Tx,
  payment: Payment,
  facts: CheckoutFacts,
  credited: ReadonlySet<string>,
): Promise<Payment> {
  const figures = figuresAfter(payment, facts, credited);
  const isRejected = payment.status === 'refunded' && payment.creditedAmount === ZERO;
  const refundedAmount = isRejected
    ? greaterOf(add(ZERO, ...facts.refunds.map(({ amount }) => amount)), payment.refundedAmount)
    : payment.refundedAmount;
  const isKnown = hasFigures(payment, figures) && refundedAmount === payment.refundedAmount;
  return isKnown
    ? payment
    : changePayment(tx, payment.id, {
        ...figures,
        refundedAmount,
        transfers: storedTransfers(facts),
      });
}

/** For the pages. Anybody can send more transfers than a page can show. */
function storedTransfers({ transfers }: CheckoutFacts): string {
  return JSON.stringify(transfers.slice(-TRANSFERS_MAX));
}

async function take(
  tx: EventTx,
  payment: Payment,
  facts: CheckoutFacts,
  { trigger, credits, figures, exceptions, txHash }: PaymentStep,
): Promise<SteppedPayment> {
  const priced = priceCredits(payment, credits);
  const decision = await decisionBehind(tx, payment, trigger);
  const marks = decision === null ? exceptions : [...exceptions, 'manual' as const];
  const after = await takePaymentStep(tx, payment, trigger, {
    ...figures,
    transfers: storedTransfers(facts),
    creditedAmount: add(payment.creditedAmount, ...priced.map(({ amount }) => amount)),
    serviceFee: add(payment.serviceFee, ...priced.map(({ fee }) => fee)),
    exceptions: [...new Set([...payment.exceptions, ...marks])],
    txHash: txHash ?? payment.txHash,
    ...(trigger === 'complete' && payment.completedAt === null
      ? { completedAt: await databaseTime(tx) }
      : {}),
    ...(trigger === 'fail' || decision?.kind === 'reject'
      ? { failureReason: decision?.reason ?? facts.failureReason ?? failureOf(facts) }
      : {}),
    ...(trigger === 'refund'
      ? { refundedAmount: add(...facts.refunds.map(({ amount }) => amount)) }
      : {}),
  });
  appendEvent(tx, eventOfPayment(after, payment.status));
  if (payment.status === 'on_hold') {
    await resolveOpenCase(tx, NOT_SENT_BACK, payment.id, `The payment is now ${after.status}.`);
  }
  for (const credit of priced) {
    const sent = facts.transfers.find(({ id }) => id === credit.id);
    const ids = { paymentId: payment.id, transferId: credit.id, txHash: sent?.txHash ?? null };
    insertCredit(tx, { ...credit, ...ids });
  }
  // Postings come last, because from the first one to COMMIT the balance is locked.
  for (const credit of priced) {
    postAtCommit(tx, payment, creditPosting(payment, credit));
  }
  return after;
}

/** The operator's decision that caused this step, if any. A merchant's own is nothing out of the ordinary. */
async function decisionBehind(tx: Tx, payment: Payment, trigger: PaymentStep['trigger']) {
  if (payment.status !== 'on_hold' && trigger !== 'cancel') return null;
  const decision = await findEffectiveDecision(tx, payment.id);
  if (decision?.requestedBy !== 'operator') return null;
  return DECIDED_BY_OPERATOR[decision.kind].includes(trigger) ? decision : null;
}

function failureOf({ state }: CheckoutFacts): string {
  return state === 'failed'
    ? 'The provider could not take the payment.'
    : 'The transfer was never confirmed.';
}
