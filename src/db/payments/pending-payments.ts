/**
 * The payments that make the `pending` of a balance: their money was seen and is not credited
 * (decisions/money#pending-balance).
 */
import type { Amount } from '../../domain/money';
import type { Owner } from '../../domain/mode';
import { CREDITED_LATER_STATUSES, type Payment, SEEN_PAYMENT_STATUSES } from '../../domain/payment';
import { LATE_WINDOW_MS } from '../../domain/payment-step';
import { sqlList, type Reader } from '../transaction';

const IS_SEEN = `status IN (${sqlList(SEEN_PAYMENT_STATUSES)})`;

/** SQL over a row of payments; the index payments_uncredited has these rows. */
export const IS_PENDING = `(${IS_SEEN} OR (status IN (${sqlList(CREDITED_LATER_STATUSES)})
  AND unconfirmed_amount > 0 AND expires_at > now() - interval '${LATE_WINDOW_MS / 1_000} seconds'))`;

/**
 * SQL: the amount that such a payment adds to `pending`. What an ended payment has received is
 * credited, or never will be.
 */
export const PENDING_AMOUNT = `(unconfirmed_amount
  + CASE WHEN ${IS_SEEN} THEN received_amount ELSE 0 END)`;

export interface PendingPayment extends Payment {
  pending: Amount;
}

/** The newest pending payments. */
export async function listPendingPayments(
  db: Reader,
  { accountId, mode }: Owner,
  currency: string,
  limit: number,
): Promise<PendingPayment[]> {
  return db.query<PendingPayment>(
    `SELECT *, ${PENDING_AMOUNT} AS pending FROM payments
      WHERE account_id = ? AND mode = ? AND currency = ? AND ${IS_PENDING}
      ORDER BY created_at DESC, id DESC LIMIT ?`,
    [accountId, mode, currency, limit],
  );
}
