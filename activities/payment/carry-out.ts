/**
 * Carries out an operator's pending decision at the provider. The answer is recorded like any other
 * update: only the provider's facts move money (decisions/provider-facts). Each call is idempotent at the
 * provider and is repeated until the answer is clear.
 */
import {
  endDecision,
  findLastDecision,
  type StoredDecision,
} from '../../src/db/repositories/payment-decisions';
import { listRefunds } from '../../src/db/repositories/payment-refunds';
import { lockPayment } from '../../src/db/repositories/payments';
import { inTransaction, type Db, type Tx } from '../../src/db/transaction';
import { DECIDABLE, type Payment } from '../../src/domain/payment';
import type { CheckoutResult, Provider } from '../../src/providers/port';
import { giveBackRefund, refundReference } from './refunds';

const TOO_LATE = 'The payment had already changed its status.';
const NOT_CANCELLED = 'The provider did not cancel: funds are on their way.';

/** Carries out a pending decision, then asks the provider for the checkout. */
export async function askProvider(
  db: Db,
  provider: Provider,
  payment: Payment,
): Promise<CheckoutResult> {
  const decision = await findLastDecision(db, payment.id);
  const result =
    decision?.state !== 'pending'
      ? null
      : decision.kind === 'refund'
        ? await orderRefund(db, provider, payment, decision)
        : await carryOut(db, provider, payment, decision);
  // After a refusal or an unclear answer, the provider's facts are still needed.
  const isEnough = result?.kind === 'found' || result?.kind === 'limited';
  return isEnough ? result : provider.findCheckout(payment.id);
}

async function carryOut(
  db: Db,
  provider: Provider,
  payment: Payment,
  { id, kind }: StoredDecision,
): Promise<CheckoutResult | null> {
  const end = (refusal: string | null) => endDecision(db, payment.id, id, refusal);
  if (!DECIDABLE[kind].includes(payment.status)) {
    // `manual` means that the decision was carried out and only the provider's answer was lost.
    await end(payment.exceptions.includes('manual') ? null : TOO_LATE);
    return null;
  }
  const result =
    kind === 'release' || kind === 'reject'
      ? await provider.releaseHold(payment.id, kind)
      : await provider.cancelCheckout(payment.id);
  if (result.kind === 'refused') await end(result.reason);
  if (result.kind === 'found') {
    const isDone = kind !== 'cancel' || result.checkout.state === 'cancelled';
    await end(isDone ? null : NOT_CANCELLED);
  }
  return result;
}

/**
 * The decision is accepted once the provider's facts show the refund, and refused only if they do
 * not.
 */
async function orderRefund(
  db: Db,
  provider: Provider,
  payment: Payment,
  { number }: StoredDecision,
): Promise<CheckoutResult> {
  const reference = refundReference(payment.id, number);
  const ordered = await findOrdered(db, payment.id, reference);
  if (ordered === undefined) throw new Error(`the refund ${reference} was not deducted`);
  const result = await provider.refundCheckout(payment.id, reference, ordered.amount);
  if (result.kind !== 'refused') return result;
  const found = await provider.findCheckout(payment.id);
  const isMade =
    found.kind !== 'found' || found.checkout.refunds.some((one) => one.reference === reference);
  if (!isMade) {
    await inTransaction(db, async (tx) => {
      const locked = await lockPayment(tx, payment.id);
      const still = await findOrdered(tx, payment.id, reference);
      if (still !== undefined) await giveBackRefund(tx, locked, still, result.reason);
    });
  }
  return found;
}

async function findOrdered(db: Db | Tx, paymentId: string, reference: string) {
  const refunds = await listRefunds(db, paymentId);
  return refunds.find((one) => one.reference === reference && one.state === 'ordered');
}
