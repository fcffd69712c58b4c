/** Asks the provider how a payment stands, and brings its answer in. Every news comes this way. */
import { openCase, resolveCreditedMoney } from '../../src/db/repositories/cases';
import { creditedTransfers, findPayment } from '../../src/db/repositories/payments';
import type { Db } from '../../src/db/transaction';
import type { Payment } from '../../src/domain/payment';
import { isOpenPayment } from '../../src/domain/payment';
import { type CheckoutFacts, isSentBack } from '../../src/domain/payment-step';
import type { Checkout } from '../../src/providers/port';
import type { PaymentState } from '../../workflows/messages';
import { providerOf, type PayoutDeps } from '../payout/deps';
import { askProvider } from './carry-out';
import { recordCheckout } from './record';
import { reportPayment } from './report';

const SETTLING_MS = 60_000;

const NOTHING_CAME: CheckoutFacts = {
  state: 'open',
  onHold: false,
  transfers: [],
  refunds: [],
  failureReason: null,
};

export async function checkPayment(deps: PayoutDeps, paymentId: string): Promise<PaymentState> {
  const payment = await findPayment(deps.db, paymentId);
  if (payment === null) throw new Error(`payment ${paymentId} does not exist`);
  const askedAt = new Date();
  const found = await askProvider(deps.db, providerOf(deps, payment), payment);
  if (found.kind === 'not_found' && isSettledIn(payment, askedAt)) {
    return withoutCheckout(deps.db, payment, askedAt);
  }
  if (found.kind !== 'found') {
    return reportPayment(deps.db, payment, 'waits for the provider to answer', {
      askedAt,
      answered: false,
    });
  }
  const { checkout } = found;
  if (checkout.amount !== payment.amount || checkout.currency !== payment.currency) {
    const { amount, currency, providerId: id } = checkout;
    await openCase(deps.db, 'checkout_mismatch', paymentId, { amount, currency, id });
    const why = 'waits for an operator: the provider has another amount or currency';
    return reportPayment(deps.db, payment, why, { askedAt, isMismatch: true });
  }
  const after = await recordCheckout(deps.db, paymentId, checkout, askedAt);
  await noteUncredited(deps.db, after, checkout);
  return reportPayment(deps.db, after, 'waits for the customer', {
    askedAt,
    isHeld: checkout.onHold,
  });
}

/** A provider may need a moment until its reads know what it has just opened. */
function isSettledIn({ createdAt }: Payment, askedAt: Date): boolean {
  return askedAt.getTime() - createdAt.getTime() > SETTLING_MS;
}

/**
 * The provider opened the checkout and does not know it any more: an operator has to ask why. One
 * for which no money was seen expires at its time all the same.
 */
async function withoutCheckout(db: Db, payment: Payment, askedAt: Date): Promise<PaymentState> {
  const { id, status, providerCheckoutId } = payment;
  await openCase(db, 'checkout_missing', id, { status, checkout: providerCheckoutId });
  const isUnpaid = status === 'created' || status === 'pending';
  const after = isUnpaid ? await recordCheckout(db, id, NOTHING_CAME, askedAt) : payment;
  const why = 'waits for an operator: the provider does not know its checkout';
  return reportPayment(db, after, why, { askedAt, isMismatch: true });
}

/**
 * Money for a payment that has ended and cannot take it, or that the provider holds: an operator
 * decides whose it is, or settles it with the provider.
 */
async function noteUncredited(db: Db, payment: Payment, checkout: Checkout): Promise<void> {
  if (isOpenPayment(payment.status)) return;
  await resolveCreditedMoney(db, payment.id);
  if (isSentBack(checkout)) return;
  const credited = await creditedTransfers(db, payment.id);
  const lost = checkout.transfers.filter(
    ({ id, status }) => status === 'confirmed' && !credited.has(id),
  );
  if (lost.length === 0) return;
  const transfers = lost.map(({ id, amount }) => ({ id, amount }));
  const kind = checkout.onHold ? 'late_money_held' : 'money_not_credited';
  await openCase(db, kind, payment.id, { status: payment.status, transfers });
}
