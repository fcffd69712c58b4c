/**
 * Refunds that wait for two-person approval of the merchant (decisions/controls#second-person), or for an address
 * (decisions/payments#refunds-to-address). The payment's lock puts the approval or the address, the withdrawal, the end of
 * the time and the provider's own refund in one order; whichever is first ends the wait. Each is safe to run twice.
 */
import { databaseTime } from '../../src/db/database-time';
import { listRefunds, releaseRefund } from '../../src/db/payments/payment-refunds';
import { lockPayment } from '../../src/db/payments/payments';
import type { Reader } from '../../src/db/transaction';
import { isWaiting, type Refund } from '../../src/domain/refund';
import { type Deps, inEventTransaction } from '../deps';
import { giveBackRefund } from './refunds';

const NOT_APPROVED_IN_TIME = 'No second person approved the refund in time.';
const NO_ADDRESS_IN_TIME = 'No address was named in time.';
const WITHDRAWN = 'The refund was taken back before anything was sent.';

type WaitDeps = Pick<Deps, 'db' | 'webhookDeliveryStarter'>;

/** Releases what was approved, and returns the money of what has waited too long. */
export async function endWaits(deps: WaitDeps, paymentId: string): Promise<void> {
  for (const { id } of await waitingRefunds(deps.db, paymentId)) {
    await inEventTransaction(deps, paymentId, async (tx) => {
      const payment = await lockPayment(tx, paymentId);
      const refund = (await waitingRefunds(tx, paymentId)).find((one) => one.id === id);
      if (refund === undefined || (await releaseRefund(tx, id))) return;
      const until = refund.awaitsPerson ? refund.secondPersonUntil : refund.addressUntil;
      if ((until ?? refund.createdAt) > (await databaseTime(tx))) return;
      const why = refund.awaitsPerson ? NOT_APPROVED_IN_TIME : NO_ADDRESS_IN_TIME;
      await giveBackRefund(tx, payment, refund, why);
    });
  }
}

/** @returns whether it was withdrawn now; false: it does not wait any more */
export async function withdrawRefund(
  deps: WaitDeps,
  paymentId: string,
  refundId: string,
): Promise<boolean> {
  return inEventTransaction(deps, paymentId, async (tx) => {
    const payment = await lockPayment(tx, paymentId);
    const refund = (await waitingRefunds(tx, paymentId)).find(({ id }) => id === refundId);
    if (refund === undefined) return false;
    await giveBackRefund(tx, payment, refund, WITHDRAWN);
    return true;
  });
}

async function waitingRefunds(db: Reader, paymentId: string): Promise<Refund[]> {
  const refunds = await listRefunds(db, paymentId);
  return refunds.filter(isWaiting);
}
