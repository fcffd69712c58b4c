/** Refunds of payments: asked for by a merchant or an operator, or found at the provider. */
import type { Destination } from '../../domain/destination';
import type { Owner } from '../../domain/mode';
import type { PaymentRefund } from '../../domain/payment-step';
import { type Refund, type RefundFilters, refundStates } from '../../domain/refund';
import {
  createdWithin,
  type ListPage,
  type ListQuery,
  newestFirst,
  ownedBy,
  oneOf,
} from '../lists';
import { findRow, insertNewRow, now, rowsOf } from '../models';
import { approvedByAnother } from '../approvals/second-person';
import type { Reader, Tx } from '../transaction';

const Refunds = rowsOf<Refund>('payment_refunds', {
  read: `id, payment_id, account_id, mode, currency, reference, provider_refund_id, amount, taken,
  fee, state, requested_by, operator, api_key_id, merchant_reference, reason, destination, refusal,
  second_person, second_person_until, awaits_person, address_until, payout_id, sequence, created_at,
  updated_at, ended_at`,
  json: ['destination'],
  writes: `id, payment_id, reference, provider_refund_id, amount, taken, fee, state, requested_by,
    operator, api_key_id, merchant_reference, reason, destination, second_person, second_person_until,
    awaits_person, address_until, ended_at`,
});

export async function listRefunds(db: Reader, paymentId: string): Promise<Refund[]> {
  const sql = `SELECT ${Refunds.read} FROM payment_refunds WHERE payment_id = ? ORDER BY created_at, id`;
  return db.query<Refund>(sql, [paymentId]);
}

export function findRefund(db: Reader, id: string): Promise<Refund | null> {
  return findRow(db, Refunds, { id });
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
export function insertRefund(tx: Tx, paymentId: string, refund: NewRefund): Promise<Refund | null> {
  return insertNewRow(tx, Refunds, ['account_id', 'mode', 'merchant_reference'], {
    ...refund,
    paymentId,
    awaitsPerson: (refund.secondPerson ?? null) !== null,
    endedAt: refund.state === 'ordered' ? null : now,
  });
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
      WHERE id = ? RETURNING ${Refunds.read}`,
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
  const sql = `SELECT ${Refunds.read} FROM payment_refunds WHERE payout_id = ?`;
  const [found] = await tx.query<Refund>(sql, [payoutId]);
  return found ?? null;
}

/** Newest first. */
export function listMerchantRefunds(
  db: Reader,
  query: ListQuery<RefundFilters>,
): Promise<ListPage<Refund>> {
  const { filters } = query;
  const { paymentId, status, reference, currency } = filters;
  return newestFirst(db, Refunds, query, [
    ownedBy(query),
    ['payment_id = ?', paymentId],
    oneOf('state', status && refundStates(status)),
    ['merchant_reference = ?', reference],
    ['currency = ?', currency],
    ...createdWithin(filters),
  ]);
}
