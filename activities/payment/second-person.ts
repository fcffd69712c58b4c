/**
 * Refunds that wait for a second person of the merchant (decisions/second-person). The payment's lock puts
 * the approval, the withdrawal, the end of the time and the provider's own refund in one order; whichever
 * is first ends the wait. Each is safe to run twice.
 */
import { databaseTime } from '../../src/db/database-time';
import { listRefunds, releaseRefund } from '../../src/db/repositories/payment-refunds';
import { lockPayment } from '../../src/db/repositories/payments';
import type { Reader } from '../../src/db/transaction';
import type { Refund } from '../../src/domain/refund';
import { type Deps, inEventTransaction } from '../deps';
import { giveBackRefund } from './refunds';

const NOT_APPROVED_IN_TIME = 'No second person approved the refund in time.';
const WITHDRAWN = 'The refund was withdrawn before a second person approved it.';

type SecondPersonDeps = Pick<Deps, 'db' | 'webhookDeliveryStarter'>;

/** Releases what was approved, and returns the money of what was not approved in time. */
export async function releaseApprovedRefunds(
  deps: SecondPersonDeps,
  paymentId: string,
): Promise<void> {
  for (const { id } of await waitingRefunds(deps.db, paymentId)) {
    await inEventTransaction(deps, paymentId, async (tx, deliveries) => {
      const payment = await lockPayment(tx, paymentId);
      const refund = (await waitingRefunds(tx, paymentId)).find((one) => one.id === id);
      if (refund === undefined || (await releaseRefund(tx, id))) return;
      const isLate = (refund.secondPersonUntil ?? refund.createdAt) <= (await databaseTime(tx));
      if (isLate) await giveBackRefund(tx, payment, refund, NOT_APPROVED_IN_TIME, deliveries);
    });
  }
}

/** @returns whether it was withdrawn now; false: it does not wait any more */
export async function withdrawRefund(
  deps: SecondPersonDeps,
  paymentId: string,
  refundId: string,
): Promise<boolean> {
  return inEventTransaction(deps, paymentId, async (tx, deliveries) => {
    const payment = await lockPayment(tx, paymentId);
    const refund = (await waitingRefunds(tx, paymentId)).find(({ id }) => id === refundId);
    if (refund === undefined) return false;
    await giveBackRefund(tx, payment, refund, WITHDRAWN, deliveries);
    return true;
  });
}

async function waitingRefunds(db: Reader, paymentId: string): Promise<Refund[]> {
  const refunds = await listRefunds(db, paymentId);
  return refunds.filter(({ state, awaitsPerson }) => state === 'ordered' && awaitsPerson);
}
