/**
 * Accounts, payouts and postings for the tests of the ledger: made the way the gateway makes
 * them, through `post`, as the application's role.
 */
import { type BalanceKey, post, type PostResult } from '../../../src/db/ledger/ledger';
import type { Db, Reader } from '../../../src/db/transaction';
import { totalDebit } from '../../../src/domain/fees';
import {
  adjustmentPosting,
  creditPosting,
  type PayoutMoney,
  type Posting,
  refundPosting,
  reservePosting,
  settlementPosting,
} from '../../../src/domain/ledger';
import type { Mode } from '../../../src/domain/mode';
import { add, amount } from '../../../src/domain/money';
import type { PaymentStatus } from '../../../src/domain/payment';
import type { PayoutStatus } from '../../../src/domain/payout';
import { newId } from '../../../src/platform/lib/new-id';
import { compose } from '../servers/database';

/** An account that nobody else uses, so that a test file can share one database. */
export async function makeAccount(db: Db): Promise<string> {
  const id = newId('account');
  await db.query('INSERT INTO accounts (id, name) VALUES (?, ?)', [id, `Merchant ${id}`]);
  return id;
}

export function buildPayoutMoney(total: string, fees: { service?: string; network?: string } = {}) {
  const id = newId('payout');
  const serviceFee = amount(fees.service ?? '0');
  const networkFee = amount(fees.network ?? '0');
  const payout: PayoutMoney = {
    id,
    reference: `order-${id.slice(-8)}`,
    amount: amount(total),
    serviceFee,
    networkFee,
    totalDebit: totalDebit(amount(total), serviceFee, networkFee),
  };
  return payout;
}

export async function insertPayout(
  db: Reader,
  { accountId, mode, currency }: BalanceKey,
  payout: PayoutMoney,
  status: PayoutStatus,
  columns: Record<string, unknown> = {},
): Promise<void> {
  await db.query(
    compose('payouts').insert({
      id: payout.id,
      account_id: accountId,
      mode,
      reference: payout.reference,
      status,
      provider: 'onchain_provider',
      amount: payout.amount,
      currency,
      network: 'ethereum',
      destination_type: 'crypto_address',
      destination_value: '0x0000000000000000000000000000000000000000',
      service_fee: payout.serviceFee,
      network_fee: payout.networkFee,
      total_debit: payout.totalDebit,
      fee_terms: {},
      api_key_id: `key_${payout.id}`,
      review_reasons: [],
      ...columns,
    }),
  );
  await insertEvent(db, { accountId, mode, currency }, payout.id, 'payout', status);
}

/** Inserts the payout and its posting in one transaction, as the gateway does. */
export function reservePayout(db: Db, key: BalanceKey, payout: PayoutMoney): Promise<void> {
  return db.transaction(async (tx) => {
    await insertPayout(tx, key, payout, 'processing');
    await post(tx, key, reservePosting(payout));
  });
}

export function completePayout(db: Db, key: BalanceKey, payout: PayoutMoney): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.query(
      compose('payouts').where({ id: payout.id }).update({ status: 'completed', sequence: 2 }),
    );
    await insertEvent(tx, key, payout.id, 'payout', 'completed', 2);
    await post(tx, key, settlementPosting(payout));
  });
}

async function insertEvent(
  db: Reader,
  { accountId, mode }: BalanceKey,
  objectId: string,
  object: 'payout' | 'payment',
  status: string,
  sequence = 1,
): Promise<void> {
  await db.query(
    compose('events').insert({
      id: newId('event'),
      account_id: accountId,
      mode,
      type: `${object}.${status}`,
      object_id: objectId,
      sequence,
      body: Buffer.from(JSON.stringify({ data: { id: objectId, status } })),
    }),
  );
}

/** A payment as it stands, with its only event. @returns its id */
export async function insertPayment(
  db: Db,
  key: BalanceKey,
  status: PaymentStatus,
  columns: Record<string, unknown> = {},
): Promise<string> {
  const id = newId('payment');
  await db.query(
    compose('payments').insert({
      id,
      account_id: key.accountId,
      mode: key.mode,
      reference: id,
      status,
      provider: 'onchain_provider',
      amount: '5',
      currency: key.currency,
      network: 'ethereum',
      fee_terms: {},
      checkout_url: 'https://provider.example.com/checkout/1',
      api_key_id: `key_${id}`,
      provider_checkout_id: `checkout-of-${id}`,
      expires_at: new Date(),
      ...columns,
    }),
  );
  await insertEvent(db, key, id, 'payment', status);
  return id;
}

/** A payment whose one transfer was credited. @returns its id */
export async function creditPayment(
  db: Db,
  key: BalanceKey,
  received: string,
  fee: string,
): Promise<string> {
  const id = await insertPayment(db, key, 'completed', {
    amount: received,
    received_amount: received,
    credited_amount: received,
    service_fee: fee,
  });
  const transfer = { id: `transfer-of-${id}`, amount: amount(received), fee: amount(fee) };
  await db.query(
    compose('payment_credits').insert({
      payment_id: id,
      provider_transfer_id: transfer.id,
      amount: received,
      fee,
    }),
  );
  await postAlone(db, key, creditPosting({ id, reference: id }, transfer));
  return id;
}

/** A part of the credit that went back: what was taken of the balance, and the fee given up. */
export async function refundPayment(
  db: Db,
  key: BalanceKey,
  paymentId: string,
  { taken, fee }: { taken: string; fee: string },
): Promise<void> {
  const refund = { reference: `${paymentId}-1`, taken: amount(taken), fee: amount(fee) };
  const whole = add(refund.taken, refund.fee);
  await db.query(
    compose('payment_refunds').insert({
      payment_id: paymentId,
      reference: refund.reference,
      provider_refund_id: `refund-of-${paymentId}`,
      amount: whole,
      taken,
      fee,
      state: 'done',
    }),
  );
  await db.query(
    compose('payments')
      .where({ id: paymentId })
      .update({ refunded_amount: whole, reversed_amount: whole, reversed_fee: fee }),
  );
  await postAlone(db, key, refundPosting({ id: paymentId, reference: paymentId }, refund));
}

/** One posting in a transaction of its own. */
export function postAlone(db: Db, key: BalanceKey, posting: Posting): Promise<PostResult> {
  return db.transaction((tx) => post(tx, key, posting));
}

export function fund(
  db: Db,
  key: BalanceKey,
  text: string,
  direction: 'in' | 'out' = 'in',
): Promise<PostResult> {
  const reason = 'A test needs it';
  const id = newId('adjustment');
  return postAlone(db, key, adjustmentPosting({ id, direction, amount: amount(text), reason }));
}

export async function fundedBalance(
  db: Db,
  text: string,
  place: { mode?: Mode; currency?: string; accountId?: string } = {},
): Promise<BalanceKey> {
  const key: BalanceKey = {
    accountId: place.accountId ?? (await makeAccount(db)),
    mode: place.mode ?? 'test',
    currency: place.currency ?? 'USDT',
  };
  await fund(db, key, text);
  return key;
}
