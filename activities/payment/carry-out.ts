/**
 * Carries out the pending decision and the ordered refunds at the provider. The answer is recorded like any other
 * update: only the provider's facts move money (decisions/payments#provider-facts). Each call is idempotent at the
 * provider and is repeated until the answer is clear.
 */
import {
  endDecision,
  findLastDecision,
  type StoredDecision,
} from '../../src/db/payments/payment-decisions';
import { listRefunds } from '../../src/db/payments/payment-refunds';
import { lockPayment } from '../../src/db/payments/payments';
import { findPause } from '../../src/db/accounts/payout-pauses';
import type { Db } from '../../src/db/transaction';
import { ZERO } from '../../src/domain/money';
import { DECIDABLE, type Payment } from '../../src/domain/payment';
import { awaitsAddress, type Refund } from '../../src/domain/refund';
import type { CheckoutResult, Provider } from '../../src/adapters/providers/port';
import { type Deps, inEventTransaction } from '../deps';
import { giveBackRefund } from './refunds';
import { payRefund } from './pay-refund';
import { endWaits } from './waiting-refunds';

type CarryOutDeps = Pick<Deps, 'db' | 'webhookDeliveryStarter' | 'payoutWorkflows'>;

const TOO_LATE = 'The payment had already changed its status.';
const NOT_CANCELLED = 'The provider did not cancel: funds are on their way.';

/** Carries out what was decided and ordered, then asks the provider for the checkout. */
export async function askProvider(
  deps: CarryOutDeps,
  provider: Provider,
  payment: Payment,
): Promise<CheckoutResult> {
  const decision = await findLastDecision(deps.db, payment.id);
  const result =
    decision?.state === 'pending' && decision.kind !== 'refund'
      ? await carryOut(deps.db, provider, payment, decision)
      : await orderRefunds(deps, provider, payment);
  // After a refusal or an unclear answer, the provider's facts are still needed.
  const isEnough = result?.kind === 'found' || result?.kind === 'limited';
  return isEnough ? result : provider.findCheckout(payment.id, payment.network);
}

async function carryOut(
  db: Db,
  provider: Provider,
  payment: Payment,
  { id, kind }: StoredDecision,
): Promise<CheckoutResult | null> {
  const end = (refusal: string | null) => endDecision(db, payment.id, id, refusal);
  if (!DECIDABLE[kind].includes(payment.status)) {
    // `manual` means that the decision was carried out and only the provider's answer was lost. A merchant
    // can only cancel, which leaves no such mark.
    const isDone = payment.exceptions.includes('manual') || payment.status === 'cancelled';
    await end(isDone ? null : TOO_LATE);
    return null;
  }
  const result =
    kind === 'release' || kind === 'reject'
      ? await provider.releaseHold(payment.id, kind, payment.network)
      : await provider.cancelCheckout(payment.id, payment.network);
  if (result.kind === 'refused') await end(result.reason);
  if (result.kind === 'found') {
    const isDone = kind !== 'cancel' || result.checkout.state === 'cancelled';
    await end(isDone ? null : NOT_CANCELLED);
  }
  return result;
}

/**
 * Orders each refund that was deducted and has no clear answer. Each is idempotent by its reference.
 * @returns the provider's last answer; null when nothing is ordered
 */
async function orderRefunds(
  deps: CarryOutDeps,
  provider: Provider,
  payment: Payment,
): Promise<CheckoutResult | null> {
  // An ordered refund has reversed a part of the credits.
  if (payment.reversedAmount === ZERO) return null;
  await endWaits(deps, payment.id);
  const refunds = await listRefunds(deps.db, payment.id);
  const named = refunds.filter((one) => awaitsAddress(one) && one.destination !== null);
  // What its rules refuse now is tried again with the next check, until its time is over.
  for (const { id } of named) await payRefund(deps, payment.id, id);
  const due = refunds.filter(
    ({ state, awaitsPerson, addressUntil }) =>
      state === 'ordered' && !awaitsPerson && addressUntil === null,
  );
  if (due.length === 0 || (await findPause(deps.db, payment)) !== null) return null;
  let last: CheckoutResult | null = null;
  for (const refund of due) {
    last = await orderRefund(deps, provider, payment, refund);
    if (last.kind !== 'found') return last;
  }
  return last;
}

/** The refund is done once the provider's facts show it, and refused only if they do not. */
async function orderRefund(
  deps: CarryOutDeps,
  provider: Provider,
  payment: Payment,
  { reference, amount }: Refund,
): Promise<CheckoutResult> {
  const result = await provider.refundCheckout(payment.id, reference, amount, payment.network);
  if (result.kind !== 'refused') return result;
  const found = await provider.findCheckout(payment.id, payment.network);
  const isMade =
    found.kind !== 'found' || found.checkout.refunds.some((one) => one.reference === reference);
  if (!isMade) {
    await inEventTransaction(deps, payment.id, async (tx) => {
      const locked = await lockPayment(tx, payment.id);
      const refunds = await listRefunds(tx, payment.id);
      const still = refunds.find((one) => one.reference === reference && one.state === 'ordered');
      if (still !== undefined) await giveBackRefund(tx, locked, still, result.reason);
    });
  }
  return found;
}
