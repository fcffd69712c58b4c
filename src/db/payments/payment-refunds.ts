/** Refunds of payments: asked for by a merchant or an operator, or found at the provider. */
import type { Destination } from '../../domain/destination';
import type { Owner } from '../../domain/mode';
import type { PaymentRefund } from '../../domain/payment-step';
import { type Refund, type RefundFilters, refundStates } from '../../domain/refund';
import { type ListPage, type ListQuery, conditions, exactTime, oneOf, pageOf } from '../lists';
import { approvedByAnother } from '../approvals/second-person';
import type { Reader, Tx } from '../transaction';

const COLUMNS = `id, payment_id, account_id, mode, currency, reference, provider_refund_id, amount, taken,
  fee, state, requested_by, operator, api_key_id, merchant_reference, reason, destination, refusal,
  second_person, second_person_until, awaits_person, address_until, payout_id, sequence, created_at,
  updated_at, ended_at`;

export async function listRefunds(db: Reader, paymentId: string): Promise<Refund[]> {
  const sql = `SELECT ${COLUMNS} FROM payment_refunds WHERE payment_id = ? ORDER BY created_at, id`;
  return db.query<Refund>(sql, [paymentId]);
}

export async function findRefund(db: Reader, id: string): Promise<Refund | null> {
  const sql = `SELECT ${COLUMNS} FROM payment_refunds WHERE id = ?`;
  const [found] = await db.query<Refund>(sql, [id]);
  return found ?? null;
}

/** The refund that the merchant gave this reference, if any. */
export async function findRefundByReference(
  db: Reader,
  key: Owner & { reference: string },
): Promise<string | null> {
  const [found] = await db.query<{ id: string }>(
    'SELECT id FROM payment_refunds WHERE account_id = ? AND mode = ? AND merchant_reference = ?',
    [key.accountId, key.mode, key.reference],
  );
  return found?.id ?? null;
}

/** A refund to insert: who asked for it, and for what. */
export type NewRefund = PaymentRefund &
  Pick<Refund, 'id' | 'requestedBy'> &
  Partial<
    Pick<
      Refund,
      | 'operator'
      | 'apiKeyId'
      | 'merchantReference'
      | 'reason'
      | 'destination'
      | 'secondPerson'
      | 'secondPersonUntil'
      | 'addressUntil'
    >
  >;

/**
 * The caller holds the payment's lock, for this and the following functions.
 * @returns null, and nothing is written, when the merchant's reference is already used
 */
export async function insertRefund(
  tx: Tx,
  paymentId: string,
  refund: NewRefund,
): Promise<Refund | null> {
  const { state, destination = null, secondPerson = null } = refund;
  const [inserted] = await tx.query<Refund>(
    `INSERT INTO payment_refunds
       (id, payment_id, reference, provider_refund_id, amount, taken, fee, state, requested_by, operator,
        api_key_id, merchant_reference, reason, destination, second_person, second_person_until,
        awaits_person, address_until, ended_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, ?, ?, ?,
             CASE WHEN ? = 'ordered' THEN NULL ELSE clock_timestamp() END)
     ON CONFLICT (account_id, mode, merchant_reference) DO NOTHING
     RETURNING ${COLUMNS}`,
    [
      refund.id,
      paymentId,
      refund.reference,
      refund.providerRefundId,
      refund.amount,
      refund.taken,
      refund.fee,
      state,
      refund.requestedBy,
      refund.operator ?? null,
      refund.apiKeyId ?? null,
      refund.merchantReference ?? null,
      refund.reason ?? null,
      destination === null ? null : JSON.stringify(destination),
      secondPerson,
      refund.secondPersonUntil ?? null,
      secondPerson !== null,
      refund.addressUntil ?? null,
      state,
    ],
  );
  return inserted ?? null;
}

/** Each status change of a refund that was ordered counts in its sequence. */
export async function changeRefund(
  tx: Tx,
  { id, providerRefundId, taken, fee, state, refusal }: Refund,
): Promise<Refund> {
  const [changed] = await tx.query<Refund>(
    `UPDATE payment_refunds
        SET provider_refund_id = ?, taken = ?, fee = ?, state = ?, refusal = ?,
            awaits_person = awaits_person AND ? = 'ordered',
            sequence = sequence + (state = 'ordered' AND ? <> 'ordered')::integer,
            updated_at = clock_timestamp(), ended_at = coalesce(ended_at, clock_timestamp())
      WHERE id = ? RETURNING ${COLUMNS}`,
    [providerRefundId, taken, fee, state, refusal, state, state, id],
  );
  if (changed === undefined) throw new Error(`refund ${id} does not exist`);
  return changed;
}

/** Lets the provider be asked for a refund that a second person has approved in time. @returns whether it did */
export async function releaseRefund(tx: Tx, id: string): Promise<boolean> {
  const approved = approvedByAnother({
    id: 'id',
    version: "''",
    account: 'account_id',
    maker: 'second_person',
  });
  const released = await tx.query(
    `UPDATE payment_refunds SET awaits_person = false, updated_at = clock_timestamp()
      WHERE id = ? AND awaits_person AND second_person_until > clock_timestamp() AND ${approved}
      RETURNING id`,
    [id],
  );
  return released.length > 0;
}

/** Hands the refund over to a payout, which counts in its place from here on. */
export async function handToPayout(
  tx: Tx,
  id: string,
  payoutId: string,
  destination: Destination,
): Promise<void> {
  const handed = await tx.query(
    `UPDATE payment_refunds SET payout_id = ?, destination = ?::jsonb, updated_at = clock_timestamp()
      WHERE id = ? AND state = 'ordered' AND payout_id IS NULL AND address_until > clock_timestamp()
      RETURNING id`,
    [payoutId, JSON.stringify(destination), id],
  );
  if (handed.length !== 1) throw new Error(`the refund ${id} waits for no address`);
}

/** The refund that the payout carries out, if any. */
export async function findRefundOfPayout(tx: Tx, payoutId: string): Promise<Refund | null> {
  const sql = `SELECT ${COLUMNS} FROM payment_refunds WHERE payout_id = ?`;
  const [found] = await tx.query<Refund>(sql, [payoutId]);
  return found ?? null;
}

/** Newest first. */
export async function listMerchantRefunds(
  db: Reader,
  { accountId, mode, limit, after, filters }: ListQuery<RefundFilters>,
): Promise<ListPage<Refund>> {
  const { paymentId, status, reference, currency, createdFrom, createdTo } = filters;
  const { sql, bindings } = conditions([
    ['(created_at, id) < (?::timestamptz, ?)', after?.createdAt, after?.id],
    ['payment_id = ?', paymentId],
    oneOf('state', status && refundStates(status)),
    ['merchant_reference = ?', reference],
    ['currency = ?', currency],
    ['created_at >= ?', createdFrom],
    ['created_at <= ?', createdTo],
  ]);
  const found = await db.query<Refund & { position: string }>(
    `SELECT ${COLUMNS}, ${exactTime('created_at')} AS position FROM payment_refunds
      WHERE account_id = ? AND mode = ? ${sql} ORDER BY created_at DESC, id DESC LIMIT ?`,
    [accountId, mode, ...bindings, limit + 1],
  );
  return pageOf(found, limit);
}
