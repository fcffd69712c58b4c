/**
 * Takes an operator's pending decision to the provider. Its answer is read like any other update:
 * what moves is decided by the provider's facts (decision P7). Each call is idempotent there, so
 * it is repeated until the answer is clear.
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

/** Asks the provider how the payment stands, after it was told what an operator decided. */
export async function askProvider(
  db: Db,
  provider: Provider,
  payment: Payment,
): Promise<CheckoutResult> {
  const decision = await findLastDecision(db, payment.id);
  const told =
    decision?.state !== 'pending'
      ? null
      : decision.kind === 'refund'
        ? await tellRefund(db, provider, payment, decision)
        : await tellDecision(db, provider, payment, decision);
  // What it knows is worth reading also when it did not understand or refused what it was told.
  return told?.kind === 'found' ? told : provider.findCheckout(payment.id);
}

async function tellDecision(
  db: Db,
  provider: Provider,
  payment: Payment,
  { id, kind }: StoredDecision,
): Promise<CheckoutResult | null> {
  const end = (refusal: string | null) => endDecision(db, payment.id, id, refusal);
  if (!DECIDABLE[kind].includes(payment.status)) {
    // Marked when the step was taken: the provider had done it, and only its answer was lost.
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

/** It ends as accepted when the provider's facts show it, and as refused only when they do not. */
async function tellRefund(
  db: Db,
  provider: Provider,
  payment: Payment,
  { number }: StoredDecision,
): Promise<CheckoutResult> {
  const reference = refundReference(payment.id, number);
  const ordered = await findOrdered(db, payment.id, reference);
  if (ordered === undefined) throw new Error(`the refund ${reference} was not taken`);
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
