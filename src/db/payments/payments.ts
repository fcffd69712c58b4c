/** Payments: reads, and the writes that are guarded by the transition table. */
import type { Amount } from '../../domain/money';
import {
  nextPaymentStatus,
  type Payment,
  type PaymentTrigger,
  paymentStatusesBefore,
} from '../../domain/payment';
import { Payments } from '../models';
import type { EventTx } from '../webhooks/events';
import { type FirstEvent, insertClaimed } from '../insert-claimed';
import { WAITING_PAYOUTS } from '../payouts/payout-conditions';
import { assignments, sqlList, type Db, type Reader, type Tx } from '../transaction';

/** The fields that a step can write besides the status. */
export type PaymentChange = Partial<
  Pick<
    Payment,
    | 'receivedAmount'
    | 'unconfirmedAmount'
    | 'creditedAmount'
    | 'serviceFee'
    | 'refundedAmount'
    | 'reversedAmount'
    | 'reversedFee'
    | 'exceptions'
    | 'txHash'
    | 'failureReason'
    | 'completedAt'
  > & {
    /** The list of transfers as JSON text. */
    transfers: string;
  }
>;

export async function findPayment(db: Reader, id: string): Promise<Payment | null> {
  const [found] = await db.prepared<Payment>('SELECT * FROM payments WHERE id = ?', [id]);
  return found ?? null;
}

/** Locks the payment's row, so that steps of one payment run one after another. */
export async function lockPayment(tx: Tx, id: string): Promise<Payment> {
  const sql = 'SELECT * FROM payments WHERE id = ? FOR UPDATE';
  const [found] = await tx.prepared<Payment>(sql, [id]);
  if (found === undefined) throw new Error(`payment ${id} does not exist`);
  return found;
}

/** @returns false, and nothing is written, when the reference is already used */
export function insertPayment(
  tx: EventTx,
  payment: Payment,
  event: FirstEvent,
  response: { status: number; body: Buffer },
): Promise<boolean> {
  return insertClaimed(tx, Payments, payment, event, response);
}

/** A payment after a step, with the payouts that wait for it to be completed. */
export type SteppedPayment = Payment & { waitingPayouts?: string[] | null };

/** Applies a transition of the transition table; the caller holds the row's lock. */
export async function takePaymentStep(
  tx: Tx,
  payment: Payment,
  trigger: PaymentTrigger,
  change: PaymentChange,
): Promise<SteppedPayment> {
  const status = nextPaymentStatus(payment.status, trigger);
  if (status === undefined)
    throw new Error(`status ${payment.status} has no transition ${trigger}`);
  const fields = { ...change, status };
  const waiting = status === 'completed' ? `, ${WAITING_PAYOUTS}` : '';
  const [row] = await tx.prepared<SteppedPayment>(
    `UPDATE payments SET ${assignments(fields)}, updated_at = clock_timestamp(), sequence = sequence + 1
      WHERE id = ? AND status IN (${sqlList(paymentStatusesBefore(trigger))})
     RETURNING * ${waiting}`,
    [...Object.values(fields), payment.id],
  );
  if (row === undefined)
    throw new Error(`payment ${payment.id} changed from ${payment.status} despite the lock`);
  return row;
}

/** Writes fields without a status change; the caller holds the row's lock. */
export async function changePayment(tx: Tx, id: string, change: PaymentChange): Promise<Payment> {
  const [row] = await tx.prepared<Payment>(
    `UPDATE payments SET ${assignments(change)} WHERE id = ? RETURNING *`,
    [...Object.values(change), id],
  );
  if (row === undefined) throw new Error(`payment ${id} does not exist`);
  return row;
}

/** The ids of the provider's transfers that were credited to the payment. */
export async function creditedTransfers(db: Db | Tx, paymentId: string): Promise<Set<string>> {
  const found = await db.prepared<{ id: string }>(
    'SELECT provider_transfer_id AS id FROM payment_credits WHERE payment_id = ?',
    [paymentId],
  );
  return new Set(found.map(({ id }) => id));
}

/** Notes a credited transfer. A transfer is credited once, by its id. */
export function insertCredit(
  tx: Tx,
  credit: {
    paymentId: string;
    transferId: string;
    amount: Amount;
    fee: Amount;
    txHash: string | null;
  },
): void {
  tx.sendWithNext(
    `INSERT INTO payment_credits (payment_id, provider_transfer_id, amount, fee, tx_hash)
     VALUES (?, ?, ?, ?, ?)`,
    [credit.paymentId, credit.transferId, credit.amount, credit.fee, credit.txHash],
  );
}

/** A transfer of the provider that was credited. */
export interface CreditedTransfer {
  providerTransferId: string;
  amount: Amount;
  fee: Amount;
  /** Null within an exchange, and for transfers that were credited before hashes were kept. */
  txHash: string | null;
  creditedAt: Date;
}

/** The limit is far above what a payment has. */
const CREDITS_MAX = 100;

/** In the order in which they were credited. */
export function listCredits(db: Reader, paymentId: string): Promise<CreditedTransfer[]> {
  return db.query<CreditedTransfer>(
    `SELECT provider_transfer_id, amount, fee, tx_hash, credited_at FROM payment_credits
      WHERE payment_id = ? ORDER BY credited_at, provider_transfer_id LIMIT ${CREDITS_MAX}`,
    [paymentId],
  );
}

/** The payment with this reference, if any. */
export async function findPaymentByReference(
  db: Db | Tx,
  key: { accountId: string; mode: string; reference: string },
): Promise<string | null> {
  const [found] = await db.prepared<{ id: string }>(
    'SELECT id FROM payments WHERE account_id = ? AND mode = ? AND reference = ?',
    [key.accountId, key.mode, key.reference],
  );
  return found?.id ?? null;
}

/** Questions to a payment's provider that a merchant causes. Each kind is counted for itself. */
export type Asked = 'requests' | 'cancellations';

/** Counts one more question, and returns the number in the present minute. */
export async function countAsked(
  db: Db,
  paymentId: string,
  what: Asked,
): Promise<{ count: number; secondsLeft: number }> {
  const [row] = await db.query<{ count: number; secondsLeft: number }>(
    `INSERT INTO payment_verifications AS v (payment_id, minute, ${what})
     VALUES (?, date_trunc('minute', now()), 1)
     ON CONFLICT (payment_id) DO UPDATE
        SET requests = excluded.requests + CASE WHEN v.minute = excluded.minute THEN v.requests ELSE 0 END,
            cancellations = excluded.cancellations
              + CASE WHEN v.minute = excluded.minute THEN v.cancellations ELSE 0 END,
            minute = excluded.minute
     RETURNING ${what} AS count,
       ceil(extract(epoch FROM minute + interval '1 minute' - now()))::int AS seconds_left`,
    [paymentId],
  );
  if (row === undefined) throw new Error('an upsert returns its row');
  return row;
}
