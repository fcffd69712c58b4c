/** Asks the provider how a payment stands, and brings its answer in. Every news comes this way. */
import { noteException } from '../../src/db/repositories/exceptions';
import { creditedTransfers, findPayment } from '../../src/db/repositories/payments';
import type { Db } from '../../src/db/transaction';
import { isLess } from '../../src/domain/money';
import type { Payment } from '../../src/domain/payment';
import { isOpenPayment } from '../../src/domain/payment';
import { isSentBack, LATE_WINDOW_MS } from '../../src/domain/payment-news';
import { nextCheckMs } from '../../src/domain/provider-checks';
import type { Checkout } from '../../src/providers/port';
import type { PaymentState, Wait } from '../../workflows/messages';
import { providerOf, type PayoutDeps } from '../payout/deps';
import { recordCheckout } from './record';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

export async function checkPayment(deps: PayoutDeps, paymentId: string): Promise<PaymentState> {
  const payment = await findPayment(deps.db, paymentId);
  if (payment === null) throw new Error(`payment ${paymentId} does not exist`);
  const askedAt = new Date();
  const found = await providerOf(deps, payment).findCheckout(paymentId);
  if (found.kind !== 'found') {
    return report(payment, 'waits for the provider to answer', false);
  }
  const { checkout } = found;
  if (checkout.amount !== payment.amount || checkout.currency !== payment.currency) {
    const { amount, currency, providerId: id } = checkout;
    await noteException(deps.db, 'checkout_mismatch', paymentId, { amount, currency, id });
    return report(payment, 'waits for an operator: the provider has another amount or currency');
  }
  const after = await recordCheckout(deps.db, paymentId, checkout, askedAt);
  await noteUncredited(deps.db, after, checkout);
  return report(after, 'waits for the customer');
}

/** Money for a payment that has ended and cannot take it: an operator decides whose it is. */
async function noteUncredited(db: Db, payment: Payment, checkout: Checkout): Promise<void> {
  if (isOpenPayment(payment.status) || checkout.onHold || isSentBack(checkout)) return;
  const credited = await creditedTransfers(db, payment.id);
  const lost = checkout.transfers.filter(
    ({ id, status }) => status === 'confirmed' && !credited.has(id),
  );
  if (lost.length === 0) return;
  const transfers = lost.map(({ id, amount }) => ({ id, amount }));
  await noteException(db, 'money_not_credited', payment.id, { status: payment.status, transfers });
}

function report(payment: Payment, why: string, answered = true): PaymentState {
  const { status, amount, currency, sequence } = payment;
  const wait = nextWait(payment, why, answered, new Date());
  return { status, amount, currency, sequence, answered, wait };
}

/** Until the window closes or the next look; after the end, seldom, as long as money may come. */
function nextWait(payment: Payment, why: string, answered: boolean, now: Date): Wait | null {
  const ageMs = now.getTime() - payment.createdAt.getTime();
  const leftMs = payment.expiresAt.getTime() - now.getTime();
  const pollMs = nextCheckMs(ageMs);
  if (isOpenPayment(payment.status)) {
    return { why, ms: leftMs > 0 ? Math.min(pollMs, leftMs + 1) : pollMs };
  }
  // What it was asked about may be money: it is asked until it answers.
  if (!answered) return { why, ms: pollMs };
  if (!mayStillCome(payment) || leftMs + LATE_WINDOW_MS < 0) return null;
  return { why: 'waits for late money', ms: Math.min(Math.max(ageMs, HOUR_MS), DAY_MS) };
}

/** For a completed payment only what is seen already; the rest comes with a callback. */
function mayStillCome({ status, receivedAmount, creditedAmount }: Payment): boolean {
  if (status === 'completed') return isLess(creditedAmount, receivedAmount);
  return status === 'expired' || status === 'cancelled' || status === 'underpaid';
}
