/** Refunds of payments, ordered by an operator or found at the provider. */
import type { PaymentRefund } from '../../domain/payment-step';
import { rows, type Db, type Tx } from '../transaction';

const COLUMNS = `reference, provider_refund_id, amount, taken, fee, state`;

export async function listRefunds(db: Db | Tx, paymentId: string): Promise<PaymentRefund[]> {
  const sql = `SELECT ${COLUMNS} FROM payment_refunds WHERE payment_id = ? ORDER BY created_at`;
  return rows<PaymentRefund>(db, sql, [paymentId]);
}

/** The caller holds the payment's lock, for this and the following functions. */
export async function insertRefund(
  tx: Tx,
  paymentId: string,
  refund: PaymentRefund,
): Promise<void> {
  await rows(
    tx,
    `INSERT INTO payment_refunds
       (payment_id, reference, provider_refund_id, amount, taken, fee, state)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [
      paymentId,
      refund.reference,
      refund.providerRefundId,
      refund.amount,
      refund.taken,
      refund.fee,
      refund.state,
    ],
  );
}

export async function changeRefund(
  tx: Tx,
  paymentId: string,
  { reference, providerRefundId, taken, fee, state }: PaymentRefund,
): Promise<void> {
  await rows(
    tx,
    `UPDATE payment_refunds SET provider_refund_id = ?, taken = ?, fee = ?, state = ?
      WHERE payment_id = ? AND reference = ?`,
    [providerRefundId, taken, fee, state, paymentId, reference],
  );
}
